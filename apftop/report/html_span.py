"""What a page shows of some time of a tape: where it hurt, what began and ended, what happened, and charts."""

from __future__ import annotations

from apftop.present import plain, seconds, utc
from apftop.present import span as lasted_for
from apftop.report.html_parts import Markup, element, joined, table
from apftop.report.level_charts import MEANT, level_charts
from apftop.report.over_time import lasted_text
from apftop.report.series import Span
from apftop.report.strip import strip

MOST_FINDINGS = 100
MOST_MARKS = 100


def over_time(span: Span) -> Markup:
    """All that is shown of the time of a span."""
    charts = level_charts(span)
    return joined(
        (
            element("p", f"{utc(span.first)} .. {utc(span.last)}, {lasted_for(span.last - span.first)}"),
            strip(span, "strip"),
            *((element("p", _about(span), class_="dim"), charts) if charts else ()),
            _findings(span),
            _marks(span),
        )
    )


def _about(span: Span) -> str:
    return (
        f"Charts have a point each {seconds(span.step_s)}, of the window before it; waiting requests are of each "
        f"answer that told of them. Where a line is broken nothing is known. Times are UTC; numbers show on hover. "
        f"{MEANT}."
    )


def _findings(span: Span) -> Markup:
    if not span.lasted:
        return Markup()
    rows = [(one.title, one.severity, one.code, *lasted_text(one, span)) for one in span.lasted[:MOST_FINDINGS]]
    made = table("When findings began and ended", ("FINDING", "SEVERITY", "CODE", "BEGAN", "ENDED"), rows, left=_ALL)
    return joined((made, _left_out(len(span.lasted) - MOST_FINDINGS, "findings")))


def _marks(span: Span) -> Markup:
    if not span.marks:
        return Markup()
    rows = [(utc(one.at), one.kind, plain(one.replica, 80), one.text) for one in span.marks[:MOST_MARKS]]
    made = table("What happened", ("TIME", "KIND", "REPLICA", "WHAT"), rows, left=_ALL)
    return joined((made, _left_out(len(span.marks) - MOST_MARKS, "marks")))


_ALL = frozenset(range(5))


def _left_out(number: int, what: str) -> Markup:
    return element("p", f"{number} more {what} are left out.", class_="dim") if number > 0 else Markup()
