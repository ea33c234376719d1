"""The time line of what is recorded: where it hurt, what happened when, and where on it the screen is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from apftop.present import cells, whole
from apftop.records.findings import Severity, worst
from apftop.records.tape import Mark, MarkKind, Note, Pulse, most, usual_s
from apftop.sheets.sheet import Cell
from apftop.sheets.sheet import Mark as Paint
from apftop.sheets.spark import spark

Line = tuple[Cell, ...]

HERE = "^"
LETTERS: Mapping[MarkKind, str] = {
    "config": "C",
    "restart": "R",
    "version": "V",
    "gap": "G",
    "clock": "K",
    "recording": "|",
    "joined": "+",
    "left": "-",
}
"""Of what happened; of two things in one place the first of these is shown. Findings have the lane of severities."""

HURTS: Mapping[Severity, str] = {"critical": "#", "warning": "!", "info": "."}
PAINTS: Mapping[Severity, Paint] = {"critical": "bad", "warning": "warn", "info": "dim"}
FAR = 3
"""Pulses that are so many times farther apart than usual have a gap between them."""

LEAST = 8
"""Narrower than so many cells there is none."""


def timeline(notes: Note, first: float, last: float, at: float, width: int) -> tuple[Line, ...]:
    """Two lines over a span (Unix seconds): how much waited at most, and below it the worst finding and what happened.

    `^` is where the screen is. Nothing where nobody noted, or there is no room.
    """
    begin, end = clock(first, last - first), clock(last, last - first)
    top = most(one.waiting for one in notes.pulses)
    label = "" if top is None else f"w to {whole(top)}"
    left = max(cells(begin), cells(label))
    room = width - left - cells(end) - 2
    if last <= first or room < LEAST or not (notes.pulses or notes.marks):
        return ()
    slots = _slots([one for one in notes.pulses if first <= one.at <= last], first, last, room)
    bars = "".join(_bar(slot, top) for slot in slots)
    paints = [_paint(slot) for slot in slots]
    above = (Cell(begin.ljust(left) + " "), *_runs(bars, paints), Cell(" " + end))
    return above, (Cell(label.ljust(left) + " "), *_events(slots, notes.marks, first, last, at))


def clock(at: float, span_s: float) -> str:
    """A time in UTC, with its day where the span is longer than one."""
    return datetime.fromtimestamp(at, UTC).strftime("%m-%d %H:%M" if span_s >= 86400 else "%H:%M:%S")


def _slots(pulses: Sequence[Pulse], first: float, last: float, room: int) -> list[list[Pulse]]:
    """The pulses of so many equal parts; each is of all the time since the one before, unless that is far."""
    far_s = FAR * (usual_s(one.at for one in pulses) or 0.0)
    slots: list[list[Pulse]] = [[] for _ in range(room)]
    before: Pulse | None = None
    for pulse in pulses:
        place = _slot(pulse.at, first, last, room)
        near = before is not None and 0 <= pulse.at - before.at <= far_s
        begin = _slot(before.at, first, last, room) + 1 if near and before is not None else place
        for slot in slots[min(begin, place) : place + 1]:
            slot.append(pulse)
        before = pulse
    return slots


def _slot(at: float, first: float, last: float, room: int) -> int:
    return min(room - 1, max(0, int((at - first) / (last - first) * room)))


def _bar(slot: list[Pulse], top: float | None) -> str:
    return spark([most(one.waiting for one in slot)], top) if slot else " "


def _worst(slot: list[Pulse]) -> Severity | None:
    return worst(one.severity for one in slot)


def _paint(slot: list[Pulse]) -> Paint:
    severity = _worst(slot)
    return "" if severity is None else PAINTS[severity]


def _events(slots: list[list[Pulse]], marks: Iterable[Mark], first: float, last: float, at: float) -> Iterable[Cell]:
    signs = [" " if (severity := _worst(slot)) is None else HURTS[severity] for slot in slots]
    paints = [_paint(slot) for slot in slots]
    order = list(LETTERS)
    for mark in sorted(
        (one for one in marks if one.kind in LETTERS), key=lambda one: order.index(one.kind), reverse=True
    ):
        if first <= mark.at <= last:
            place = _slot(mark.at, first, last, len(slots))
            signs[place], paints[place] = LETTERS[mark.kind], "own"
    here = _slot(at, first, last, len(slots))
    signs[here], paints[here] = HERE, "good"
    return _runs("".join(signs), paints)


def _runs(text: str, paints: list[Paint]) -> Iterable[Cell]:
    """Cells of one mark each."""
    begin = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or paints[place] != paints[begin]:
            yield Cell(text[begin:place], mark=paints[begin])
            begin = place
