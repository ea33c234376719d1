"""A tape that an earlier version made says exactly what it said then; what a later one adds does no harm."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from apftop.errors import Trouble
from apftop.records.raw import Endpoint, Sample
from apftop.records.tape import Mark, Note, Pulse
from apftop.tape.file import check_tape
from apftop.tape.layout import FIRST_LINE, FORMAT, SYNC, Kind, packed
from apftop.tape.packing import Open, pack_note, pack_sample, unpack_note
from apftop.tape.reading import Tape, open_tape
from apftop.tape.zstd import ZstdCompressor, compressor
from tests.tape.golden import BEGAN, CHANGED, GONE, RESTARTED, SECOND_RECORDER, STEP_S, STEPS
from tests.tape.taping import Recorder, read

GOLDEN = Path(__file__).with_name("format-1.apftape")
BODIES = "ddac356e05872f3853753999372dd9317b4b65692ccd2c0dd36256081fa16ba1"


def test_the_golden_tape_says_what_it_said() -> None:
    tape = open_tape(GOLDEN)

    assert tape.about == tape.segments[0].open.about
    assert (tape.about.source, tape.about.tool) == ("a test", "0")
    assert tape.span == (BEGAN, BEGAN + STEP_S * (STEPS - 1))
    assert [one.began - BEGAN for one in tape.segments] == [0.0, 25.0, 50.0, 60.0]
    assert [tape.goes_on(number) for number in range(4)] == [False, True, True, False]
    found = read(tape)
    # Two replicas with four answers a step, objects twice from each, and one that failed to answer twice.
    assert len(found) == 4 * 2 * STEPS + 2 * 2 * 2 - 2 * 3
    assert sha256(b"\0".join(one.body for one in found)).hexdigest() == BODIES
    assert {one.replica for one in found} == {"0", "1"}
    assert {one.headers for one in found if one.ok} == {(("content-type", "text/plain"),)}
    (first, *_) = found
    assert first == Sample(
        "0",
        Endpoint.LEVELS,
        first.body,
        200,
        content_type="text/plain",
        sent=BEGAN,
        received=BEGAN + 0.1,
        begun=BEGAN + 0.05,
        server_date=BEGAN,
        headers=(("content-type", "text/plain"),),
        wire_bytes=len(first.body) // 5,
    )
    failed = [one for one in found if one.error]
    assert [(one.replica, one.error, one.sent) for one in failed] == [
        ("1", "connection refused", BEGAN + STEP_S * step) for step in range(*GONE)
    ]
    assert not tape.problems


def test_the_golden_tape_tells_what_happened() -> None:
    notes = open_tape(GOLDEN).notes()

    assert [(one.kind, one.at - BEGAN, one.replica) for one in notes.marks] == [
        ("recording", 0.0, ""),
        ("config", CHANGED * STEP_S, ""),
        ("gap", GONE[0] * STEP_S, "1"),
        ("back", GONE[1] * STEP_S, "1"),
        ("restart", RESTARTED * STEP_S, "1"),
        ("found", 10 * STEP_S, ""),
        ("recording", SECOND_RECORDER * STEP_S, ""),
    ]
    assert notes.marks[5] == Mark(BEGAN + 50, "found", "load is full", "", "level-full", "load", "warning")
    assert notes.pulses == tuple(Pulse(BEGAN + STEP_S * step, float(step), None, "warning") for step in range(STEPS))


def test_the_golden_tape_begins_anywhere_with_what_was_known() -> None:
    tape = open_tape(GOLDEN)

    assert tape.opening(0)[0].replicas == {}
    middle, late = tape.opening(1)[0].replicas, tape.opening(2)[0].replicas
    assert middle.keys() == late.keys() == {"0", "1"}
    for one, precedence in ((middle, 500), (late, 500 + CHANGED)):
        schemas, configs = one["0"].schemas, one["0"].configs
        assert schemas is not None
        assert configs is not None
        assert [(schema.name, schema.precedence) for schema in schemas.data] == [("load", precedence)]
        assert [level.name for level in configs.data] == ["load"]
    assert late["1"].failures == {Endpoint.METRICS: "connection refused"}
    assert late["0"].bytes_received == sum(
        one.what.wire_bytes or 0
        for number in (0, 1)
        for one in tape.taken(number)
        if isinstance(one.what, Sample) and one.what.replica == "0"
    )
    assert tape.opening(3)[0].replicas == {}


def test_a_tape_of_a_newer_format_is_refused_with_one_line(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    path.write_bytes(GOLDEN.read_bytes().replace(FIRST_LINE % FORMAT, FIRST_LINE % (FORMAT + 1), 1))

    with pytest.raises(Trouble) as refused:
        open_tape(path)
    assert str(refused.value) == f"this tape was made by a newer version: {path}; update apftop to read it"
    with pytest.raises(Trouble, match="no tape of this version"):
        check_tape(path)


def later(*records: tuple[int, bytes], opening: bytes = b"") -> bytes:
    """A tape of one segment, as a later version makes it."""
    stream, made = compressor(), FIRST_LINE % FORMAT + SYNC
    made += packed(Kind.OPEN, 1.0, opening or msgspec.msgpack.encode(Open(FORMAT, "later", "9")))
    for kind, raw in records:
        made += packed(kind, 1.0, stream.compress(raw, mode=ZstdCompressor.FLUSH_BLOCK))
    return made


def test_kinds_of_record_that_a_later_version_added_are_passed_over() -> None:
    some = [Sample("0", Endpoint.METRICS, b"body" * 100, 200), Sample("0", Endpoint.METRICS, b"body" * 101, 200)]
    body = later((4, pack_sample(some[0])), (77, b"what was not there before" * 9), (4, pack_sample(some[1])))
    tape = Tape([body], "tape")

    assert read(tape) == some
    assert not tape.problems
    assert tape.cut(0.0, 2.0) == body


def test_fields_that_a_later_version_added_are_left_out() -> None:
    sample = Sample("0", Endpoint.METRICS, b"body", 200)
    head = msgspec.msgpack.encode({"replica": "0", "endpoint": "metrics", "status": 200, "mood": {"good": [1]}})
    note = msgspec.msgpack.encode({"marks": [{"at": 1.0, "kind": "gap", "text": "x", "colour": "red"}], "more": [1]})
    opening = msgspec.msgpack.encode({"format": FORMAT, "source": "later", "tool": "9", "mood": 1})
    tape = Tape([later((4, len(head).to_bytes(4, "little") + head + b"body"), (5, note), opening=opening)], "tape")

    assert [one.what for one in tape.taken(0)] == [sample, Note((Mark(1.0, "gap", "x"),))]
    assert tape.about.tool == "9"
    assert not tape.problems


def test_values_that_only_a_later_version_knows_cost_what_has_them_and_nothing_else() -> None:
    known = Sample("0", Endpoint.METRICS, b"body", 200)
    head = msgspec.msgpack.encode({"replica": "0", "endpoint": "dump_of_2030", "status": 200})
    marks = [{"at": 1.0, "kind": "eclipse", "text": "x"}, {"at": 2.0, "kind": "gap", "text": "y"}]
    note = msgspec.msgpack.encode({"marks": marks, "memory": {"of": "another shape", "trends": 5}})
    opening = msgspec.msgpack.encode({"format": FORMAT, "source": "later", "tool": "9", "marks": marks})
    sample = len(head).to_bytes(4, "little") + head + b"dump"
    tape = Tape([later((4, sample), (4, pack_sample(known)), (5, note), opening=opening)], "tape")

    assert [one.what for one in tape.taken(0)] == [known, Note((Mark(2.0, "gap", "y"),))]
    assert tape.segments[0].open.marks == (Mark(2.0, "gap", "y"),)
    assert len(tape.problems) == 1
    assert "later version" in tape.problems[0]


def test_notes_come_back_as_they_were() -> None:
    note = Note(
        (Mark(1.0, "config", "x", "0", "code", "subject", "critical"),), (Pulse(2.0, None, 3.0, "info"),), ("1",)
    )
    assert unpack_note(pack_note(note)) == note


def test_a_body_that_looks_like_segments_is_a_body(tmp_path: Path) -> None:
    forged = GOLDEN.read_bytes()
    samples = [Sample("0", Endpoint.REQUESTS, body, 200) for body in (forged, SYNC * 9, SYNC[8:] + SYNC + SYNC[:8])]
    with Recorder(tmp_path / "tape") as recorder:
        for one in samples:
            recorder.take(one, 1.0)

    tape = open_tape(tmp_path / "tape")

    assert len(tape.segments) == 1
    assert read(tape) == samples
    assert not tape.problems


def test_a_record_that_unpacks_to_more_than_any_recorder_writes_is_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apftop.tape.reading.MOST_BYTES", 1 << 20)
    known = Sample("0", Endpoint.METRICS, b"body", 200)
    tape = Tape([later((4, pack_sample(known)), (4, b"\0" * (2 << 20)))], "tape")

    assert read(tape) == [known]
    assert len(tape.problems) == 1
