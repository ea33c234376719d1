"""What the changes most likely mean, in a few lines: the cause before what follows from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from apftop.diff.change import Change
from apftop.diff.levels import counted
from apftop.diff.pairs import Pairs
from apftop.diff.values import shown
from apftop.findings.saturation.demand import Split, seats, split, times
from apftop.findings.scene import Place, Scene
from apftop.present import plain, rate, seconds
from apftop.records.frame import Level
from apftop.records.load import Baseline
from apftop.report.look import Look
from apftop.rules import rules

MOST = 3
LEAST_ENDED = 16
"""A mean of fewer requests may be off by half: 2 / sqrt(16)."""


def meaning(old: Look, new: Look, pairs: Pairs, changes: Sequence[Change]) -> tuple[str, ...]:
    """Lines such as `config changed: ...`, `load: ...`, `findings: +2 -1: ...`."""
    lines = [*_config(changes), *_servers(changes), *_load(old, new, pairs), *_findings(changes), *_verdict(changes)]
    if lines:
        return tuple(lines)
    if any(one.beyond for one in changes):
        return ("no change of the policy, the servers, the demand or the findings; single numbers changed",)
    return ("nothing changed by more than can be told",)


def _some(parts: Sequence[str]) -> str:
    more = f", and {len(parts) - MOST} more" if len(parts) > MOST else ""
    return ", ".join(parts[:MOST]) + more


def _config(changes: Sequence[Change]) -> Iterator[str]:
    found = [one for one in changes if one.section == "config" and one.beyond]
    if found:
        yield f"config changed: {_some([_object(one) for one in found])}"


def _object(change: Change) -> str:
    if change.how != "changed":
        return f"{plain(change.name)} {change.how}"
    if isinstance(change.old, tuple) or isinstance(change.new, tuple):
        return f"{plain(change.name)} {plain(change.field)}"
    return f"{plain(change.name)} {plain(change.field)} {shown(change, change.old)} -> {shown(change, change.new)}"


def _servers(changes: Sequence[Change]) -> Iterator[str]:
    found = [one for one in changes if one.section == "servers" and one.beyond]
    started = {one.replica for one in found if one.field == "started"}
    if started:
        yield f"restarted: {_some([plain(name) for name in sorted(started)])}"
    others = [one for one in found if one.field not in ("started", "hot", "servers", "nominal_sum")]
    parts = [
        f"{plain(one.replica)} {one.how}"
        if one.how != "changed"
        else f"{plain(one.replica)} {one.field} {shown(one, one.old)} -> {shown(one, one.new)}"
        for one in others
    ]
    if parts:
        yield f"servers: {_some([' '.join(part.split()) for part in parts])}"


def _load(old: Look, new: Look, pairs: Pairs) -> Iterator[str]:
    """Levels whose demand rose or fell by a factor, and which of its three factors made it."""
    found: list[tuple[float, str]] = []
    for group in pairs.groups:
        if len(group.old) != 1 or len(group.new) != 1:
            continue
        was, now = group.old[0], group.new[0]
        for name in sorted(set(was.levels) & set(now.levels)):
            told = _split(new, was.levels[name], Place(now, now.levels[name]))
            if told is not None and _moved(told, was.levels[name], now.levels[name]):
                found.append((_apart(told), f"demand of {plain(name)} on {plain(now.name)} {_because(told)}"))
    found.sort(key=lambda one: -one[0])
    yield from (f"load: {line}" for _, line in found[:MOST])
    if len(found) > MOST:
        yield f"load: demand of {len(found) - MOST} more levels"


def _split(new: Look, was: Level, place: Place) -> Split | None:
    if was.load is None:
        return None
    baseline = Baseline(was.load, "A")
    return split(Scene(new.frame, baselines={(place.replica.name, place.level.name): baseline}), place)


def _apart(told: Split) -> float:
    return abs((told.now.demand or 0.0) - (told.baseline.load.demand or 0.0))


def _because(told: Split) -> str:
    """The rise or the fall, and its factors, the one that made most of it first."""
    now, was = told.now, told.baseline.load
    parts = [
        (told.arrivals, f"arrivals {rate(was.arrivals_per_s)}/s -> {rate(now.arrivals_per_s)}/s"),
        (told.width, f"width {seats(was.width)} -> {seats(now.width)} seats"),
        (told.execution, f"execution {seconds(was.execution_s)} -> {seconds(now.execution_s)}"),
    ]
    known = sorted(((factor, text) for factor, text in parts if factor), key=lambda one: one[0])
    rose = (told.rise or 0.0) > 1
    ordered = reversed(known) if rose else known
    factors = ", ".join(f"{text} ({times(factor)})" for factor, text in ordered)
    return (
        f"{'rose' if rose else 'fell'} {seats(was.demand)} -> {seats(now.demand)} seats ({times(told.rise)}): {factors}"
    )


def _moved(told: Split, was: Level, now: Level) -> bool:
    """Whether demand changed by a factor that counts, by a seat at least, and by what enough requests tell."""
    rise, factor = told.rise, rules().findings.load.rise_factor
    if rise is None or 1 / factor < rise < factor or _apart(told) < 1:
        return False
    ended = [one.execution.count if one.execution is not None else 0 for one in (was, now)]
    if min(ended) >= LEAST_ENDED:
        return True
    before, after = (counted([one], lambda counts: counts.arrivals) for one in (was, now))
    if before is None or after is None:
        return False
    # Too few ended to believe their mean time: arrivals alone must tell.
    return abs(after.per_s - before.per_s) > before.bound + after.bound


def _findings(changes: Sequence[Change]) -> Iterator[str]:
    found = [one for one in changes if one.section == "findings" and one.beyond]
    new, gone = ([one for one in found if one.how == how] for how in ("added", "removed"))
    other = [one for one in found if one.how == "changed"]
    if found:
        counts = " ".join(f"{sign}{len(some)}" for sign, some in (("+", new), ("-", gone), ("~", other)) if some)
        marked = [("+", one) for one in new] + [("-", one) for one in gone] + [("~", one) for one in other]
        yield f"findings: {counts}: {_some([f'{sign}{one.field} {plain(one.name)}' for sign, one in marked])}"


def _verdict(changes: Sequence[Change]) -> Iterator[str]:
    for one in changes:
        if one.section == "verdict" and one.beyond:
            yield f"{one.field.replace('_', ' ')}: {shown(one, one.old)} -> {shown(one, one.new)}"
