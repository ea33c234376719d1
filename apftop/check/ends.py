"""What hangs over at the two ends of a window: requests that came before an end and are not done with by then."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from apftop.check.missing import Missing
from apftop.check.window import Instant, LevelWindow
from apftop.records.measures import NANOSECONDS
from apftop.records.parsed import RequestRow


@dataclass(frozen=True, slots=True)
class Hanging:
    """Request-seconds: how much longer those there at the end have been than those at the begin, give or take."""

    more_s: float
    error_s: float


def waiting(window: LevelWindow, lag_s: float) -> Hanging:
    """Of requests that wait: by the rows of `dump_requests` and the server's clock at the dump.

    Between the dump and the metrics, and for `lag_s` more, requests come and go unseen. Raises Missing where somebody
    waits of whom there is no row.
    """
    ends = []
    for one in window.ends:
        ages = _ages_s(one, one.waiting, one.level.waiting, [row.arrive_ns for row in one.waiting or ()], "wait")
        middle, error = _still_there(ages, one.level.waiting)
        ends.append((middle, error + _passed(one, ages, one.level.waiting, lag_s)))
    return _between(ends)


def executing(window: LevelWindow, lag_s: float) -> Hanging:
    """Of requests that execute, likewise; dumps list them since 1.28.

    The sum of executions has the whole of one that ended after the dump, whose age is then counted twice: it tells by
    the gauge, but not where another took its place, as one does at once where requests wait.
    """
    execution = window.rise("execution")
    lasted_s = execution.sum / execution.count if execution is not None and execution.count else math.inf
    ends = []
    for one in window.ends:
        begun = [row.arrive_ns if row.start_ns is None else row.start_ns for row in one.executing or ()]
        ages = _ages_s(one, one.executing, one.level.executing, begun, "execute")
        middle, error = _still_there(ages, one.level.executing)
        passed_s = abs(one.lag_s or 0.0) + lag_s
        ended = passed_s / max(lasted_s, passed_s)
        replaced = math.sqrt(sum(ended * age**2 for age in ages))
        if one.waiting or one.level.waiting:
            replaced = max([replaced, *ages])
        ends.append((middle, error + max(replaced, _passed(one, ages, one.level.executing, lag_s))))
    return _between(ends)


def _ages_s(
    one: Instant, rows: Sequence[RequestRow] | None, gauge: float | None, since_ns: Sequence[int], doing: str
) -> list[float]:
    """Ages at the dump, youngest first; none where the gauge says that there is nobody."""
    if gauge == 0:
        return []
    if rows is None:
        many = "an unknown number" if gauge is None else f"{gauge:g}"
        if one.point.requests is not None:
            raise Missing(
                f"who executes: up to 1.27 the dump of requests lists waiting ones only, while {many} {doing}"
            )
        raise Missing(f"no dump of requests next to the metrics while {many} {doing}")
    if rows and one.dump_s is None:
        raise Missing("the server's clock at the dump of requests")
    return sorted(max(0.0, (one.dump_s or 0.0) - since / NANOSECONDS) for since in since_ns)


def _still_there(ages: Sequence[float], gauge: float | None) -> tuple[float, float]:
    """The sum of ages less those that had gone by the metrics: any of them, so that it has an error."""
    gone = max(0, len(ages) - round(gauge)) if gauge is not None else 0
    least, most = sum(ages[: len(ages) - gone]), sum(ages[gone:])
    return (least + most) / 2, (most - least) / 2


def _passed(one: Instant, ages: Sequence[float], gauge: float | None, lag_s: float) -> float:
    return max(len(ages), gauge or 0.0) * (abs(one.lag_s or 0.0) + lag_s)


def _between(ends: Sequence[tuple[float, float]]) -> Hanging:
    (before, one), (after, other) = ends
    return Hanging(after - before, one + other)
