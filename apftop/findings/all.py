"""All that can be found at one moment: findings with the worst first, the verdict, what is at risk, alerts."""

from __future__ import annotations

from apftop.findings import (
    access,
    client,
    doubt,
    edits,
    exempt,
    flows,
    inversion,
    leaks,
    limits,
    load,
    policy,
    refusals,
    replicas,
    risk,
    waits,
    widths,
    zero_seats,
)
from apftop.findings.alerts import alerts, mixin
from apftop.findings.risk import at_risk
from apftop.findings.scene import Finder, Scene
from apftop.findings.verdict import verdict
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
    found = tuple(sorted((one for find in FINDERS for one in find(scene)), key=_rank))
    whole, why, replicas = verdict(scene, found)
    return Findings(whole, why, at_risk(scene, found), replicas, found, alerts(scene), mixin(scene))


def _rank(finding: Finding) -> tuple[int, float, str, str]:
    return SEVERITIES.index(finding.severity), -finding.weight, finding.code, finding.subject
