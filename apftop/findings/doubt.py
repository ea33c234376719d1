"""Numbers that do not agree with each other or with what APF would do."""

from __future__ import annotations

from apftop.findings.scene import Finder

FINDERS: tuple[Finder, ...] = ()
