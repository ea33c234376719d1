"""Could this load on these seats give such waits? Observed waits against runs of the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from apftop.apf.forecast import band
from apftop.check.judge import judged, unknown
from apftop.check.load import seen_requests
from apftop.check.missing import Missing
from apftop.check.point import Track
from apftop.check.runs import Key, Result, Step, interval
from apftop.check.slow_widths import wide_are_slower
from apftop.check.window import LevelWindow, rise
from apftop.records.checks import Check, Prediction, RequestKey, Span, Start
from apftop.rules import rules

Results = Mapping[Key, Result]
"""What has been simulated of one replica."""

EMPTY: Results = {}
LAW = "band"


def with_result(results: Results, result: Result, track: Track) -> dict[Key, Result]:
    """The results of a replica with one more, without those of points that its track has no more."""
    numbers = {point.number for point in track.points}
    return {key: one for key, one in {**results, result.key: result}.items() if one.number in numbers}


@dataclass(frozen=True, slots=True)
class _Sums:
    """Over the simulated intervals of a window: waits in seconds and their number, as observed and of each run."""

    observed: tuple[float, int]
    runs: tuple[tuple[float, int], ...]
    intervals: int
    seconds: float


def prediction(window: LevelWindow, results: Results) -> Prediction | None:
    """The mean wait over the intervals of a window that were simulated; None without any.

    Run by run the waits of all intervals are summed up, and the band holds nine of ten of the means. What was observed
    in the same intervals may lie outside of it by its allowance: the runs know neither when clients wait for each other
    nor how late a starved server wakes who is served.
    """
    sums = _sums(window, results)
    return None if sums is None else _predicted(window, sums)


def _predicted(window: LevelWindow, sums: _Sums) -> Prediction:
    middle = band([waited / number if number else 0.0 for waited, number in sums.runs])
    terms, last = rules().check.band, window.last.point.metrics
    return Prediction(
        mean_wait=Span(middle.low, middle.middle, middle.high),
        observed=sums.observed[0] / sums.observed[1],
        low=terms.low_share * middle.low - terms.low_s,
        high=terms.high_share * middle.high + terms.high_s,
        runs=len(sums.runs),
        intervals=sums.intervals,
        seconds=sums.seconds,
        at=last.received or last.time or 0.0,
    )


def band_check(window: LevelWindow, results: Results) -> Check | None:
    """Observed mean wait within the band of the runs and its allowance; over most of a window, or it says little.

    Nor may more requests have left their queues than in the runs: where seats are too few for the load, those that
    start do not wait much longer, but others do not start. The runs take it that service does not depend on the width:
    where wide requests are the slow ones, what is off may be that. Where metrics come seldom it may be a load that
    changed after the dump. Does not apply to levels without queues.
    """
    terms = rules().check.band
    if window.queueless:
        return None
    if window.seconds <= 0:
        return unknown(LAW, "a second answer of metrics")
    if sum(step.seconds for step in _steps(window) if step.waited) < terms.least_s:
        return unknown(LAW, f"{terms.least_s:g} s in which requests waited", seconds=window.seconds)
    sums = _sums(window, results)
    if sums is None or sums.seconds < terms.least_s:
        return unknown(LAW, _obstacle(window, results), seconds=window.seconds)
    found = _predicted(window, sums)
    served = _served(sums)
    check = served if found.inside and served.verdict == "off" else _waits(found)
    every_s = found.seconds / found.intervals
    if check.verdict == "off" and every_s > terms.longest_s:
        often = f"answers of metrics within {terms.longest_s:g} s of each other: in {every_s:.1f} s a load may change"
        return unknown(LAW, often, seconds=found.seconds)
    slower = wide_are_slower(window)
    if check.verdict == "off" and slower is not None and not terms.least_slower <= slower <= terms.most_slower:
        by = f"{slower:.2g} times as wide" if slower > 1 else f"{1 / slower:.2g} times as narrow"
        return unknown(LAW, f"service that does not depend on the width: what executes is {by} as what came")
    return check


def _waits(found: Prediction) -> Check:
    middle = found.mean_wait
    return judged(
        LAW,
        found.observed,
        found.low,
        found.high,
        0.0,
        "s",
        seconds=found.seconds,
        about=f"{found.runs} runs over {found.intervals} intervals: {middle.low:.3g} to {middle.high:.3g} s",
        reason=(
            "waits are longer than this load on these seats gives: fewer seats than told, service slower than counted, "
            "or a server short of CPU"
            if found.observed > found.high
            else "waits are shorter than this load on these seats gives: more seats than told, or service faster than "
            "counted"
        ),
    )


def _served(sums: _Sums) -> Check:
    terms, numbers = rules().check.band, band([number for _, number in sums.runs])
    return judged(
        LAW,
        sums.observed[1],
        None,
        terms.served_share * numbers.high + terms.served,
        0.0,
        "requests",
        seconds=sums.seconds,
        about=f"{len(sums.runs)} runs over {sums.intervals} intervals: {numbers.low:g} to {numbers.high:g} left queues",
        reason="more requests left their queues than these seats can serve: more seats than told, or service faster "
        "than counted",
    )


def starts(window: LevelWindow, results: Results) -> Mapping[RequestKey, Start]:
    """When the requests that wait in the last dump are to start; empty where that was not simulated."""
    found = results.get((window.name, "starts", window.last.point.number))
    return {} if found is None else found.starts


def _sums(window: LevelWindow, results: Results) -> _Sums | None:
    """None without a simulated interval in which something left its queue."""
    waits, seconds, observed_s, observed = [], 0.0, 0.0, 0
    for step in _steps(window):
        found = results.get((window.name, "waits", step.after.point.number))
        counted = rise(step.before, step.after, "waits")
        if found is None or counted is None:
            continue
        waits.append(found.waits)
        seconds += step.seconds
        observed_s += counted.sum
        observed += counted.count
    if not waits or not observed:
        return None
    runs = zip(*waits, strict=False)
    sums = tuple((sum(waited for waited, _ in run), sum(number for _, number in run)) for run in runs)
    return _Sums((observed_s, observed), sums, len(waits), seconds)


def _steps(window: LevelWindow) -> list[Step]:
    return [Step(window.name, before, after, ()) for before, after in window.steps]


def _obstacle(window: LevelWindow, results: Results) -> str:
    """Why so little of a window was simulated: what is missing in its last interval that was not."""
    seen = seen_requests(window.name, [one.point for one in window.instants])
    for step in reversed(_steps(window)):
        if not step.waited or (step.level, "waits", step.after.point.number) in results:
            continue
        try:
            interval(replace(step, seen=seen))
        except Missing as missing:
            return str(missing)
    return "runs of the model: none are done yet"
