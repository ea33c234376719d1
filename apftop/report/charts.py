"""Small charts as SVG, made from numbers: seen without a script, read without colour, and told on hover."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from apftop.present import utc
from apftop.records.tape import usual_s
from apftop.report.html_parts import Markup, element
from apftop.report.series import Seen

WIDTH, HEIGHT = 340, 132
LEFT, RIGHT, TOP, BOTTOM = 44, 8, 14, 20
COLUMN = 2
"""A column of so many units holds all its points: the least and the greatest of them are drawn."""

SLOTS = 48
"""So many places of a chart tell their numbers on hover."""

STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400)
MOST_TICKS = 4
NEAR = 9
MOST_TOLD = 3
"""Signs that are nearer to each other than so many units are one, which tells of so many of them."""

GAP_TIMES = 3.0
"""Points further apart than so many times the usual are not joined: nothing is known between them."""

BoundsSeen = tuple[float, float | None, float | None]
"""When (Unix seconds), and between what; the upper bound is infinite where there is none, both None if unknown."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line: what it is, its look (`a` to `f`, each with a colour and a dash of its own), and its points."""

    label: str
    look: str
    points: Sequence[Seen]


@dataclass(frozen=True, slots=True)
class Band:
    """Bounds over time, drawn as an area."""

    label: str
    look: str
    points: Sequence[BoundsSeen]


@dataclass(frozen=True, slots=True)
class Sign:
    """Something that happened: a letter over an upright line."""

    at: float
    letter: str
    text: str


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart of the time from `first` to `last` (Unix seconds); `told` makes its numbers text, with their unit.

    `top` is the least upper end of its axis, in the unit of the numbers.
    """

    title: str
    first: float
    last: float
    told: Callable[[float], str]
    lines: Sequence[Line] = ()
    bands: Sequence[Band] = ()
    signs: Sequence[Sign] = field(default=())
    top: float = 0.0


def greatest(chart: Chart) -> float:
    """The greatest finite number that is drawn, 0 where none is."""
    return max(_numbers(chart), default=0.0)


def drawn(chart: Chart, title_id: str) -> Markup:
    """The chart; `title_id` is the id of the element that says in words what it shows."""
    top = _round_up(max(greatest(chart), chart.top))
    inner = [
        *_grid(chart, top),
        *(_area(chart, band, top) for band in chart.bands),
        *(_path(chart, line, top) for line in chart.lines),
        hover(chart, _slots(chart)),
        *signs(chart),
    ]
    return element("svg", *inner, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", aria_labelledby=title_id)


def across(chart: Chart, at: float) -> float:
    """Where a time is, from left to right."""
    whole = chart.last - chart.first or 1.0
    return LEFT + (WIDTH - LEFT - RIGHT) * min(1.0, max(0.0, (at - chart.first) / whole))


def clock(at: float, *, seconds: bool = True) -> str:
    """The time of day, UTC."""
    return utc(at)[11 : 19 if seconds else 16]


def ticks(first: float, last: float) -> Iterator[tuple[float, str]]:
    """Round times of a span with their texts."""
    step = next((one for one in STEPS_S if (last - first) / one <= MOST_TICKS), 86400)
    while (last - first) / step > MOST_TICKS:
        step *= 2
    at = math.ceil(first / step) * step
    while at <= last:
        yield at, utc(at)[5:10] if step >= 86400 else clock(at, seconds=step < 60)
        at += step


def signs(chart: Chart) -> Iterator[Markup]:
    """What happened, over upright lines; what cannot be told apart there is one sign."""
    groups: list[list[Sign]] = []
    for one in sorted(chart.signs, key=lambda sign: sign.at):
        if groups and across(chart, one.at) - across(chart, groups[-1][0].at) < NEAR:
            groups[-1].append(one)
        else:
            groups.append([one])
    for some in groups:
        x = _text(across(chart, some[0].at))
        told = [f"{clock(one.at)} UTC: {one.text}" for one in some[:MOST_TOLD]]
        more = [f"and {len(some) - MOST_TOLD} more"] if len(some) > MOST_TOLD else []
        yield element(
            "g",
            element("title", "; ".join((*told, *more))),
            element("line", x1=x, x2=x, y1=TOP, y2=HEIGHT - BOTTOM),
            element("text", "".join(dict.fromkeys(one.letter for one in some)), x=x, y=TOP - 4),
            class_="sign",
        )


def hover(chart: Chart, told: Iterable[tuple[float, float, str]]) -> Markup:
    """Places that tell what is there: from, to (Unix seconds), and in words."""
    rects = []
    for start, end, said in told:
        left, right = across(chart, start), across(chart, end)
        title = element("title", f"{clock(start)} to {clock(end)} UTC: {said}")
        rects.append(element("rect", title, x=_text(left), width=_text(right - left), height=HEIGHT - TOP - BOTTOM))
    return element("g", *rects, transform=f"translate(0 {TOP})", class_="h")


def _numbers(chart: Chart) -> Iterator[float]:
    for line in chart.lines:
        yield from (value for _, value in line.points if value is not None)
    for band in chart.bands:
        for _, low, high in band.points:
            yield from (value for value in (low, high) if value is not None and math.isfinite(value))


def _round_up(value: float) -> float:
    """The next of 1, 2 or 5 times a power of ten."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next((part * power for part in (1.0, 2.0, 5.0) if value <= part * power * (1 + 1e-9)), 10.0 * power)


def _height(value: float, top: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(1.0, value / top)


def _text(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _grid(chart: Chart, top: float) -> Iterator[Markup]:
    for value in (0.0, top / 2, top):
        y = _text(_height(value, top))
        yield element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="grid")
        yield element("text", chart.told(value), x=LEFT - 4, y=_text(_height(value, top) + 3), class_="y")
    yield from time_axis(chart, HEIGHT - BOTTOM)


def time_axis(chart: Chart, y: float) -> Iterator[Markup]:
    """Round times at the lower edge."""
    for at, said in ticks(chart.first, chart.last):
        x = across(chart, at)
        yield element("line", x1=_text(x), x2=_text(x), y1=_text(y), y2=_text(y + 3), class_="grid")
        yield element("text", said, x=_text(x), y=_text(y + 13), class_="x")


def _runs(points: Sequence[tuple[float, ...] | Seen | BoundsSeen]) -> Iterator[list[tuple[float, ...]]]:
    """Points that hang together: what is unknown, and a time without any, parts them."""
    usual = usual_s(point[0] for point in points) or 0.0
    run: list[tuple[float, ...]] = []
    for point in points:
        known = all(value is not None for value in point)
        if run and (not known or point[0] - run[-1][0] > max(GAP_TIMES * usual, 1.0)):
            yield run
            run = []
        if known:
            run.append(point)  # type: ignore[arg-type]
    if run:
        yield run


def _columns(chart: Chart, run: Iterable[tuple[float, ...]]) -> list[tuple[float, float, float]]:
    """The least and the greatest number of each column, from left to right."""
    found: dict[int, tuple[float, float]] = {}
    for at, *values in run:
        column = int(across(chart, at) / COLUMN)
        low, high = found.get(column, (math.inf, -math.inf))
        found[column] = min(low, *values), max(high, *values)
    return [(column * COLUMN + COLUMN / 2, low, high) for column, (low, high) in found.items()]


def _path(chart: Chart, line: Line, top: float) -> Markup:
    steps: list[str] = []
    for run in _runs(line.points):
        columns = _columns(chart, run)
        for at, (x, low, high) in enumerate(columns):
            steps.append(f"{'L' if at else 'M'}{_text(x)} {_text(_height(high, top))}")
            if low < high:
                steps.append(f"V{_text(_height(low, top))}")
        if len(columns) == 1:
            steps.append("h2")
    return element("path", d="".join(steps), class_=f"line {line.look}") if steps else Markup()


def _area(chart: Chart, band: Band, top: float) -> Markup:
    """The area between the bounds; one without an upper bound goes to the upper edge."""
    steps: list[str] = []
    for run in _runs(band.points):
        columns = [(x, low, min(high, top)) for x, low, high in _columns(chart, run)]
        if len(columns) == 1:
            columns.append((columns[0][0] + COLUMN, *columns[0][1:]))
        upper = [f"{_text(x)} {_text(_height(high, top))}" for x, _, high in columns]
        lower = [f"{_text(x)} {_text(_height(low, top))}" for x, low, _ in reversed(columns)]
        steps.append(f"M{'L'.join((*upper, *lower))}Z")
    return element("path", d="".join(steps), class_=f"band {band.look}") if steps else Markup()


def _slots(chart: Chart) -> Iterator[tuple[float, float, str]]:
    """Equal parts of the time; those that say the same are one."""
    width = (chart.last - chart.first) / SLOTS
    began, before = chart.first, ""
    for number in range(SLOTS if width else 0):
        start = chart.first + number * width
        # Its end belongs to the last one.
        end = start + width if number + 1 < SLOTS else math.inf
        said = [f"{line.label} {_range(chart, line.points, start, end)}" for line in chart.lines]
        said += [f"{band.label} {_range(chart, band.points, start, end)}" for band in chart.bands]
        now = ", ".join(said)
        if before and now != before:
            yield began, start, before
            began = start
        before = now
    if before:
        yield began, chart.last, before


def _range(chart: Chart, points: Sequence[tuple[float | None, ...]], start: float, end: float) -> str:
    """The least and the greatest number of some time."""
    found = [
        value for at, *values in points if at is not None and start <= at < end for value in values if value is not None
    ]
    if not found:
        return "-"
    low, high = min(found), max(found)
    if math.isinf(high):
        return f">{chart.told(low)}"
    return chart.told(low) if low == high else f"{chart.told(low)} to {chart.told(high)}"
