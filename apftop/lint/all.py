"""All that is wrong with a policy, worst first."""

from __future__ import annotations

from collections.abc import Iterable

from apftop.lint.defects import defects
from apftop.lint.fates import fate_of, fates
from apftop.lint.missing import missing
from apftop.lint.nominal import nominal, nominal_seats
from apftop.lint.order import order
from apftop.lint.policy import Policy, Rule
from apftop.lint.queues import queues
from apftop.lint.reach import reach
from apftop.lint.references import dangling, near_names, references, unreferenced
from apftop.lint.validity import validity
from apftop.lint.versions import versions
from apftop.records.linting import GRAVITIES, Fault, Linted

RULES: tuple[Rule, ...] = (
    validity,
    versions,
    fates,
    references,
    order,
    reach,
    queues,
    missing,
    nominal,
    defects,
)


def linted(policy: Policy, unread: Iterable[Fault] = ()) -> Linted:
    """All faults of a policy, with those of its files that could not be read. Pure."""
    faults = (*unread, *(fault for rule in RULES for fault in rule(policy)))
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
        fates={f"{one.kind}/{one.name}": fate for one in policy.given if (fate := fate_of(one, policy)) is not None},
    )


def _rank(fault: Fault) -> tuple[int, str, int, str, str]:
    return GRAVITIES.index(fault.gravity), fault.file, fault.line or 0, fault.key, fault.code
