"""The charts of a span: of each level that had work, on each replica where these differ."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from apftop.present import UNKNOWN, plain, rate, seconds, whole
from apftop.records.measures import Quantile
from apftop.records.tape import Mark
from apftop.report.charts import Band, Chart, Line, Sign, clock, drawn, greatest
from apftop.report.html_parts import Markup, element, joined
from apftop.report.over_time import mark_text
from apftop.report.series import Lasted, Point, Seen, Series, Span

MOST_LEVELS = 8
MOST_REPLICAS = 6
MOST_CHARTS = 96
LEAST_WAIT_S = 0.005
"""The first bound of the buckets of waits."""

ALIKE = 1.25
"""Replicas are alike whose numbers are not further apart than that."""

MOST_TITLE = 120
"""Characters of a finding's title in a sign."""

LETTERS = {
    "config": "C",
    "restart": "R",
    "version": "V",
    "gap": "G",
    "back": "B",
    "joined": "J",
    "left": "L",
    "clock": "T",
    "recording": "O",
}
MEANT = (
    "C objects changed, R restart, V version, G no answer, B answers again, J and L servers joined and left, "
    "T clock set back, O recording began, F and E a finding began and ended"
)
LOOKS = "bcdef"


@dataclass(frozen=True, slots=True)
class Measure:
    """What one chart of a level shows; where nothing is greater than `least` it is told in a line."""

    title: str
    told: Callable[[float], str]
    lines: Callable[[Series], list[Line]]
    bands: Callable[[Series], list[Band]] = lambda _: []
    least: float = 0.0


def level_charts(span: Span) -> Markup:
    """The charts of the levels that had most trouble, and how many levels are left out."""
    by_level: dict[str, list[Series]] = defaultdict(list)
    for one in span.series:
        by_level[one.level].append(one)
    busy = sorted((some for some in by_level.values() if any(map(_busy, some))), key=_rank)
    ids = count(1)
    found: list[Markup] = []
    for some in busy[:MOST_LEVELS]:
        # The number of the next chart.
        if found and next(ids) > MOST_CHARTS:
            break
        found.append(_level(span, some, ids))
    told = []
    if left_out := busy[len(found) :]:
        names = ", ".join(plain(some[0].level, 40) for some in left_out[:20])
        told.append(f"{len(left_out)} more levels had work, and are left out: {names}.")
    if idle := len(by_level) - len(busy):
        told.append(f"{idle} of {len(by_level)} levels had no work that was seen.")
    return joined((*found, *(element("p", line, class_="dim") for line in told)))


def _busy(one: Series) -> bool:
    return any(point.seats or point.dispatched_per_s or point.refused_per_s for point in one.points) or bool(_most(one))


def _most(one: Series) -> float:
    return max((value for _, value in one.waiting if value is not None), default=0.0)


def _refused(one: Series) -> float:
    return max((sum(point.refused_per_s.values()) for point in one.points if point.refused_per_s), default=0.0)


def _weight(one: Series) -> tuple[float, float, float]:
    return _refused(one), _most(one), max((point.seats or 0.0 for point in one.points), default=0.0)


def _rank(some: Sequence[Series]) -> tuple[bool, float, float, float, str]:
    """Exempt levels last, which never wait; the others by what was refused, waited, and executed."""
    refused, waiting, seats = max(map(_weight, some))
    return some[0].exempt, -refused, -waiting, -seats, some[0].level


def _level(span: Span, some: Sequence[Series], ids: Iterator[int]) -> Markup:
    shown = sorted(some, key=lambda one: ([-number for number in _weight(one)], one.replica))
    alike = len(shown) > 1 and _alike(shown)
    kept = shown[: 1 if alike else MOST_REPLICAS]
    found = [element("h3", plain(shown[0].level, 80))]
    reasons = sorted({reason for one in some for point in one.points for reason in point.refused_per_s or ()})
    for measure in _measures(reasons, exempt=some[0].exempt):
        charts = [
            Chart(
                plain(one.replica, 60),
                span.first,
                span.last,
                measure.told,
                measure.lines(one),
                measure.bands(one),
                tuple(_signs(span, one)),
            )
            for one in kept
        ]
        # Those of one kind are to be compared.
        top = max(map(greatest, charts))
        if top <= measure.least and all(map(_known, charts)):
            found.append(element("p", f"{measure.title}: {measure.told(top)} over all of the time.", class_="dim"))
            continue
        figures = [_figure(measure, replace(chart, top=top), f"c{next(ids)}") for chart in charts]
        found.append(element("h4", measure.title, " ", _legend(charts[0])))
        found.append(element("div", *figures, class_="charts"))
    if alike:
        within = f"its mean rate and its peaks are within {ALIKE - 1:.0%} of those of the others"
        found.append(element("p", f"One of {len(shown)} replicas is shown: {within}.", class_="dim"))
    elif len(kept) < len(shown):
        told = f"{len(shown) - len(kept)} more replicas, on which it had less trouble, are left out."
        found.append(element("p", told, class_="dim"))
    return joined(found)


def _alike(some: Sequence[Series]) -> bool:
    """Whether one replica may stand for all."""
    for numbers in zip(*((*_weight(one), _mean_dispatched(one)) for one in some), strict=True):
        if max(numbers) > ALIKE * min(numbers):
            return False
    return True


def _mean_dispatched(one: Series) -> float:
    known = [point.dispatched_per_s for point in one.points if point.dispatched_per_s is not None]
    return sum(known) / len(known) if known else 0.0


def _known(chart: Chart) -> bool:
    """Whether anything is known of all that it shows."""
    some = [*(line.points for line in chart.lines), *(band.points for band in chart.bands)]
    return all(any(value is not None for _, *values in points for value in values) for points in some)


def _figure(measure: Measure, chart: Chart, name: str) -> Markup:
    return element(
        "figure", element("figcaption", f"{chart.title}: {_said(measure, chart)}", id=name), drawn(chart, name)
    )


def _said(measure: Measure, chart: Chart) -> str:
    """What the chart comes to: the text alternative."""
    parts = []
    for line in chart.lines:
        known = [(value, at) for at, value in line.points if value is not None]
        if known:
            most, at = max(known)
            parts.append(f"{line.label} at most {measure.told(most)}{f' ({clock(at)})' if most else ''}")
        else:
            parts.append(f"{line.label} {UNKNOWN}")
    for band in chart.bands:
        known_bands = [(low, high, at) for at, low, high in band.points if low is not None and high is not None]
        if known_bands:
            low, high, at = max(known_bands, key=lambda one: (one[1], one[0]))
            bounds = f">{measure.told(low)}" if math.isinf(high) else f"{measure.told(low)} to {measure.told(high)}"
            parts.append(f"{band.label} at most {bounds} ({clock(at)})")
        else:
            parts.append(f"{band.label} {UNKNOWN}")
    return ", ".join(parts)


def _legend(chart: Chart) -> Markup:
    """How lines and bands look, with what they are."""
    samples = [
        *((element("path", d="M0 5H22", class_=f"line {one.look}"), one.label) for one in chart.lines),
        *((element("rect", width=22, height=10, class_=f"band {one.look}"), one.label) for one in chart.bands),
    ]
    return joined(
        element("span", element("svg", sample, viewBox="0 0 22 10", aria_hidden="true"), label, class_="key")
        for sample, label in samples
    )


def _measures(reasons: Sequence[str], *, exempt: bool) -> Iterator[Measure]:
    if not exempt:
        yield Measure("Waiting requests", whole, lambda one: [Line("waiting", "a", one.waiting)])
    yield Measure("Requests a second", rate, lambda one: _rates(one, () if exempt else reasons))
    yield Measure("Seats", whole, lambda one: _seats(one, exempt=exempt))
    if not exempt:
        yield Measure("Waits in the queue, by bounds of buckets", seconds, lambda _: [], _waits, LEAST_WAIT_S)


def _rates(one: Series, reasons: Sequence[str]) -> list[Line]:
    shown, others = reasons[: len(LOOKS) - 1], reasons[len(LOOKS) - 1 :]
    found = [Line("dispatched", "a", [(point.at, point.dispatched_per_s) for point in one.points])]
    for look, reason in zip(LOOKS, shown, strict=False):
        found.append(Line(f"refused, {plain(reason, 40)}", look, _of_reasons(one.points, (reason,))))
    if others:
        found.append(Line(f"refused, {len(others)} other reasons", LOOKS[-1], _of_reasons(one.points, others)))
    return found


def _of_reasons(points: Iterable[Point], reasons: Sequence[str]) -> list[Seen]:
    return [
        (point.at, None if point.refused_per_s is None else sum(point.refused_per_s.get(one, 0.0) for one in reasons))
        for point in points
    ]


def _seats(one: Series, *, exempt: bool) -> list[Line]:
    found = [Line("in use", "a", [(point.at, point.seats) for point in one.points])]
    if not exempt:
        found.append(Line("current limit", "b", [(point.at, point.current) for point in one.points]))
    return [*found, Line("nominal limit", "c", [(point.at, point.nominal) for point in one.points])]


def _waits(one: Series) -> list[Band]:
    return [
        Band("p99", "a", [(point.at, *_bounds(point.p99)) for point in one.points]),
        Band("p50", "b", [(point.at, *_bounds(point.p50)) for point in one.points]),
    ]


def _bounds(value: Quantile | None) -> tuple[float | None, float | None]:
    if value is None:
        return None, None
    return value.low, math.inf if value.high is None else value.high


def _signs(span: Span, one: Series) -> Iterator[Sign]:
    """What happened to a replica or to all of them, and what was found there of the level."""
    yield from (Sign(mark.at, LETTERS[mark.kind], mark_text(mark)) for mark in span.marks if _concerns(mark, one))
    for finding in span.lasted:
        if finding.severity != "info" and _is_about(finding, one):
            title = plain(finding.title, MOST_TITLE)
            if finding.began is not None and finding.began >= span.first:
                yield Sign(finding.began, "F", f"found: {title}")
            if finding.ended is not None:
                yield Sign(finding.ended, "E", f"ended: {title}")


def _concerns(mark: Mark, one: Series) -> bool:
    return mark.kind in LETTERS and mark.replica in ("", one.replica)


def _is_about(finding: Lasted, one: Series) -> bool:
    return finding.replica in ("", one.replica) and (finding.subject == one.level or one.level in finding.title.split())
