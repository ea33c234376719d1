"""What a change of the policy does to the nominal seats of every level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from apftop.apf.allocation import limits
from apftop.apf.shards import dealable
from apftop.lint.policy import Objects, Policy
from apftop.records.linting import Fault

SHRUNK = 0.2
"""A level that loses more than this share of its nominal seats is named."""


def nominal_seats(objects: Objects, policy: Policy) -> Mapping[str, int]:
    """Nominal seats of each level on one server: ceil(seats x shares / sum of shares) (1.26 to 1.37)."""
    found = limits(dealable(objects.levels.values()), policy.concurrency, policy.target)
    return {name: round(one.nominal) for name, one in found.items()}


def nominal(policy: Policy) -> Iterator[Fault]:
    """Levels that a change takes seats from: new shares make those of all others smaller, before any traffic."""
    before, after = nominal_seats(policy.before, policy), nominal_seats(policy.after, policy)
    hurt = {
        name: (seats, after[name])
        for name, seats in before.items()
        if name in after and seats and after[name] < seats * (1 - SHRUNK) and not _own_doing(name, policy)
    }
    if hurt:
        told = ", ".join(f"{name} {one} -> {other}" for name, (one, other) in sorted(hurt.items()))
        text = f"other levels lose more than {SHRUNK:.0%} of their nominal seats: {told} of {policy.concurrency}"
        yield Fault("others-shrink", "warning", text, "give fewer shares, or raise those of the others in proportion")


def _own_doing(name: str, policy: Policy) -> bool:
    """Whether the level itself was given other shares."""
    before, after = policy.before.levels.get(name), policy.after.levels.get(name)
    return before is not None and after is not None and before.shares != after.shares
