"""View 9 and the time line: how it hurt, and what happened, over all that is recorded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apftop.present import cells
from apftop.records.moment import Moment, Replayed
from apftop.records.tape import Mark, Note, Pulse
from apftop.sheets.look import EACH, Look, View
from apftop.sheets.past import here, time_of
from apftop.sheets.sheet import Row
from apftop.sheets.timeline import timeline
from apftop.sheets.views import sheet
from tests.ui.moments import a_moment

BEGAN = 1_780_000_000.0
PULSES = tuple(
    Pulse(BEGAN + 5 * number, float(number), 0.5, "critical" if number == 7 else "warning" if number > 4 else "")
    for number in range(1, 21)
)
MARKS = (
    Mark(BEGAN, "recording", "recording began"),
    Mark(BEGAN + 41, "config", "FlowSchema x was changed: precedence 100 -> 200"),
    Mark(BEGAN + 52, "restart", "another process", "kas-2"),
)


def of(pulses: tuple[Pulse, ...] = PULSES, marks: tuple[Mark, ...] = MARKS, at: float = BEGAN + 50) -> Moment:
    return replace(a_moment(), notes=Note(marks, pulses), replayed=Replayed(at, BEGAN, BEGAN + 100, 0.0, whole=True))


def rows(moment: Moment, scope: str = EACH) -> tuple[Row, ...]:
    return sheet(moment, Look(View.HISTORY, scope=scope)).rows


def texts(row: Row) -> list[str]:
    return [cell.text for cell in row.cells]


def test_the_newest_is_first_and_what_happened_has_a_row_of_its_own() -> None:
    found = rows(of())

    times = [row.cells[0].value for row in found]
    assert times == sorted(times, key=lambda one: -float(str(one)))
    happened = [texts(row)[-1] for row in found if texts(row)[-1]]
    assert happened == [
        "restart: another process (kas-2)",
        "objects: FlowSchema x was changed: precedence 100 -> 200",
        "recorder: recording began",
    ]


def test_a_row_has_the_worst_of_its_time() -> None:
    (row,) = (one for one in rows(of()) if one.cells[0].value == BEGAN + 30)

    assert texts(row)[1:5] == ["10s", "8", "0.50", "!! critical"]


def test_enter_leads_to_where_it_hurt_most() -> None:
    moment, look = of(), Look(View.HISTORY)
    (row,) = (one for one in rows(moment) if one.cells[0].value == BEGAN + 30)

    assert time_of(moment, look, row.key) == BEGAN + 35
    (row,) = (one for one in rows(moment) if "FlowSchema x" in texts(one)[-1])
    assert time_of(moment, look, row.key) == BEGAN + 41
    assert time_of(moment, look, ("time", "0.0")) is None


def test_the_row_of_the_time_that_is_shown_is_named() -> None:
    key = here(of(), Look(View.HISTORY))

    assert key is not None
    (row,) = (one for one in rows(of()) if one.key == key)
    assert row.cells[0].text.endswith(" <")
    assert row.cells[0].value == BEGAN + 40


def test_where_nothing_was_noted_it_says_so() -> None:
    found = rows(of(pulses=(*PULSES[:5], *PULSES[15:])))

    (row,) = (one for one in found if texts(one)[-1] == "nothing was noted")
    assert (row.cells[0].value, texts(row)[1]) == (BEGAN + 25, "55s")


def test_of_one_replica_the_others_marks_are_left_out() -> None:
    found = rows(of(), "kas-1")

    assert not any("another process" in texts(row)[-1] for row in found)
    assert any("FlowSchema x" in texts(row)[-1] for row in found)


@pytest.mark.parametrize("hours", [1, 24, 24 * 30])
def test_it_stays_short_whatever_the_time(hours: int) -> None:
    step = hours * 3600 / 2000
    pulses = tuple(Pulse(BEGAN + step * number, 1.0, 0.0) for number in range(2000))

    assert 20 <= len(rows(of(pulses, ()))) <= 62


def test_unknown_is_not_none() -> None:
    (row,) = rows(of((Pulse(BEGAN, None, None),), ()))

    assert texts(row)[2:4] == ["-", "-"]


def line(moment: Moment, width: int = 80) -> list[str]:
    replayed = moment.replayed
    assert replayed is not None
    made = timeline(moment.notes, replayed.first, replayed.last, replayed.at, width)
    return ["".join(cell.text for cell in cells) for cells in made]


@pytest.mark.parametrize("width", [30, 80, 200])
def test_the_time_line_has_both_ends_and_fits(width: int) -> None:
    above, below = line(of(), width)

    assert above.startswith("20:26:40 ")
    assert above.endswith(" 20:28:20")
    assert below.startswith("w to 20  ")
    assert cells(above) == width
    assert cells(below) <= width


def test_the_time_line_shows_where_it_hurt_and_what_happened() -> None:
    above, below = line(of())

    assert below.index("C") < below.index("^") < below.index("R")
    assert below.index("#") < below.index("C")
    assert "█" in above
    assert below.count("!") > 20


def test_a_pulse_is_of_the_time_before_it_unless_that_is_far() -> None:
    above, _ = line(of(pulses=(*PULSES[:5], *PULSES[15:])))

    inner = above[9:-9]
    assert inner[len(inner) // 2] == " "
    assert inner[len(inner) // 8] != " "


def test_without_notes_or_room_there_is_no_time_line() -> None:
    assert line(of((), ())) == []
    assert line(of(), 20) == []
