"""Levels that are saturated: by whom, and why demand rose; execution that became slow."""

from __future__ import annotations

from apftop.findings.scene import Finder

FINDERS: tuple[Finder, ...] = ()
