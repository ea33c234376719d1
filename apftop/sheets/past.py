"""View 9: what is recorded, by time: how much it hurt, and what happened; enter goes there."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from apftop import present
from apftop.present import utc
from apftop.records.findings import SEVERITIES, Severity, worst
from apftop.records.moment import Moment
from apftop.records.tape import Mark, Pulse, most, usual_s
from apftop.sheets.figures import BLANK, count, rejections, words
from apftop.sheets.finding_text import MARKS, SIGNS
from apftop.sheets.look import EACH, SUM, Look
from apftop.sheets.scope import nobody
from apftop.sheets.sheet import Cell, Column, Row, RowKey
from apftop.sheets.table import Shown, Table, cells_of, columns_of
from apftop.sheets.timeline import FAR

WIDTHS_S = (5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400)
MOST_SLOTS = 60
OF_NOTES = "what was noted each few seconds, over all servers"
HAPPENED = {
    "found": "found",
    "gone": "gone",
    "config": "objects",
    "restart": "restart",
    "version": "version",
    "gap": "silent",
    "back": "back",
    "joined": "asked",
    "left": "left",
    "clock": "clock",
    "recording": "recorder",
}


@dataclass(frozen=True, slots=True)
class Line:
    """Some seconds from a time on (Unix seconds) with their pulses, something that happened then, or neither: a gap."""

    at: float
    seconds: float = 0.0
    pulses: tuple[Pulse, ...] = ()
    mark: Mark | None = None
    here: bool = False

    @property
    def severity(self) -> Severity | None:
        """The worst that was found; None for nothing."""
        return worst([self.mark.severity] if self.mark is not None else (one.severity for one in self.pulses))


def table(moment: Moment, look: Look) -> Table:
    """All of it, the newest first."""
    found = list(lines(moment, look))
    return Table(
        title="history, what was recorded",
        columns=columns_of(SHOWN, totals=False),
        rows=tuple(
            Row(key_of(one), cells_of(SHOWN, one), "own" if one.here else "" if one.severity else "dim")
            for one in found
        ),
        idle=frozenset(key_of(one) for one in found if one.mark is None and not _hurts(one)),
        empty=nobody(moment, look) or "nothing was noted yet",
    )


def lines(moment: Moment, look: Look) -> Iterator[Line]:
    """The rows: equal parts of the time, as many as can be read, and what happened between them."""
    pulses = moment.notes.pulses
    marks = [one for one in moment.notes.marks if look.scope in (EACH, SUM) or one.replica in ("", look.scope)]
    times = [*(one.at for one in pulses), *(one.at for one in marks)]
    if not times:
        return
    usual = usual_s(one.at for one in pulses) or 0.0
    width = slot_s(max(times) - min(times), usual)
    here = _part(moment.replayed.at if moment.replayed is not None else moment.now, width)
    slots: dict[int, list[Pulse]] = defaultdict(list)
    for pulse in pulses:
        slots[_part(pulse.at, width)].append(pulse)
    found = [Line(float(at * width), width, tuple(some), here=at == here) for at, some in slots.items()]
    found += [Line(one.at, other.at - one.at) for one, other in pairwise(pulses) if other.at - one.at > FAR * usual]
    found += [Line(one.at, mark=one) for one in marks]
    # Newest first: what happened within a part stands above it.
    yield from sorted(found, key=lambda one: (one.at, one.mark is not None), reverse=True)


def _part(at: float, width: float) -> int:
    """Which part of time some seconds up to a time belong to."""
    return math.ceil(at / width) - 1


def slot_s(span_s: float, usual_s: float) -> float:
    """How long a part of a span is, with pulses that are usually so far apart; all in seconds."""
    return next((one for one in WIDTHS_S if span_s / one <= MOST_SLOTS and one >= 1.5 * usual_s), WIDTHS_S[-1])


def key_of(line: Line) -> RowKey:
    """The key of its row."""
    if line.mark is not None:
        return "mark", repr(line.at), line.mark.kind, line.mark.replica, line.mark.text
    return "time" if line.pulses else "gap", repr(line.at)


def here(moment: Moment, look: Look) -> RowKey | None:
    """The row of the time that is shown."""
    return next((key_of(one) for one in lines(moment, look) if one.here), None)


def time_of(moment: Moment, look: Look, key: RowKey) -> float | None:
    """The time that a row leads to (Unix seconds): of some seconds, when it hurt most in them."""
    line = next((one for one in lines(moment, look) if key_of(one) == key), None)
    if line is None:
        return None
    return max(line.pulses, key=_pain).at if line.pulses else line.at


def _pain(pulse: Pulse) -> tuple[int, float, float]:
    severity = worst([pulse.severity])
    rank = 0 if severity is None else len(SEVERITIES) - SEVERITIES.index(severity)
    return rank, pulse.waiting or 0.0, pulse.refused_per_s or 0.0


def _hurts(line: Line) -> bool:
    return bool(line.severity) or any(one.waiting or one.refused_per_s for one in line.pulses)


def _time(line: Line) -> Cell:
    text = utc(line.at).removesuffix("Z").replace("T", " ")
    return Cell(text[:19] + (" <" if line.here else ""), line.at)


def _for(line: Line) -> Cell:
    return BLANK if line.mark is not None else Cell(present.span(line.seconds), line.seconds)


def _waiting(line: Line) -> Cell:
    return count(most(one.waiting for one in line.pulses)) if line.pulses else BLANK


def _refused(line: Line) -> Cell:
    return rejections(most(one.refused_per_s for one in line.pulses), counts=False) if line.pulses else BLANK


def _severity(line: Line) -> Cell:
    severity = line.severity
    if severity is None:
        return BLANK
    return Cell(f"{SIGNS[severity]} {severity}", severity, MARKS[severity])


def _what(line: Line) -> Cell:
    if line.mark is None:
        return BLANK if line.pulses else words("nothing was noted")
    named = not line.mark.replica or line.mark.replica in line.mark.text
    where = "" if named else f" ({line.mark.replica})"
    return words(f"{HAPPENED.get(line.mark.kind, line.mark.kind)}: {line.mark.text}{where}")


SHOWN: tuple[Shown[Line], ...] = (
    Shown(
        Column("time", "TIME (UTC)", 19, "from when on; < is where the screen is. Enter goes there", OF_NOTES, "text"),
        _time,
    ),
    Shown(Column("for", "FOR", 4, "for how long", OF_NOTES, "seconds", rank=3), _for),
    Shown(Column("waiting", "WAITING", 7, "the most requests seen in the queues at once", OF_NOTES), _waiting),
    Shown(
        Column("refused", "REJ/S", 6, "the most requests that were refused or left their queue, a second", OF_NOTES),
        _refused,
    ),
    Shown(Column("worst", "WORST", 11, "the worst finding of that time", OF_NOTES, "text", rank=1), _severity),
    Shown(
        Column(
            "what",
            "WHAT HAPPENED",
            24,
            "findings that began and have gone, objects that changed, servers that restarted, fell silent or came",
            "the samples, as they were recorded",
            "text",
            most=160,
        ),
        _what,
    ),
)
