"""What was recorded is read back, whatever became of the end of the tape."""

from __future__ import annotations

from pathlib import Path

import pytest

from apftop.errors import Trouble
from apftop.live import fold
from apftop.records.raw import Sample
from apftop.records.state import State
from apftop.tape.layout import FIRST_LINE, FORMAT, HEAD, SYNC, records
from apftop.tape.reading import Tape, is_tape, open_tape
from tests.recording import SHIPPED, recordings
from tests.tape.taping import Recorder, read, record, samples


@pytest.mark.parametrize("number", range(len(recordings(SHIPPED))))
def test_samples_come_back_as_they_were(tmp_path: Path, number: int) -> None:
    seen = record(tmp_path / "tape", samples(number))

    tape = open_tape(tmp_path / "tape")

    assert read(tape) == [one.sample for one in seen]
    assert tape.span == (seen[0].sample.received, seen[-1].sample.received)
    assert not tape.problems


@pytest.mark.parametrize("number", range(len(recordings(SHIPPED))))
def test_each_segment_begins_with_the_state_of_the_one_before_it(tmp_path: Path, number: int) -> None:
    seen = record(tmp_path / "tape", samples(number))

    tape = open_tape(tmp_path / "tape")

    before = 0
    for segment in range(len(tape.segments)):
        state, carried = tape.opening(segment)
        assert state == (seen[before - 1].state if before else State())
        assert fold(carried).replicas.keys() == state.replicas.keys()
        before += sum(isinstance(one.what, Sample) for one in tape.taken(segment))
    assert len(tape.segments) > 2


def test_a_tape_that_ends_anywhere_in_its_last_two_samples_has_all_others(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    seen = [one.sample for one in record(path, samples()[:14], segment_s=1e9)]
    whole = path.read_bytes()
    ends = [record.end for record in records(whole, whole.index(SYNC))]

    for cut in range(ends[-3], len(whole)):
        path.write_bytes(whole[:cut])
        lost = sum(end > cut for end in ends)
        assert read(open_tape(path)) == seen[: len(seen) - lost]


def test_what_is_recorded_after_a_crash_is_read_with_what_was_recorded_before_it(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    first = [one.sample for one in record(path, samples()[:20], segment_s=1e9)]
    path.write_bytes(path.read_bytes()[:-5])
    second = [one.sample for one in record(path, samples()[20:40], segment_s=1e9)]

    tape = open_tape(path)

    assert read(tape) == [*first[:-1], *second]
    assert not tape.goes_on(1)


def test_damage_in_the_middle_costs_the_rest_of_its_segment(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    record(path, samples())
    body = bytearray(path.read_bytes())
    whole = Tape([bytes(body)], "whole")
    body[whole.segments[2].start - 4000] ^= 0xFF

    tape = Tape([bytes(body)], "damaged")

    assert len(tape.segments) == len(whole.segments)
    assert 0 < len(list(tape.taken(1))) < len(list(whole.taken(1)))
    assert list(tape.taken(0)) == list(whole.taken(0))
    assert list(tape.taken(2)) == list(whole.taken(2))
    assert len(tape.problems) == 1


def test_a_tape_of_a_newer_version_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    path.write_bytes(FIRST_LINE % (FORMAT + 1) + b"whatever")

    with pytest.raises(Trouble, match="newer version"):
        open_tape(path)


@pytest.mark.parametrize("body", [b"", b"hello\n", b"\x1f\x8b\x08", FIRST_LINE % FORMAT, b"apftop tape one\n"])
def test_what_is_no_tape_is_refused(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "tape"
    path.write_bytes(body)

    with pytest.raises(Trouble):
        open_tape(path)


def test_a_record_that_claims_to_be_endless_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    seen = record(path, samples()[:10], segment_s=1e9)
    path.write_bytes(path.read_bytes() + HEAD.pack(0xFFFFFFFF, 0, 4, 0.0) + b"x" * 100)

    assert read(open_tape(path)) == [one.sample for one in seen]


def test_samples_of_servers_that_were_forgotten_are_carried_no_more(tmp_path: Path) -> None:
    others = [one for one in samples(1)[60:] if one.replica != "0"]
    with Recorder(tmp_path / "tape") as recorder:
        for one in samples(1)[:60]:
            recorder.take(one, 1.0)
        recorder.forget("0")
        recorder.take(others[0], 20.0)
        recorder.take(others[1], 21.0)
        recorder.take(others[2], 40.0)

    tape = open_tape(tmp_path / "tape")

    for number in (1, 2):
        state, carried = tape.opening(number)
        assert {one.replica for one in carried} == set(state.replicas) == {"1", "2"}


@pytest.mark.parametrize("left", [None, b""])
def test_a_tape_whose_newest_part_is_missing_or_empty_is_still_one(left: bytes | None, tmp_path: Path) -> None:
    record(tmp_path / "tape.20260131T140000.000000Z", samples())
    if left is not None:
        (tmp_path / "tape").write_bytes(left)

    assert is_tape(tmp_path / "tape")
    assert read(open_tape(tmp_path / "tape"))
