"""The checks of a report: as JSON, and as lines of text for those that are off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from apftop.check.lawbook import lawbook
from apftop.present import plain, seconds
from apftop.records.checks import Check, FlowWaits, Followed, LevelChecks, Prediction, ReplicaChecks, Start
from apftop.report.numbers import number

Json = dict[str, Any]


def level_json(checks: LevelChecks | None) -> Json:
    """What a level's object says of its checks; where none were made it is unknown."""
    checks = checks or LevelChecks()
    return {
        "model": {
            "check": checks.verdict,
            "observed_wait_s": number(checks.observed_wait_s),
            "little_wait_s": number(checks.little_s),
            "predicted_wait": _prediction(checks.prediction),
        },
        "checks": [check_json(check) for check in checks.checks],
        "exact_waits": [_flow(flow) for flow in checks.flows],
        "followed": _followed(checks.followed),
    }


def check_json(check: Check) -> Json:
    """One check; both values with their tolerance, or what is missing."""
    low, high = check.expected or (None, None)
    return {
        "law": check.law,
        "title": lawbook()[check.law].title,
        "check": check.verdict,
        "observed": number(check.observed),
        "expected": None if check.expected is None else {"low": number(low), "high": number(high)},
        "tolerance": number(check.tolerance),
        "unit": check.unit or None,
        "seconds": number(check.seconds),
        "about": check.about or None,
        "missing": check.missing or None,
        "reason": check.reason or None,
    }


def start_json(start: Start | None) -> Json | None:
    """When a waiting request is to be served, in seconds after its dump."""
    if start is None:
        return None
    band = start.after_s
    return {
        "low": number(band.low) if band else None,
        "middle": number(band.middle) if band else None,
        "high": number(band.high) if band else None,
        "by_s": number(start.by_s),
        "runs": start.runs,
    }


def check_lines(checks: ReplicaChecks) -> Iterator[str]:
    """A line for each check that is off, with both values, and one for each wait that was predicted."""
    yield from _off("this server", checks.checks)
    for name, level in checks.levels.items():
        about = plain(name, 40)
        yield from _off(about, level.checks)
        if level.prediction is not None:
            yield f"{about}: {predicted(level.prediction)}"


def predicted(found: Prediction) -> str:
    """A prediction in words: what was seen, what could be, and how that was found."""
    band = found.mean_wait
    return (
        f"mean wait {seconds(found.observed)}; this load on these seats gives {seconds(band.low)} to "
        f"{seconds(band.high)} (nine of ten of {found.runs} runs over {found.seconds:.0f} s)"
    )


def told(check: Check) -> str:
    """Both values of a check with their tolerance."""
    if check.observed is None or check.expected is None or check.tolerance is None:
        return ""
    within = f", give or take {check.tolerance:.4g}" if check.tolerance else ""
    over = "" if check.seconds is None else f" over {check.seconds:.0f} s"
    return f"{_with_unit(f'{check.observed:.4g}', check)}{over} against {_wanted(check.expected)}{within}"


def _wanted(expected: tuple[float | None, float | None]) -> str:
    low, high = expected
    if low is None or high is None:
        return f"at least {_text(low)}" if high is None else f"at most {_text(high)}"
    return _text(low) if low == high else f"{_text(low)} to {_text(high)}"


def _with_unit(value: str, check: Check) -> str:
    return f"{value} {check.unit}".rstrip()


def _off(about: str, checks: Iterable[Check]) -> Iterator[str]:
    for check in checks:
        if check.verdict == "off":
            what = f" ({plain(check.about)})" if check.about else ""
            yield f"{about}: not so: {lawbook()[check.law].title}{what}: {told(check)}: {plain(check.reason)}"


def _text(value: float | None) -> str:
    return "any" if value is None else f"{value:.4g}"


def _prediction(found: Prediction | None) -> Json | None:
    if found is None:
        return None
    return {
        "low": number(found.mean_wait.low),
        "middle": number(found.mean_wait.middle),
        "high": number(found.mean_wait.high),
        "observed": number(found.observed),
        "allowed": {"low": number(found.low), "high": number(found.high)},
        "inside": found.inside,
        "runs": found.runs,
        "intervals": found.intervals,
        "seconds": number(found.seconds),
    }


def _flow(flow: FlowWaits) -> Json:
    return {
        "flow_schema": flow.schema,
        "flow": flow.flow,
        "count": flow.count,
        "mean_s": number(flow.mean_s),
        "max_s": number(flow.max_s),
        "waiting": flow.waiting,
        "mean_age_s": number(flow.mean_age_s),
    }


def _followed(found: Followed | None) -> Json | None:
    if found is None:
        return None
    return {
        "waited": found.waited,
        "executing": found.executing,
        "still_waiting": found.still_waiting,
        "gone": found.gone,
    }
