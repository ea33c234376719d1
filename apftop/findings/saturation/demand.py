"""Why a level is asked for more seats than usual: arrivals x width x execution time, each against its baseline."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from apftop.findings.scene import Place, Scene
from apftop.present import rate, seconds
from apftop.records.load import Baseline, Load
from apftop.rules import rules

Factor = Literal["arrivals", "width", "execution"]


@dataclass(frozen=True, slots=True)
class Split:
    """The load of now over that of the baseline: by how much each factor of the demand for seats has changed.

    None where one of the two is not known. `dominant` is the factor that makes up most of what rose, empty where none
    rose much. Clients that wait for their answers send less while execution is slow, so that demand may stay as it was.
    """

    now: Load
    baseline: Baseline
    arrivals: float | None
    width: float | None
    execution: float | None
    dominant: Factor | Literal[""]

    @property
    def rise(self) -> float | None:
        """By how much the demand for seats has changed."""
        now, usual = self.now.demand, self.baseline.load.demand
        return now / usual if now is not None and usual else None


def baseline(scene: Scene, place: Place) -> Baseline | None:
    """What the level is usually asked to do: by the calm moments before, else by its life before the window."""
    known = scene.baselines.get((place.replica.name, place.level.name))
    if known is not None or place.level.usual is None:
        return known
    usual, replica = place.level.usual, place.replica
    began = place.level.window.t0 if place.level.window is not None else None
    up = began - replica.started if began is not None and replica.started is not None else None
    slack = rules().findings.load.started_slack_s
    since = "the server started" if up is not None and abs(up - usual.seconds) <= slack else "the level is there"
    return Baseline(usual, f"the {_long(usual.seconds)} before, since {since}")


def split(scene: Scene, place: Place) -> Split | None:
    """How the load of a level compares with what it usually is; None where one of the two is not known."""
    now, usual = place.level.load, baseline(scene, place)
    if now is None or usual is None:
        return None
    was = usual.load
    factors: dict[Factor, float | None] = {
        "arrivals": _ratio(now.arrivals_per_s, was.arrivals_per_s),
        "width": _ratio(now.width, was.width),
        "execution": _ratio(now.execution_s, was.execution_s),
    }
    return Split(now, usual, factors["arrivals"], factors["width"], factors["execution"], _dominant(factors))


def words(found: Split) -> tuple[str, ...]:
    """The split in words, the factor that rose most first."""
    now, was = found.now, found.baseline.load
    parts = [
        (found.arrivals, f"arrivals {rate(was.arrivals_per_s)}/s -> {rate(now.arrivals_per_s)}/s"),
        (found.width, f"width {seats(was.width)} -> {seats(now.width)} seats"),
        (found.execution, f"execution {seconds(was.execution_s)} -> {seconds(now.execution_s)}"),
    ]
    known = sorted(((factor, text) for factor, text in parts if factor is not None), reverse=True)
    if not known:
        return ()
    told = ", ".join(f"{text} ({times(factor)})" for factor, text in known)
    whole_rise = ""
    if found.rise is not None:
        whole_rise = f"demand {seats(was.demand)} -> {seats(now.demand)} seats ({times(found.rise)}): "
    return (f"{whole_rise}{told}; against {found.baseline.source}",)


def slower(found: Split) -> bool:
    """Whether execution takes many times as long as usual, and by much."""
    limits = rules().findings.load
    if found.execution is None:
        return False
    rose = (found.now.execution_s or 0.0) - (found.baseline.load.execution_s or 0.0)
    return found.execution >= limits.slow_factor and rose >= limits.slow_s


def times(factor: float | None) -> str:
    """A factor: as many times as before."""
    if factor is None:
        return "x-"
    return f"x{factor:.2g}" if factor < 10 else f"x{factor:.0f}"


def seats(value: float | None) -> str:
    """Seats that are a mean."""
    if value is None:
        return "-"
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def _ratio(now: float | None, was: float | None) -> float | None:
    return now / was if now is not None and was else None


def _dominant(factors: dict[Factor, float | None]) -> Factor | Literal[""]:
    limits = rules().findings.load
    logs: dict[Factor, float] = {
        name: math.log(factor) for name, factor in factors.items() if factor is not None and factor > 0
    }
    if not logs:
        return ""
    most = max(logs, key=lambda name: logs[name])
    risen = sum(one for one in logs.values() if one > 0)
    enough = logs[most] >= math.log(limits.rise_factor) and logs[most] >= limits.dominant_share * risen
    return most if enough else ""


def _long(duration_s: float) -> str:
    for size, unit in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if duration_s >= 1.95 * size:
            return f"{duration_s / size:.0f} {unit}"
    return f"{duration_s:.0f} seconds"
