"""Requests that ended badly for other reasons: forbidden after dispatch, 429s that are not of APF."""

from __future__ import annotations

from apftop.findings.scene import Finder

FINDERS: tuple[Finder, ...] = ()
