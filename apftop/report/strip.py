"""The strip "where it hurt": the worst finding, what waited and what was refused, over the time of a span."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from apftop.present import UNKNOWN, rate, whole
from apftop.records.findings import worst
from apftop.records.tape import Pulse, most, usual_s
from apftop.report.charts import clock, ticks
from apftop.report.html_parts import Markup, element
from apftop.report.series import Span

WIDTH, LEFT, LANE, BOTTOM = 720, 66, 26, 18
SLOTS = 160
HEIGHTS = {"critical": 1.0, "warning": 0.6, "info": 0.3}
"""Of the bars of findings: they differ by height, not by colour alone."""


def strip(span: Span, title_id: str) -> Markup:
    """The strip; nothing where the tape does not tell. `title_id` is of the element that says what it shows."""
    if not span.pulses or span.last <= span.first:
        return Markup()
    slots = list(_slots(span))
    waiting = max((one.waiting or 0.0 for one in span.pulses), default=0.0)
    refused = max((one.refused_per_s or 0.0 for one in span.pulses), default=0.0)
    height = 3 * LANE + BOTTOM
    inner = [*_lane(0, "findings"), *_lane(1, "waiting", whole(waiting)), *_lane(2, "refused/s", rate(refused))]
    for start, end, some in slots:
        inner += _bars(_x(span, start), _x(span, end), some, waiting, refused)
        title = element("title", f"{clock(start)} to {clock(end)} UTC: {_said(some, span, end)}")
        x = _x(span, start)
        inner.append(
            element("rect", title, x=f"{x:.1f}", y=0, width=f"{_x(span, end) - x:.1f}", height=3 * LANE, class_="h")
        )
    for at, said in ticks(span.first, span.last):
        inner.append(element("text", said, x=f"{_x(span, at):.1f}", y=height - 4, class_="x"))
    svg = element("svg", *inner, viewBox=f"0 0 {WIDTH} {height}", role="img", aria_labelledby=title_id, class_="strip")
    caption = element("figcaption", "Where it hurt: ", _summed(span, waiting, refused), id=title_id)
    return element(
        "figure", caption, element("div", svg, class_="wide", tabindex="0", role="group", aria_label="strip")
    )


def _summed(span: Span, waiting: float, refused: float) -> str:
    parts = [f"waiting at most {whole(waiting)}", f"refused at most {rate(refused)}/s, over all servers"]
    numbers = Counter(one.severity for one in span.pulses)
    parts += [
        f"worst finding {severity} in {numbers[severity]} of {len(span.pulses)} looks"
        for severity in HEIGHTS
        if numbers[severity]
    ]
    # After the last pulse its row is empty because nothing is told, not because nothing hurt.
    parts += [f"told up to {clock(span.pulses[-1].at)} UTC"] if _ends_before(span) else []
    return "; ".join(parts)


def _ends_before(span: Span) -> bool:
    return span.last - span.pulses[-1].at >= 1


def _x(span: Span, at: float) -> float:
    return LEFT + (WIDTH - LEFT - 4) * min(1.0, max(0.0, (at - span.first) / (span.last - span.first)))


def _lane(number: int, name: str, most: str = "") -> Iterator[Markup]:
    y = (number + 1) * LANE
    yield element("line", x1=LEFT, x2=WIDTH - 4, y1=y, y2=y, class_="grid")
    yield element("text", name, x=LEFT - 4, y=y - 14 if most else y - 8, class_="y")
    if most:
        yield element("text", f"to {most}", x=LEFT - 4, y=y - 3, class_="y")


def _slots(span: Span) -> Iterator[tuple[float, float, list[Pulse]]]:
    """Equal parts of the span, at least as long as from one pulse to the next, with the pulses of each."""
    usual = usual_s(one.at for one in span.pulses)
    usual = span.last - span.first if usual is None else usual
    number = max(1, min(SLOTS, int((span.last - span.first) / max(usual, 0.1) / 1.25)))
    width = (span.last - span.first) / number
    found: list[list[Pulse]] = [[] for _ in range(number)]
    for one in span.pulses:
        found[min(number - 1, int((one.at - span.first) / width))].append(one)
    for at, some in enumerate(found):
        yield span.first + at * width, span.first + (at + 1) * width, some


def _bars(left: float, right: float, some: Sequence[Pulse], waiting: float, refused: float) -> Iterator[Markup]:
    if severity := worst(one.severity for one in some):
        yield _bar(left, right, 0, HEIGHTS[severity], severity)
    for lane, value, top, look in (
        (1, most(one.waiting for one in some), waiting, "fill-a"),
        (2, most(one.refused_per_s for one in some), refused, "fill-b"),
    ):
        if value and top:
            yield _bar(left, right, lane, value / top, look)


def _bar(left: float, right: float, lane: int, share: float, look: str) -> Markup:
    height = max(1.0, (LANE - 4) * share)
    y = (lane + 1) * LANE - height
    # Bars touch each other.
    width = right - left + 0.3
    return element("rect", x=f"{left:.1f}", y=f"{y:.1f}", width=f"{width:.1f}", height=f"{height:.1f}", class_=look)


def _said(some: Sequence[Pulse], span: Span, end: float) -> str:
    if not some:
        return f"{UNKNOWN} (nothing was recorded)"
    waiting, refused = most(one.waiting for one in some), most(one.refused_per_s for one in some)
    severity = worst(one.severity for one in some)
    found = f"worst finding {severity}" if severity else "no finding"
    told = f"{found}, {whole(waiting)} waiting, {rate(refused)}/s refused"
    last = some[-1] is span.pulses[-1] and end - some[-1].at >= 1
    return f"{told}; told up to {clock(some[-1].at)}" if last else told
