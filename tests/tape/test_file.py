"""Tapes on the disk: their bounds, their parts, and what is no place for one."""

from __future__ import annotations

import fcntl
import os
import re
import stat
from pathlib import Path

import pytest

from apftop.errors import Trouble
from apftop.tape.file import Bounds, TapeFile, check_tape
from apftop.tape.parts import part_name, parts_of
from apftop.tape.reading import is_tape, open_tape
from tests.tape.taping import Recorder, read, record, samples

SMALL = Bounds(most_bytes=400_000)


def on_disk(path: Path) -> int:
    return sum(one.stat().st_size for one in path.parent.iterdir())


def test_a_tape_never_takes_more_than_its_most_bytes_and_the_oldest_goes(tmp_path: Path) -> None:
    path, written, most = tmp_path / "tape", [], 0
    with Recorder(path, bounds=SMALL) as recorder:
        for turn in range(4):
            for one in samples(1):
                recorder.take(one, (one.received or 0.0) + turn * 1000.0)
                written.append(one)
                most = max(most, on_disk(path))

    assert 0.7 * 400_000 < most <= 400_000
    tape = open_tape(path)
    found = read(tape)
    assert 40 < len(found) < len(written)
    assert found == written[-len(found) :]
    assert not tape.problems
    assert len(parts_of(path)) > 4
    assert all(tape.goes_on(number) for number in range(1, len(tape.segments)))


def test_a_moment_that_does_not_fit_ends_the_tape_with_a_line(tmp_path: Path) -> None:
    with pytest.raises(Trouble, match="--max-size"):
        record(tmp_path / "tape", samples(1), bounds=Bounds(most_bytes=20_000))
    assert on_disk(tmp_path / "tape") <= 20_000


def test_what_is_older_than_the_most_age_goes_by_the_clock_of_the_recorder(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    with Recorder(path, bounds=Bounds(most_s=800.0)) as recorder:
        some = samples()[:40]
        for turn in range(60):
            recorder.take(some[turn % 40], 1_800_000_000.0 + 50.0 * turn)
            if turn > 20:
                first = open_tape(path).span[0]
                # An eighth of it is what a part holds, and a segment is of less than that.
                assert 800.0 <= 1_800_000_000.0 + 50.0 * turn - first <= 1000.0


def test_a_recorder_that_is_started_again_keeps_the_parts_and_their_ages(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    bounds, some, written = Bounds(most_s=800.0), samples()[:40], []
    for start in range(10):
        with Recorder(path, bounds=bounds) as recorder:
            for turn in range(4):
                recorder.take(some[turn], 1_800_000_000.0 + 50.0 * (start * 4 + turn))
                written.append(some[turn])

    tape = open_tape(path)
    found = read(tape)
    assert found == written[-len(found) :]
    assert 16 <= len(found) <= 20
    assert not tape.problems
    assert len(parts_of(path)) > 4


def test_what_is_too_old_goes_when_a_recorder_is_started_after_a_long_time(tmp_path: Path) -> None:
    path, some = tmp_path / "tape", samples()[:10]
    with Recorder(path, bounds=Bounds(most_s=800.0)) as recorder:
        for turn in range(10):
            recorder.take(some[turn], 1_800_000_000.0 + 50.0 * turn)
    with Recorder(path, bounds=Bounds(most_s=800.0)) as recorder:
        recorder.take(some[0], 1_800_900_000.0)
        recorder.take(some[1], 1_800_900_200.0)

    assert read(open_tape(path)) == some[:2]


def test_parts_sort_in_the_order_in_which_they_were_written_when_the_clock_was_set_back(tmp_path: Path) -> None:
    path, some = tmp_path / "tape", samples()[:30]
    with Recorder(path, bounds=Bounds(most_bytes=1_000_000, most_s=80.0)) as recorder:
        for turn, one in enumerate(some):
            recorder.take(one, 1_800_000_000.0 + 11.0 * turn - (3600.0 if turn >= 15 else 0.0))

    assert read(open_tape(path))[-15:] == some[-15:]
    names = [part.name for part in parts_of(path)]
    assert names[:-1] == sorted(names[:-1])


def test_no_part_takes_the_name_of_another(tmp_path: Path) -> None:
    first = part_name(tmp_path / "tape", 1.8e9, [])
    assert part_name(tmp_path / "tape", 1.8e9, [first]).name > first.name
    assert part_name(tmp_path / "tape", 1.7e9, [first]).name > first.name


@pytest.mark.parametrize("name", ["a.b.tape", "with space", "[odd]*?", "-d", "tape.20260101T000000.000000Z", "ä\u202e"])
def test_names_that_people_give_work(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"{name}.20260101").write_text("a file of somebody")
    (tmp_path / f"{name}x.20260101T000000.000000Z").write_text("another one")
    written = []
    with Recorder(Path(name), bounds=SMALL) as recorder:
        for one in samples(1):
            recorder.take(one, one.received or 0.0)
            written.append(one)

    tape = open_tape(Path(name))

    assert read(tape) == written
    assert len(parts_of(Path(name))) > 1
    assert not tape.problems


def test_a_link_of_our_own_is_followed_and_parts_lie_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    link, written = tmp_path / "tape", samples(1)
    link.symlink_to(tmp_path / "disk" / "real")
    with Recorder(link, bounds=SMALL) as recorder:
        for one in written:
            recorder.take(one, one.received or 0.0)

    assert link.is_symlink()
    assert len(list((tmp_path / "disk").iterdir())) > 1
    assert read(open_tape(link)) == written


def test_a_link_that_another_user_made_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = tmp_path / "tape"
    link.symlink_to(tmp_path / "other")
    if os.geteuid() == 0:
        os.chown(link, 12345, 12345, follow_symlinks=False)
    else:
        # Who is not root cannot give it away, but can be somebody else.
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(Trouble, match="another user"):
        check_tape(link)
    with pytest.raises(Trouble, match="another user"):
        record(link, samples()[:1])
    assert not (tmp_path / "other").exists()


def test_a_tape_is_for_the_user_alone_and_not_for_programs_that_this_one_starts(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    before = os.umask(0)
    try:
        with Recorder(path) as recorder:
            recorder.take(samples()[0], 1.8e9)
            flags = [fcntl.fcntl(int(one), fcntl.F_GETFD) for one in opened_as(path)]
            assert flags == [fcntl.FD_CLOEXEC]
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def opened_as(path: Path) -> list[str]:
    """The numbers under which a file is open here."""
    found = []
    for number in range(3, 256):
        try:
            seen = os.fstat(number)
        except OSError:
            continue
        if os.path.samestat(seen, path.stat()):
            found.append(str(number))
    return found


def test_what_is_no_place_for_a_tape_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("my notes")
    os.mkfifo(tmp_path / "fifo")
    for path, said in (
        (tmp_path, "folder"),
        (tmp_path / "no" / "tape", "no such folder"),
        (tmp_path / "other", "another file"),
        (tmp_path / "fifo", "no file that a tape could be in"),
        (Path("/dev/null"), "no file that a tape could be in"),
        (tmp_path / "other" / "tape", "no such folder"),
    ):
        with pytest.raises(Trouble, match=said):
            check_tape(path)
        assert not is_tape(path)
    assert (tmp_path / "other").read_text() == "my notes"


def test_a_tape_under_the_lock_of_another_recorder_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    with Recorder(path) as recorder:
        recorder.take(samples()[0], 1.8e9)
        with pytest.raises(Trouble, match="another recorder"):
            check_tape(path)
    check_tape(path)


def test_a_tape_that_was_moved_away_is_finished_there_and_goes_on_under_its_name(tmp_path: Path) -> None:
    path, some = tmp_path / "tape", samples()[:30]
    with Recorder(path, segment_s=10.0) as recorder:
        for turn, one in enumerate(some):
            if turn == 15:
                path.rename(tmp_path / "moved")
            recorder.take(one, 1.8e9 + turn)

    assert read(open_tape(tmp_path / "moved")) + read(open_tape(path)) == some
    assert not open_tape(path).problems


def test_a_folder_that_is_removed_ends_the_tape_with_a_line(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with Recorder(folder / "tape") as recorder:
        recorder.take(samples()[0], 1.8e9)
        (folder / "tape").unlink()
        folder.rmdir()
        with pytest.raises(Trouble, match=re.escape(str(folder))):
            recorder.take(samples()[1], 1.8e9 + 11.0)


def test_a_tape_that_something_else_cuts_short_is_ended_with_a_line(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    with Recorder(path, segment_s=10.0) as recorder:
        recorder.take(samples()[0], 1.8e9)
        os.truncate(path, 0)
        with pytest.raises(Trouble, match="cut the tape short"):
            recorder.take(samples()[1], 1.8e9 + 11.0)


def test_a_tape_that_is_being_written_is_read_up_to_then(tmp_path: Path) -> None:
    path, some = tmp_path / "tape", samples(1)
    with Recorder(path, bounds=Bounds(most_bytes=2_000_000)) as recorder:
        for turn, one in enumerate(some):
            recorder.take(one, one.received or 0.0)
            if turn % 10 == 0:
                tape = open_tape(path)
                assert read(tape) == some[: turn + 1]
                assert not tape.problems


def test_a_tape_without_its_newest_part_is_read(tmp_path: Path) -> None:
    """As where a recorder was killed between two parts."""
    path, some = tmp_path / "tape", samples(1)
    with Recorder(path, bounds=SMALL) as recorder:
        for one in some:
            recorder.take(one, one.received or 0.0)
    path.unlink()
    older = read(open_tape(path))
    path.write_bytes(b"")
    assert older == some[: len(older)] == read(open_tape(path))


def test_a_recorder_is_the_only_one_also_while_it_begins_parts(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    with Recorder(path, bounds=SMALL) as recorder:
        for one in samples(1)[:80]:
            recorder.take(one, one.received or 0.0)
            with pytest.raises(Trouble, match="another recorder"):
                TapeFile(path).write(b"", 0.0, begins=False)
