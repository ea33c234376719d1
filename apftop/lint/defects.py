"""Changes of the policy that meet known defects of API servers."""

from __future__ import annotations

from collections.abc import Iterator

from apftop.apf.allocation import LEVEL_SEAT_CAP_SINCE, SEAT_CAP, level_seat_cap
from apftop.apf.levels import Levels
from apftop.apf.objects import CATCH_ALL, EXEMPT
from apftop.apf.release import holds
from apftop.lint.nominal import limits_of
from apftop.lint.policy import Noun, Policy
from apftop.lint.unchanged import is_old
from apftop.records.linting import Fault

LEVEL: Noun = "PriorityLevelConfiguration"


def defects(policy: Policy) -> Iterator[Fault]:
    """Defects that the given change of policy would meet (1.26 to 1.37 where nothing else is said)."""
    yield from _fewer_queues(policy)
    yield from _allocation_fails(policy)
    yield from _final_seats(policy)


def _fewer_queues(policy: Policy) -> Iterator[Fault]:
    """A queue that is left over goes when a request of it ends; a second one that ends then takes out another."""
    for name, level in policy.after.levels.items():
        before = policy.before.levels.get(name)
        if before is None or before.queuing is None:
            continue
        had, has = before.queuing.queues, level.queuing.queues if level.queuing is not None else 0
        if has < had:
            text = (
                f"fewer queues ({had} -> {has}) while writes that many watch end can crash a server, or drop a queue "
                "with its requests: a queue that is left over may be removed twice"
            )
            advice = "change it while the level is idle, or make a new level and move the schemas to it"
            at = "spec.limited.limitResponse"
            yield policy.fault(LEVEL, name, "fewer-queues", "warning", text, advice, at)


def _allocation_fails(policy: Policy) -> Iterator[Fault]:
    """Since 1.31 the sum to share includes the exempt level's nominal seats, and its share does not.

    Where `catch-all` is as Kubernetes fixes it, it may borrow the whole server, and the sum is always reached. Asked
    for a server without load: when all seats are needed, another rule shares them out, which cannot fail.
    """
    levels = policy.after.levels
    if Levels(policy.concurrency, policy.target).digest(0, levels.values(), lambda _: True).failure is None:
        return
    limits = limits_of(policy.after, policy)
    total = sum(one.nominal for one in limits.values())
    upper = sum(one.upper for name, one in limits.items() if name != EXEMPT)
    text = (
        f"with this catch-all servers cannot share out their seats: the upper limits sum to {upper}, below the {total} "
        "nominal seats with those of `exempt`. All limits stay as they are, and only the servers' logs say so"
    )
    advice = "leave catch-all without a borrowingLimitPercent, or set the shares of `exempt` to 0"
    at = "spec.limited.borrowingLimitPercent"
    yield policy.fault(LEVEL, CATCH_ALL, "allocation-fails", "error", text, advice, at)


def _final_seats(policy: Policy) -> Iterator[Fault]:
    """A write whose final seats are above the current limit leaves its excess in the demand for ever.

    Only writes have final seats, 10 at most; only those that wait in queues are cut.
    """
    for name, limit in limits_of(policy.after, policy).items():
        level = policy.after.levels.get(name)
        if level is None or level.queuing is None or policy.document(LEVEL, name) is None or is_old(level, policy):
            continue
        cap = SEAT_CAP
        if holds(policy.target, LEVEL_SEAT_CAP_SINCE):
            cap = min(level_seat_cap(limit.nominal, level.queuing.hand_size), cap)
        # With a limit of 0 nothing leaves a queue, so nothing is cut to it.
        if limit.nominal and max(limit.lower, 1) < cap:
            text = (
                f"its limit may fall to {limit.lower} seats, and a write that many watch takes up to {cap}: what is "
                "cut off such a write stays in the level's demand until the server restarts"
            )
            lending = limit.lower < limit.nominal
            advice = f"{'lend less' if lending else 'give more shares'}, so that {cap} seats stay"
            at = f"spec.limited.{'lendablePercent' if lending else 'nominalConcurrencyShares'}"
            yield policy.fault(LEVEL, name, "demand-leak", "note", text, advice, at)
