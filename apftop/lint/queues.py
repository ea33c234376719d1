"""Settings of levels and schemas that the API takes and that do other than most people mean."""

from __future__ import annotations

from collections.abc import Iterator

from apftop.apf.allocation import LEVEL_SEAT_CAP_SINCE, level_seat_cap
from apftop.apf.objects import EXEMPT, FlowSchema, PriorityLevelConfiguration, Subject
from apftop.apf.release import holds
from apftop.lint.fates import same_spec
from apftop.lint.nominal import nominal_seats
from apftop.lint.policy import Document, Policy
from apftop.present import plain
from apftop.records.linting import Fault

BROAD = frozenset({"system:authenticated", "system:unauthenticated", "system:serviceaccounts", "system:nodes", "*"})
OURS = frozenset({"exempt", "probes"})
"""The schemas that a server itself sends to the exempt level."""


def queues(policy: Policy) -> Iterator[Fault]:
    """Faults of the given objects' settings."""
    nominal = nominal_seats(policy.after, policy)
    for document in policy.given:
        made = document.object
        if isinstance(made, FlowSchema):
            yield from _schema(document, made, policy)
        elif isinstance(made, PriorityLevelConfiguration) and not made.exempt:
            yield from _level(document, made, nominal.get(made.name, 0), policy)


def _schema(document: Document, schema: FlowSchema, policy: Policy) -> Iterator[Fault]:
    level = policy.after.levels.get(schema.priority_level)
    if schema.priority_level == EXEMPT:
        broad = [one for rule in schema.rules for one in rule.subjects if _is_broad(one)]
        if broad and schema.name not in OURS:
            who = ", ".join(dict.fromkeys(plain(one.name) for one in broad))
            text = f"it sends {who} to the exempt level: none of their requests is limited, and they take all seats"
            yield document.fault("broad-exempt", "error", text, "name single accounts, or use a level with a limit")
        return
    if level is None or level.queuing is None or level.queuing.queues < 2:
        return
    if schema.distinguisher is None and not _is_one_user(schema):
        text = f"no distinguisherMethod: all its requests are one flow, which gets {level.queuing.hand_size} queues"
        advice = "set distinguisherMethod.type to ByUser, or to ByNamespace"
        yield document.fault("no-distinguisher", "warning", text, advice, "spec.distinguisherMethod")
    elif schema.distinguisher == "ByUser" and _is_one_user(schema):
        text = "by user, and it matches one user: all its requests are one flow"
        advice = "set distinguisherMethod.type to ByNamespace, if the account works in several"
        yield document.fault("one-user-by-user", "note", text, advice, "spec.distinguisherMethod")


def _level(document: Document, level: PriorityLevelConfiguration, seats: int, policy: Policy) -> Iterator[Fault]:
    borrowing, at = level.borrowing_limit_percent, "spec.limited"
    if level.shares == 0:
        yield from _no_seats(document, level)
    elif borrowing is None and not _is_as_before(level, policy):
        text = f"borrowingLimitPercent is not set: it may borrow up to the whole server, {policy.concurrency} seats"
        advice = "set it if a limit is meant; 0 means no borrowing"
        yield document.fault("borrowing-unset", "note", text, advice, at)
    if level.queuing is None:
        return
    if level.queuing.queues == 1:
        text = "it has one queue: flows are not told apart, whatever the schemas say"
        yield document.fault(
            "one-queue", "warning", text, "more queues tell flows apart", f"{at}.limitResponse.queuing"
        )
    hand = level.queuing.hand_size
    if seats and holds(policy.target, LEVEL_SEAT_CAP_SINCE) and level_seat_cap(seats, hand) == 1:
        text = (
            f"each request is priced as one seat at most, lists of everything too: {seats} nominal seats, hand {hand}"
        )
        advice = (
            f"more shares (at least {2 * hand} seats), or a smaller handSize, let wide requests cost what they take"
        )
        yield document.fault("seat-cap-one", "note", text, advice, f"{at}.limitResponse.queuing.handSize")


def _no_seats(document: Document, level: PriorityLevelConfiguration) -> Iterator[Fault]:
    at = "spec.limited.nominalConcurrencyShares"
    if level.borrowing_limit_percent is None:
        text = "0 shares and no borrowing limit: it has what others lend, and nothing while they need it"
        yield document.fault("no-guaranteed-seats", "note", text, "give it a small positive share", at)
    elif level.queuing is None:
        text = "0 seats with Reject do not block: an idle level serves one request at a time"
        yield document.fault("zero-seats-reject", "warning", text, "to refuse all, deny by authorization", at)
    else:
        text = "0 seats with Queue: nothing is ever served, and each request waits until its limit and is refused"
        yield document.fault("zero-seats-queue", "error", text, "give it a small positive share", at)


def _is_as_before(level: PriorityLevelConfiguration, policy: Policy) -> bool:
    before = policy.before.levels.get(level.name)
    return before is not None and same_spec(level, before)


def _is_broad(subject: Subject) -> bool:
    return subject.kind != "ServiceAccount" and subject.name in BROAD


def _is_one_user(schema: FlowSchema) -> bool:
    subjects = {subject for rule in schema.rules for subject in rule.subjects}
    return len(subjects) == 1 and all(one.kind != "Group" and one.name != "*" for one in subjects)
