"""Do two answers belong to one server, and how much of its time lies between them?

The server's own clock decides where it can: a histogram over time counts one for each nanosecond of a level's life, so
that its rise is the time between two answers, and its value the age of the process. Counters of two servers, or two
answers in the wrong order, look like a restart; taken for one they would show lifetimes as a window. So what is not
understood gives no step at all, and says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Literal

from apftop.derive.deltas import Step, subtract
from apftop.records.measures import NANOSECONDS, Window
from apftop.records.state import Read
from apftop.records.view import View
from apftop.rules import rules

TIMED = ("request_utilization", "seat_utilization")
FALLING = ("dispatched", "rejected")
FALLING_HISTOGRAMS = (*TIMED, "wait", "execution")


@dataclass(frozen=True, slots=True)
class Pairing:
    """The step between two answers, or why there is none; `note` may also say what was chosen."""

    step: Step | None
    note: str = ""


Apart = Literal["", "peer", "start"]
"""What came with two answers and is not the same in both."""


def told_apart(before: Read[object], after: Read[object]) -> Apart:
    """Whether two answers say themselves that they are of two servers, or of two lives of one.

    A certificate may be renewed under a living process, but nothing tells that from a balancer's change of servers. The
    header of the start has whole seconds, and is made up once in the life of a process.
    """
    if before.peer and after.peer and before.peer != after.peer:
        return "peer"
    if before.started is not None and after.started is not None and before.started != after.started:
        return "start"
    return ""


def pair(before: View, after: View, t0: float | None, t1: float | None, apart: Apart = "") -> Pairing:
    """Pair two views of what is thought to be one server; `t0`, `t1` are Unix seconds by the taker's clock.

    `apart` is what is known of the two answers besides.
    """
    if apart == "peer":
        return Pairing(None, "no rates: another certificate than before (another server behind a balancer, or renewed)")
    for view, name in ((before, "earlier"), (after, "later")):
        # A live server has always dispatched something, the question for these metrics at least.
        if "dispatched" not in view.values:
            return Pairing(None, f"no rates: the {name} metrics hold no dispatched requests")
    stamped = t1 - t0 if t0 is not None and t1 is not None else None
    if stamped is not None and stamped <= 0:
        return Pairing(None, "no rates: the two answers are not in the order of their times")
    rises = _rises(before, after)
    restarted = apart == "start" or not _same_start(before, after)
    if not restarted and not _fell(before, after) and _steady(rises):
        return _same_process(before, after, t0, t1, stamped, median(rises) if rises else None)
    return _began_anew(before, after, t1, stamped, restarted=restarted)


def _same_process(
    before: View, after: View, t0: float | None, t1: float | None, stamped: float | None, counted: float | None
) -> Pairing:
    if counted is None:
        if stamped is None:
            return Pairing(None, "no rates: neither the times of the two answers nor a clock of the server are known")
        return Pairing(Step(before, after, Window(stamped, "stamps", t0, t1), anew=False))
    step = Step(before, after, Window(counted, "server", t0, t1), anew=False)
    if stamped is None or agree(stamped, counted):
        return Pairing(step)
    if before.start is None:
        # Two servers of unknown start could differ by anything.
        return Pairing(None, _apart(stamped, counted) + ": no rates")
    return Pairing(step, _apart(stamped, counted) + ", which is taken")


def _apart(stamped: float, counted: float) -> str:
    return f"the answers are {stamped:.4g} s apart by their times, but {counted:.4g} s by the server's own clock"


def _began_anew(before: View, after: View, t1: float | None, stamped: float | None, *, restarted: bool) -> Pairing:
    """A restart or a reset of the metrics, if the server's counters are younger than the window; else two servers."""
    age = _age(after)
    if age is None and after.start is not None and t1 is not None and restarted:
        age = t1 - after.start
    slack = rules().window.clock_agreement_s
    was = _age(before)
    if was is not None and age is not None and stamped is not None and agree(stamped, was - age):
        return Pairing(None, "no rates: the two answers are in the wrong order")
    if age is None or stamped is None or not 0 < age <= stamped + slack:
        return Pairing(None, "no rates: the two answers are of different servers, out of order, or across a reset")
    since = None if t1 is None else t1 - age
    return Pairing(Step(before, after, Window(age, "server", since, t1, reset=True), anew=True))


def _same_start(before: View, after: View) -> bool:
    """Whether the process start agrees: it is computed anew for each answer, from a clock that may be stepped."""
    if before.start is None or after.start is None:
        return True
    return abs(before.start - after.start) <= rules().window.start_jitter_s


def _fell(before: View, after: View) -> bool:
    """Whether a counter or bucket fell or went, which none does while its process lives and nobody resets it."""
    for measure in FALLING:
        earlier, later = before.values.get(measure, {}), after.values.get(measure, {})
        known = earlier.keys() - set(after.torn.get(measure, ()))
        if any(later.get(key, 0.0) < earlier[key] for key in known):
            return True
    for measure in FALLING_HISTOGRAMS:
        was, now = before.histograms.get(measure, {}), after.histograms.get(measure, {})
        # The time that a level was idle tells servers apart which started in the same second.
        if any(subtract(value, was[key]) is None for key, value in now.items() if key in was):
            return True
    return False


def _rises(before: View, after: View) -> list[float]:
    """Seconds that each level lived between the two answers, by the server's own counts."""
    return [
        (later.count - earlier.count) / NANOSECONDS
        for measure in TIMED
        for key, later in after.histograms.get(measure, {}).items()
        if (earlier := before.histograms.get(measure, {}).get(key)) is not None
    ]


def _steady(rises: list[float]) -> bool:
    """Whether all levels lived equally long between the answers, as they do on one server."""
    if not rises:
        return True
    return min(rises) > 0 and max(rises) - min(rises) <= rules().window.tear_s


def _age(view: View) -> float | None:
    """Seconds since the server's metrics began, by the oldest level."""
    ages = [histogram.count for measure in TIMED for histogram in view.histograms.get(measure, {}).values()]
    return max(ages) / NANOSECONDS if ages else None


def agree(stamped: float, counted: float, slack_s: float = 0.0) -> bool:
    """Whether two clocks tell the same time between two answers, the second of them to within `slack_s` seconds."""
    limits = rules().window
    return abs(stamped - counted) <= slack_s + max(limits.clock_agreement * stamped, limits.clock_agreement_s)
