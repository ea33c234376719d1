"""Priority inversion: requests that wait for a seat which is held by those that wait for them."""

from __future__ import annotations

from apftop.findings.scene import Finder

FINDERS: tuple[Finder, ...] = ()
