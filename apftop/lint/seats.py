"""Shares and percentages of levels that do other than most people mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from apftop.apf.allocation import Limits, reachable_maximum
from apftop.apf.builtins import builtin_levels
from apftop.apf.objects import FlowSchema, PriorityLevelConfiguration
from apftop.lint.nominal import limits_of
from apftop.lint.policy import Document, Policy
from apftop.lint.unchanged import is_old
from apftop.present import plain
from apftop.records.linting import Fault, Gravity


def seats(policy: Policy) -> Iterator[Fault]:
    """Faults of the seats that the given levels have, and of given schemas that lead to levels without any."""
    limits = limits_of(policy.after, policy)
    for document in policy.given:
        made = document.object
        if isinstance(made, FlowSchema):
            yield from _to_no_seats(document, made, policy)
        elif isinstance(made, PriorityLevelConfiguration) and not made.exempt:
            if made.shares == 0:
                yield _no_seats(document, made)
            elif made.name in limits and not is_old(made, policy):
                yield from _percentages(document, made, limits, policy)


def has_none(level: PriorityLevelConfiguration) -> bool:
    """Whether a level never has a seat: of 0 nominal seats every borrowing limit is 0 (1.26 to 1.37)."""
    return not level.exempt and level.shares == 0 and level.borrowing_limit_percent is not None


def _to_no_seats(document: Document, schema: FlowSchema, policy: Policy) -> Iterator[Fault]:
    """A level that was given is told of itself."""
    level = policy.after.levels.get(schema.priority_level)
    if level is None or not has_none(level) or policy.document("PriorityLevelConfiguration", level.name):
        return
    gravity: Gravity = "error"
    text = f"its level {plain(level.name)} has no seats: none of its requests is ever served"
    if level.queuing is None:
        gravity, text = "warning", f"its level {plain(level.name)} has no seats: one request at a time is served"
    advice = "name a level that has seats"
    yield document.fault("leads-to-no-seats", gravity, text, advice, "spec.priorityLevelConfiguration.name")


def _no_seats(document: Document, level: PriorityLevelConfiguration) -> Fault:
    at = "spec.limited.nominalConcurrencyShares"
    if not has_none(level):
        text = "0 shares and no borrowing limit: it has what others lend, and nothing while they need it"
        return document.fault("no-guaranteed-seats", "note", text, "give it a small positive share", at)
    if level.queuing is None:
        text = "0 seats with Reject do not block: an idle level serves one request at a time"
        return document.fault("zero-seats-reject", "warning", text, "to refuse all, deny by authorization", at)
    text = "0 seats with Queue: nothing is ever served, and each request waits until its limit and is refused"
    return document.fault("zero-seats-queue", "error", text, "give it a small positive share", at)


def _percentages(
    document: Document, level: PriorityLevelConfiguration, limits: Mapping[str, Limits], policy: Policy
) -> Iterator[Fault]:
    its = limits[level.name]
    before = policy.before.levels.get(level.name)
    unset_before = not policy.whole and before is not None and before.borrowing_limit_percent is None
    if level.borrowing_limit_percent is None and not unset_before and level.name not in builtin_levels():
        most = reachable_maximum(
            {name: one.upper for name, one in limits.items()},
            {name: one.lower for name, one in limits.items()},
            sum(one.nominal for one in limits.values()),
        )[level.name]
        text = (
            f"borrowingLimitPercent is not set: with what others lend it may have up to {most:.0f} of "
            f"{policy.concurrency} seats"
        )
        advice = "set it if a limit is meant; 0 means no borrowing"
        yield document.fault("borrowing-unset", "note", text, advice, "spec.limited.borrowingLimitPercent")
    if its.lower == 0 < its.nominal:
        then = "one request at a time is let in" if level.queuing is None else "its first requests wait"
        what = "its only seat" if its.nominal == 1 else f"all its {its.nominal} seats"
        text = f"it may lend {what}: when it was idle and others are busy, {then} for up to 10 s"
        advice = "lend less (lendablePercent), so that a seat or more stays"
        yield document.fault("lends-all", "warning", text, advice, "spec.limited.lendablePercent")
