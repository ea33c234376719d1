"""All that can be found at one moment: findings with the worst first, the verdict, what is at risk, alerts."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from apftop.findings import flows, inversion, widths
from apftop.findings.alerting.alerts import alerts, mixin
from apftop.findings.policies import edits, exempt, policy
from apftop.findings.risks import risk
from apftop.findings.risks.risk import at_risk
from apftop.findings.saturation import load
from apftop.findings.scene import Finder, Scene
from apftop.findings.seats import leaks, limits, zero_seats
from apftop.findings.servers import access, client, doubt, replicas
from apftop.findings.verdict import verdict
from apftop.findings.waiting import refusals, waits
from apftop.records.findings import SEVERITIES, Finding, Findings

FINDERS: tuple[Finder, ...] = (
    *load.FINDERS,
    *flows.FINDERS,
    *widths.FINDERS,
    *inversion.FINDERS,
    *zero_seats.FINDERS,
    *limits.FINDERS,
    *leaks.FINDERS,
    *waits.FINDERS,
    *policy.FINDERS,
    *exempt.FINDERS,
    *edits.FINDERS,
    *risk.FINDERS,
    *replicas.FINDERS,
    *access.FINDERS,
    *refusals.FINDERS,
    *client.FINDERS,
    *doubt.FINDERS,
)


def findings(scene: Scene) -> Findings:
    """What is found in a scene. Pure: the same scene gives the same findings."""
    every = [(number, one) for number, find in enumerate(FINDERS) for one in find(scene)]
    found = tuple(one for _, one in sorted(every, key=_ranks(one for _, one in every)))
    whole, why, replicas = verdict(scene, found)
    return Findings(whole, why, at_risk(scene, found), replicas, found, alerts(scene), mixin(scene))


def _ranks(found: Iterable[Finding]) -> Callable[[tuple[int, Finding]], tuple[int, float, str, int, float, str]]:
    """The order: what is about the level that hurts most comes together, that it is full before why."""
    heaviest: dict[tuple[str, str], float] = {}
    for one in found:
        key = one.severity, one.level or one.subject
        heaviest[key] = max(one.weight, heaviest.get(key, 0.0))

    def rank(numbered: tuple[int, Finding]) -> tuple[int, float, str, int, float, str]:
        number, one = numbered
        about = one.level or one.subject
        severity = SEVERITIES.index(one.severity)
        return severity, -heaviest[one.severity, about], about, number, -one.weight, one.subject

    return rank
