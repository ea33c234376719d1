"""Objects that were edited shortly before it hurt: which, when, and by whom."""

from __future__ import annotations

from apftop.findings.scene import Finder

FINDERS: tuple[Finder, ...] = ()
