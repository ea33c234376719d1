"""What it is all about, in one word, with the reasons for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from apftop.findings.scene import Scene
from apftop.records.findings import Finding, Whole


def verdict(scene: Scene, found: Sequence[Finding]) -> tuple[Whole, tuple[str, ...], Mapping[str, Whole]]:
    """The verdict of all servers, why, and that of each server."""
    return "unknown", (), {}
