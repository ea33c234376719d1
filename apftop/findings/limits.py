"""Limits that stand in the way: of borrowing, lent seats, frozen ones, those that exempt requests squeeze."""

from __future__ import annotations

from apftop.findings.scene import Finder

FINDERS: tuple[Finder, ...] = ()
