"""What became of a tape costs what was there, is told in one line, and hides nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from apftop.errors import Trouble
from apftop.live import fold
from apftop.records.raw import Sample
from apftop.tape.file import TapeFile
from apftop.tape.layout import FIRST_LINE, FORMAT, SYNC, Kind, packed, records
from apftop.tape.reading import Tape, open_tape
from apftop.tape.zstd import ZstdCompressor, ZstdDecompressor, compressor
from tests.tape.taping import read, record, samples

FIRST = FIRST_LINE % FORMAT


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[Sample]]:
    """A tape of three segments, and its samples."""
    path = tmp_path_factory.mktemp("whole") / "tape"
    seen = [one.sample for one in record(path, samples()[:20], segment_s=1e9)]
    seen += [one.sample for one in record(path, samples()[20:40], segment_s=1e9)]
    seen += [one.sample for one in record(path, samples()[40:50], segment_s=1e9)]
    return path.read_bytes(), seen


def ends(body: bytes, segment: int) -> list[int]:
    """Where the samples of a segment end."""
    found = [one for one in records(body, Tape([body], "tape").segments[segment].start) if one.kind == Kind.SAMPLE]
    return [one.end for one in found]


def last_two(body: bytes, segment: int) -> range:
    found = ends(body, segment)
    return range(found[-3], found[-1])


def test_a_byte_that_is_another_one_costs_its_sample_and_is_told(whole: tuple[bytes, list[Sample]]) -> None:
    body, seen = whole
    middle = ends(body, 2)[-2]
    for at in last_two(body, 2):
        tape = Tape([body[:at] + bytes([body[at] ^ 0x10]) + body[at + 1 :]], "tape")
        assert read(tape) == seen[: -1 if at >= middle else -2]
        assert len(tape.problems) == 1


def test_what_follows_a_damaged_sample_in_other_segments_is_read(whole: tuple[bytes, list[Sample]]) -> None:
    body, seen = whole
    middle = ends(body, 1)[-2]
    for at in last_two(body, 1)[::17]:
        tape = Tape([body[:at] + bytes([body[at] ^ 0x10]) + body[at + 1 :]], "tape")
        lost = 1 if at >= middle else 2
        assert read(tape) == seen[: 40 - lost] + seen[40:]
        assert len(tape.problems) == 1
        assert not tape.goes_on(2)


def test_what_is_cut_off_is_told_in_one_line(whole: tuple[bytes, list[Sample]]) -> None:
    body, seen = whole
    found = ends(body, 2)
    for cut in last_two(body, 2):
        tape = Tape([body[:cut]], "tape")
        assert read(tape) == seen[: 40 + sum(end <= cut for end in found)]
        assert len(tape.problems) == (cut not in found)


@pytest.mark.parametrize("garbage", [b"\0" * 5000, b"garbage" * 100, SYNC, SYNC * 3, SYNC[:-1], FIRST])
def test_what_is_no_segment_is_passed_over_and_told(whole: tuple[bytes, list[Sample]], garbage: bytes) -> None:
    body, seen = whole
    start = Tape([body], "tape").segments[1].start

    tape = Tape([body[:start] + garbage + body[start:]], "tape")

    assert read(tape) == seen
    assert len(tape.problems) == 1


def test_an_opening_that_cannot_be_read_costs_its_segment_and_is_told(tmp_path: Path) -> None:
    seen = [one.sample for one in record(tmp_path / "tape", samples())]
    body = bytearray((tmp_path / "tape").read_bytes())
    sound = Tape([bytes(body)], "sound")
    assert len(sound.segments) > 2
    body[sound.segments[1].start + 40] ^= 1

    tape = Tape([bytes(body)], "tape")

    lost = [one.what for one in sound.taken(1)]
    assert read(tape) == [one for one in seen if one not in lost]
    assert len(tape.problems) == 1
    assert tape.segments[0].ended == sound.segments[0].ended
    assert not tape.goes_on(1)
    assert sound.goes_on(1)


def test_a_torn_tape_that_is_continued_has_all_but_the_torn_record(whole: tuple[bytes, list[Sample]]) -> None:
    body, seen = whole
    start = Tape([body], "tape").segments[2].start
    for cut in last_two(body, 1)[::11]:
        tape = Tape([body[:cut] + body[start:]], "tape")
        kept = 20 + sum(end <= cut for end in ends(body, 1))
        assert read(tape) == seen[:kept] + seen[40:]


@pytest.mark.parametrize("size", range(len(FIRST) + 1))
def test_a_recorder_begins_anew_where_not_even_the_first_line_was_written(tmp_path: Path, size: int) -> None:
    path = tmp_path / "tape"
    path.write_bytes(FIRST[:size])
    with pytest.raises(Trouble):
        open_tape(path)

    seen = [one.sample for one in record(path, samples()[:5])]

    assert read(open_tape(path)) == seen
    assert path.read_bytes().startswith(FIRST)


def test_a_part_that_cannot_be_read_is_told_and_the_others_are(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    seen = [one.sample for one in record(path, samples()[:20])]
    (tmp_path / "tape.20260101T000000.000000Z").write_bytes(b"something else")

    tape = open_tape(path)

    assert read(tape) == seen
    assert len(tape.problems) == 1


def test_counts_of_another_version_are_begun_anew_and_told(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    record(path, samples()[:20], segment_s=1e9)
    body = path.read_bytes()
    tape = Tape([remade(body)], "tape")

    state, carried = tape.opening(0)

    assert state == fold(carried)
    assert len(tape.problems) == 1


def remade(body: bytes) -> bytes:
    """The same tape with bookkeeping that is none."""
    return b"".join(_remade(body))


def _remade(body: bytes) -> Iterator[bytes]:
    out, into = compressor(), ZstdDecompressor()
    yield FIRST + SYNC
    for one in records(body, body.index(SYNC)):
        payload = one.payload
        if one.kind != Kind.OPEN:
            raw = into.decompress(payload)
            raw = b"\x81\xa1x\x01" if one.kind == Kind.BOOKS else raw
            payload = out.compress(raw, mode=ZstdCompressor.FLUSH_BLOCK)
        yield packed(one.kind, one.time, payload)


def test_a_recorder_does_not_take_over_the_tape_of_another(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    file = TapeFile(path)
    file.write(b"x", 0.0, begins=False)

    with pytest.raises(Trouble, match="another recorder"):
        TapeFile(path).write(b"x", 0.0, begins=False)

    file.close()
