"""What levels were asked to do before it hurt, out of the moments gone by: what the load of now is compared with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from apftop.findings.scene import Baselines
from apftop.records.frame import Frame, Level, Replica
from apftop.records.load import Baseline, Load
from apftop.rules import rules


def baselines(frames: Sequence[Frame]) -> Baselines:
    """For each level that is not calm now, the load of the calm time before, by replica and level.

    `frames` are the latest moments, oldest first, the last one of now. Of all runs of calm windows the longest one is
    taken, so that a level that is full now and then is compared with when it was not. Levels that are calm now, and
    those for which there was no calm time of `baselines.least_s`, have none.
    """
    if not frames:
        return {}
    found: dict[tuple[str, str], Baseline] = {}
    for name, now in frames[-1].replicas.items():
        hurt = [level.name for level in now.levels.values() if level.state != "stale" and not calm(level)]
        if not hurt:
            continue
        past = _windows(frame.replicas.get(name) for frame in frames)
        for level in hurt:
            baseline = _baseline([one.levels.get(level) for one in past])
            if baseline is not None:
                found[name, level] = baseline
    return found


def calm(level: Level) -> bool:
    """Whether nothing waits in a level, nothing was refused, and its seats were not all taken."""
    return level.state in ("idle", "busy", "exempt")


def _windows(replicas: Iterable[Replica | None]) -> list[Replica]:
    """The replica once for each window of its metrics, as it was last seen with it: moments come more often.

    What an earlier process did is left out.
    """
    by_window: dict[float, Replica] = {}
    for one in replicas:
        if one is None or one.window is None or one.window.t1 is None:
            continue
        if one.window.reset:
            by_window.clear()
        by_window[one.window.t1] = one
    return list(by_window.values())


def _baseline(past: Sequence[Level | None]) -> Baseline | None:
    runs: list[list[Level]] = [[]]
    for level in past:
        if level is not None and level.load is not None and calm(level):
            runs[-1].append(level)
        elif runs[-1]:
            runs.append([])
    # Of runs that are as long the later one is nearer to what is compared with it.
    longest = max(reversed(runs), key=lambda run: sum(one.load.seconds for one in run if one.load))
    loads = [one.load for one in longest if one.load is not None]
    total = sum(load.seconds for load in loads)
    if total < rules().baselines.least_s:
        return None
    ended = longest[-1].window.t1 if longest[-1].window is not None else None
    return Baseline(_together(loads, total), f"the {_long(total)} before{_clock(ended)}")


def _together(loads: Sequence[Load], seconds: float) -> Load:
    """Loads of windows that follow each other as one: means by how many requests each stands for."""
    weights = [load.arrivals_per_s * load.seconds for load in loads]
    return Load(
        seconds,
        sum(weights) / seconds,
        _mean((load.width, weight) for load, weight in zip(loads, weights, strict=True)),
        _mean((load.execution_s, weight) for load, weight in zip(loads, weights, strict=True)),
    )


def _mean(values: Iterable[tuple[float | None, float]]) -> float | None:
    known = [(value, weight) for value, weight in values if value is not None]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if total else None


def _long(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} seconds"


def _clock(stamp: float | None) -> str:
    return "" if stamp is None else f" {datetime.fromtimestamp(stamp, UTC):%H:%M:%S} UTC"
