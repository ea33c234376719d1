"""All that is wrong with a policy, worst first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from apftop.lint.defects import defects
from apftop.lint.duplicates import duplicates
from apftop.lint.exempting import exempting
from apftop.lint.fates import fates, fates_of
from apftop.lint.fields import fields
from apftop.lint.flows import flows
from apftop.lint.missing import missing
from apftop.lint.nominal import nominal, nominal_seats
from apftop.lint.order import order
from apftop.lint.policy import Policy, Rule
from apftop.lint.queues import queues
from apftop.lint.reach import reach
from apftop.lint.references import dangling, near_names, references, unreferenced
from apftop.lint.seats import seats
from apftop.lint.validity import validity
from apftop.lint.versions import versions
from apftop.records.linting import GRAVITIES, Fault, Linted

RULES: tuple[Rule, ...] = (
    validity,
    fields,
    versions,
    fates,
    duplicates,
    references,
    order,
    reach,
    exempting,
    flows,
    seats,
    queues,
    missing,
    nominal,
    defects,
)


def linted(policy: Policy, unread: Iterable[Fault] = ()) -> Linted:
    """All faults of a policy, with those of its files that could not be read. Pure."""
    faults = (*unread, *_found(policy))
    release = policy.target
    return Linted(
        target=f"{release.major}.{release.minor}",
        concurrency=policy.concurrency,
        faults=tuple(sorted(faults, key=_rank)),
        dangling=dangling(policy.after),
        unreferenced=unreferenced(policy.after, policy),
        near_names=near_names(policy.after),
        nominal_before=nominal_seats(policy.before, policy),
        nominal_after=nominal_seats(policy.after, policy),
        fates=fates_of(policy),
    )


def _found(policy: Policy) -> Iterator[Fault]:
    """What the rules find; of objects that were not given, what is not so already without the given ones."""
    known: frozenset[tuple[str, str]] = frozenset()
    if not policy.whole:
        before = replace(policy, given=(), after=policy.before)
        known = frozenset((fault.code, fault.key) for rule in RULES for fault in rule(before))
    given = {f"{one.kind}/{one.name}" for one in policy.given}
    for rule in RULES:
        yield from (one for one in rule(policy) if one.key in given or (one.code, one.key) not in known)


def _rank(fault: Fault) -> tuple[int, str, int, str, str]:
    return GRAVITIES.index(fault.gravity), fault.file, fault.line or 0, fault.key, fault.code
