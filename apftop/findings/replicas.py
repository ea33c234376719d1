"""Replicas that differ: in load, in configuration, in version, in their clocks; those that nobody sees."""

from __future__ import annotations

from apftop.findings.scene import Finder

FINDERS: tuple[Finder, ...] = ()
