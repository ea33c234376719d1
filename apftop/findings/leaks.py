"""What should have gone away: seats that leak, gauges of dead levels, levels that drain."""

from __future__ import annotations

from apftop.findings.scene import Finder

FINDERS: tuple[Finder, ...] = ()
