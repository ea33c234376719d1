"""The page of some time of a tape: charts, what began and ended, gaps, and bounds of its size."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from click.testing import CliRunner

from apftop.cli import cli
from apftop.errors import Trouble
from apftop.records.raw import Endpoint
from apftop.records.tape import Mark, Note, Pulse
from apftop.report.html import page, page_of
from apftop.report.looks import one_look
from apftop.report.series import Lasted, Series, Span, lasting, span_of
from apftop.tape.reading import open_tape
from tests.html.dom import elements, loads_nothing
from tests.html.test_page import HOSTILE, OPTIONS
from tests.sheets.moments import failed, metrics
from tests.tape.taping import Recorder, record, samples

BEGIN = 1_700_000_000.0


def found(at: float, code: str = "level-saturated", severity: str = "warning") -> Mark:
    return Mark(at, "found", f"load is full by {code}", "kas-1", code, "load", severity)  # type: ignore[arg-type]


def gone(at: float, code: str = "level-saturated") -> Mark:
    return Mark(at, "gone", f"load is full by {code}", "kas-1", code, "load", "warning")


def a_tape(path: Path, times: Iterable[float], marks: Iterable[Mark] = (), names: tuple[str, ...] = ("kas-1",)) -> Path:
    """A tape of answers of metrics at so many seconds after its beginning; one waits more at each."""
    with Recorder(path) as recorder:
        for number, at in enumerate(times):
            for name in names:
                one = metrics(name, BEGIN + at, load=10.0 * number, refused=2.0 * number, waiting=float(number))
                recorder.take(one, BEGIN + at)
            recorder.note(Note(pulses=(Pulse(BEGIN + at, float(number), 1.0, "warning"),)), BEGIN + at)
        recorder.note(Note(tuple(marks)), BEGIN + at)
    return path


def series(path: Path, every_s: float = 5.0) -> Series:
    tape = open_tape(path)
    return next(one for one in span_of(tape, *tape.span, every_s).series if one.level == "load")


def test_a_page_of_real_servers_has_charts_and_loads_nothing(tmp_path: Path) -> None:
    record(tmp_path / "tape", samples())
    made = page_of(tmp_path / "tape", OPTIONS)

    loads_nothing(made)
    assert sum(one.tag == "svg" and one.attributes.get("role") == "img" for one in elements(made)) >= 3
    assert len(made) < 1_000_000


def test_a_number_over_time_is_that_of_the_frames(tmp_path: Path) -> None:
    one = series(a_tape(tmp_path / "tape", range(0, 61, 5)))

    assert [value for _, value in one.waiting] == [float(number) for number in range(13)]
    assert {point.seats for point in one.points} == {9.0}
    assert {(point.nominal, point.current) for point in one.points} == {(8.0, 10.0)}
    assert one.points[-1].dispatched_per_s == pytest.approx(2.0)
    assert one.points[-1].refused_per_s == pytest.approx({"queue-full": 0.4})


def test_nothing_is_known_where_nothing_was_answered(tmp_path: Path) -> None:
    one = series(a_tape(tmp_path / "tape", (*range(0, 61, 5), *range(200, 261, 5))))
    between = [point for point in one.points if BEGIN + 85 < point.at < BEGIN + 195]

    assert len(between) > 10
    assert {(point.seats, point.dispatched_per_s, point.p99) for point in between} == {(None, None, None)}
    assert all(value is None for at, value in one.waiting if BEGIN + 85 < at < BEGIN + 195)


def test_nothing_is_known_of_a_server_that_fails(tmp_path: Path) -> None:
    with Recorder(tmp_path / "tape") as recorder:
        for at in range(0, 61, 5):
            one = metrics("kas-1", BEGIN + at, waiting=3.0)
            bad = failed("kas-1", Endpoint.METRICS, BEGIN + at)
            recorder.take(one if at < 30 else bad, BEGIN + at)
    known = [point.seats for point in series(tmp_path / "tape").points]

    assert known[4] == 9.0
    assert known[7:] == [None] * len(known[7:])


def test_findings_have_their_beginning_and_their_end() -> None:
    marks = (found(5.0), gone(12.0), found(14.0, "retry-storm"), found(18.0), found(99.0, "late"))

    assert [(one.code, one.began, one.ended) for one in lasting(marks, 10.0, 20.0)] == [
        ("level-saturated", 5.0, 12.0),
        ("retry-storm", 14.0, None),
        ("level-saturated", 18.0, None),
    ]


def test_what_ended_before_is_left_out_and_what_has_no_beginning_is_unknown() -> None:
    assert lasting((found(1.0), gone(2.0)), 10.0, 20.0) == ()
    assert [one.began for one in lasting((gone(12.0),), 10.0, 20.0)] == [None]


def test_where_recording_ended_nobody_knows_how_long_a_finding_lasted() -> None:
    (one,) = lasting((found(11.0), Mark(15.0, "recording", "recording began")), 10.0, 20.0)

    assert (one.ended, one.cut) == (None, True)


def test_the_page_tells_when_findings_began_and_ended_and_what_happened(tmp_path: Path) -> None:
    marks = (Mark(BEGIN + 10, "config", "load was changed"), found(BEGIN + 20), gone(BEGIN + 40))
    made = page_of(a_tape(tmp_path / "tape", range(0, 61, 5), marks), OPTIONS)
    rows = [one.said for one in elements(made) if one.tag == "tr"]

    assert (
        "load is full by level-saturatedwarninglevel-saturated2023-11-14T22:13:40.000Z2023-11-14T22:14:00.000Z" in rows
    )
    assert "2023-11-14T22:13:30.000Zconfigload was changed" in rows
    titles = [one.said for one in elements(made) if one.tag == "title" and one.parent == "g"]
    assert "22:13:40 UTC: found: load is full by level-saturated" in titles
    assert "22:13:30 UTC: load was changed" in titles


def test_a_page_is_of_the_ten_minutes_before_its_time(tmp_path: Path) -> None:
    path = a_tape(tmp_path / "tape", range(0, 1201, 30))
    _, span = one_look(path, {**OPTIONS, "at": "+15m"})
    _, between = one_look(path, {**OPTIONS, "between": ("+1m", "+2m")})

    assert span is not None and between is not None
    assert (span.first - BEGIN, span.last - BEGIN) == (300.0, 900.0)
    assert (between.first - BEGIN, between.last - BEGIN) == (60.0, 120.0)


def test_replicas_that_differ_have_a_chart_each_and_those_alike_one(tmp_path: Path) -> None:
    def charts(made: str) -> int:
        return sum(
            one.tag == "figcaption" and one.said.startswith(("kas-1: waiting", "kas-2: waiting"))
            for one in elements(made)
        )

    alike = a_tape(tmp_path / "alike", range(0, 61, 5), names=("kas-1", "kas-2"))
    with Recorder(tmp_path / "differ") as recorder:
        for at in range(0, 61, 5):
            for name, much in (("kas-1", 1.0), ("kas-2", 3.0)):
                recorder.take(metrics(name, BEGIN + at, load=at * much, waiting=much), BEGIN + at)

    assert charts(page_of(alike, OPTIONS)) == 1
    assert "One of 2 replicas is shown" in page_of(alike, OPTIONS)
    assert charts(page_of(tmp_path / "differ", OPTIONS)) == 2


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_name_on_a_tape_is_text(name: str, tmp_path: Path) -> None:
    path = a_tape(tmp_path / "tape", range(0, 61, 5))
    look, span = one_look(path, OPTIONS)
    assert span is not None
    waiting = ((BEGIN, 1.0), (BEGIN + 5, 2.0))
    points = tuple(one for some in span.series for one in some.points)
    odd = Span(
        span.first,
        span.last,
        5.0,
        (Series(name, name, False, points, waiting), Series(name, name + "2", False, points, waiting[:1])),
        (Lasted(name, name, name, "warning", "", BEGIN + 1, BEGIN + 2),),
        (Mark(BEGIN + 1, "restart", name, name),),
        span.pulses,
    )

    loads_nothing(page(look, odd))


def test_a_finding_that_has_ended_fails_too(tmp_path: Path) -> None:
    marks = (found(BEGIN + 20, severity="critical"), gone(BEGIN + 40))
    path = a_tape(tmp_path / "tape", range(0, 61, 5), marks)
    arguments = ["report", str(path), "-o", "html", "--fail-on", "critical"]

    assert CliRunner().invoke(cli, [*arguments, "--between", "+10s", "+50s"], standalone_mode=False).return_value == 1
    assert CliRunner().invoke(cli, [*arguments, "--between", "+45s", "+50s"], standalone_mode=False).return_value == 0


def test_a_ticket_lists_when_findings_began_and_ended(tmp_path: Path) -> None:
    path = a_tape(tmp_path / "tape", range(0, 61, 5), (found(BEGIN + 20), gone(BEGIN + 40)))
    result = CliRunner().invoke(cli, ["report", str(path), "-o", "md", "--between", "+10s", "+50s"])

    assert result.stdout.count("# apftop: ") == 1
    assert (
        "- 2023-11-14T22:13:40.000Z .. 2023-11-14T22:14:00.000Z: warning: load is full by level-saturated\n"
        in result.stdout
    )


def test_a_time_that_is_not_on_the_tape_is_refused(tmp_path: Path) -> None:
    path = a_tape(tmp_path / "tape", range(0, 61, 5))

    with pytest.raises(Trouble, match="nothing was recorded"):
        one_look(path, {**OPTIONS, "at": "+20m"})
