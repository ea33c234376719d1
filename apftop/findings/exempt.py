"""Exempt requests: schemas that exempt too many, and traffic that takes what others need."""

from __future__ import annotations

from apftop.findings.scene import Finder

FINDERS: tuple[Finder, ...] = ()
