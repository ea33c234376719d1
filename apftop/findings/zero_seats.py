"""Levels without seats of their own: that let one through, that let none through, that live on lent seats."""

from __future__ import annotations

from apftop.findings.scene import Finder

FINDERS: tuple[Finder, ...] = ()
