"""Schemas that capture what others are for, that dangle, and levels that nothing refers to."""

from __future__ import annotations

from apftop.findings.scene import Finder

FINDERS: tuple[Finder, ...] = ()
