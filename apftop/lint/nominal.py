"""What a change of the policy does to the nominal seats of every level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from apftop.apf.allocation import Limits, limits
from apftop.apf.builtins import mandatory_level
from apftop.apf.objects import MANDATORY
from apftop.apf.shards import dealable
from apftop.lint.policy import Objects, Policy
from apftop.present import plain
from apftop.records.linting import Fault

SHRUNK = 0.2
"""A level that loses more than this share of its nominal seats is named."""

FEW = 2
"""Fewer seats than this are lost to rounding alone."""


def limits_of(objects: Objects, policy: Policy) -> Mapping[str, Limits]:
    """The limits of each level on one server, mandatory ones included: servers run them without an object too."""
    imagined = {name: mandatory_level(name) for name in sorted(MANDATORY)}
    run = imagined | {one.name: one for one in dealable(objects.levels.values())}
    return limits(run.values(), policy.concurrency, policy.target)


def nominal_seats(objects: Objects, policy: Policy) -> Mapping[str, int]:
    """Nominal seats of each level on one server: ceil(seats x shares / sum of shares) (1.26 to 1.37)."""
    return {name: one.nominal for name, one in limits_of(objects, policy).items()}


def nominal(policy: Policy) -> Iterator[Fault]:
    """Levels that a change takes seats from: new shares make those of all others smaller, before any traffic."""
    before, after = nominal_seats(policy.before, policy), nominal_seats(policy.after, policy)
    hurt = {
        name: (seats, after[name])
        for name, seats in before.items()
        if name in after and _shrunk(seats, after[name]) and not _own_doing(name, policy)
    }
    if not hurt:
        return
    gain = {name: seats - before.get(name, 0) for name, seats in after.items()}
    taker = max(sorted(gain), key=lambda name: gain[name])
    told = ", ".join(f"{plain(name)} {one} -> {other}" for name, (one, other) in sorted(hurt.items()))
    text = (
        f"it takes {gain[taker]} more of {policy.concurrency} nominal seats, and other levels lose over {SHRUNK:.0%} "
        f"of theirs with this change: {told}"
    )
    advice = "give fewer shares, or raise those of the others in proportion"
    at = f"spec.{'exempt' if policy.after.levels[taker].exempt else 'limited'}.nominalConcurrencyShares"
    yield policy.fault("PriorityLevelConfiguration", taker, "others-shrink", "warning", text, advice, at)


def _shrunk(before: int, after: int) -> bool:
    return before - after >= FEW and after < before * (1 - SHRUNK)


def _own_doing(name: str, policy: Policy) -> bool:
    """Whether the level itself was given other shares."""
    before, after = policy.before.levels.get(name), policy.after.levels.get(name)
    return before is not None and after is not None and before.shares != after.shares
