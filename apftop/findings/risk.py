"""What a cluster dies of when it is delayed or refused: node leases, leader election, probes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from apftop.findings.scene import Finder, Scene
from apftop.records.findings import RISKS, Finding, Risk

FINDERS: tuple[Finder, ...] = ()


def at_risk(scene: Scene, found: Sequence[Finding]) -> Mapping[str, Risk]:
    """For each of `RISKS` whether it is delayed or refused now."""
    return dict.fromkeys(RISKS, "unknown")
