"""Changes of the policy that meet known defects of API servers."""

from __future__ import annotations

from collections.abc import Iterator

from apftop.apf.allocation import (
    LEVEL_SEAT_CAP_SINCE,
    LIST_CAP_100_SINCE,
    LIST_SEAT_CAP,
    SEAT_CAP,
    level_seat_cap,
    limits,
)
from apftop.apf.levels import Levels
from apftop.apf.release import holds
from apftop.apf.shards import dealable
from apftop.lint.policy import Policy
from apftop.records.linting import Fault


def defects(policy: Policy) -> Iterator[Fault]:
    """Defects that the given change of policy would meet (1.26 to 1.37 where nothing else is said)."""
    yield from _fewer_queues(policy)
    yield from _allocation_fails(policy)
    yield from _final_seats(policy)


def _fewer_queues(policy: Policy) -> Iterator[Fault]:
    for name, level in policy.after.levels.items():
        before = policy.before.levels.get(name)
        if before is None or before.queuing is None or level.queuing is None:
            continue
        if level.queuing.queues < before.queuing.queues:
            text = (
                f"fewer queues ({before.queuing.queues} -> {level.queuing.queues}) while requests with final seats end "
                "can crash a server, or drop a queue with its requests: a queue that is removed is removed twice"
            )
            advice = "change it while the level is idle, one server at a time, or make a new level and move the schemas"
            at = "spec.limited.limitResponse.queuing.queues"
            yield policy.fault("PriorityLevelConfiguration", name, "fewer-queues", "warning", text, advice, at)


def _allocation_fails(policy: Policy) -> Iterator[Fault]:
    """Since 1.31 the sum to share includes the exempt level's nominal seats, and its share does not."""
    configs = dealable(policy.after.levels.values())
    adjusted = Levels(policy.concurrency, policy.target).digest(0, configs, lambda _: True)
    if adjusted.failure:
        text = (
            f"servers cannot share out the seats ({adjusted.failure}): they keep all limits as they are, in silence, "
            "and borrowing ends"
        )
        advice = "set the shares of `exempt` to 0, or raise borrowingLimitPercent of the other levels"
        yield policy.fault(
            "PriorityLevelConfiguration", "exempt", "allocation-fails", "error", text, advice, "spec.exempt"
        )


def _final_seats(policy: Policy) -> Iterator[Fault]:
    """A request whose final seats are above the current limit leaves its excess in the demand for ever."""
    if not holds(policy.target, LEVEL_SEAT_CAP_SINCE):
        return
    for name, limit in limits(dealable(policy.after.levels.values()), policy.concurrency, policy.target).items():
        queuing = policy.after.levels[name].queuing
        if queuing is None or policy.document("PriorityLevelConfiguration", name) is None:
            continue
        wide = holds(policy.target, LIST_CAP_100_SINCE)
        cap = min(level_seat_cap(int(limit.nominal), queuing.hand_size), LIST_SEAT_CAP if wide else SEAT_CAP)
        if 0 < limit.lower < cap:
            text = (
                f"it may lend down to {limit.lower:g} seats, and a request may take {cap}: one that is cut to the "
                "limit leaves what is cut off in the level's demand for ever"
            )
            advice = "lend less (lendablePercent), so that the lower limit is at least the widest request"
            at = "spec.limited.lendablePercent"
            yield policy.fault("PriorityLevelConfiguration", name, "demand-leak", "note", text, advice, at)
