"""What began, ended and happened in a span, in words: the same for pages and Markdown."""

from __future__ import annotations

from collections import Counter

from apftop.present import UNKNOWN, plain, utc
from apftop.records.findings import SEVERITIES
from apftop.records.tape import Mark
from apftop.report.series import Lasted, Span


def lasted_text(one: Lasted, span: Span) -> tuple[str, str]:
    """When a finding began and ended."""
    began = UNKNOWN if one.began is None else utc(one.began)
    if one.ended is not None:
        return began, utc(one.ended)
    return began, "not known: recording ended" if one.cut else f"goes on at {utc(span.last)}"


def counted_over(span: Span) -> str:
    """How many findings there were over a span, by severity; one that came again counts once."""
    numbers = Counter(severity for severity, *_ in {(one.severity, one.code, one.subject) for one in span.lasted})
    return ", ".join(f"{numbers[severity]} {severity}" for severity in SEVERITIES if numbers[severity]) or "none"


def mark_text(mark: Mark) -> str:
    """What happened, and to whom."""
    return f"{plain(mark.replica, 60)}: {mark.text}" if mark.replica else mark.text
