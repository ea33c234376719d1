"""Who sends too much of one thing: one flow by accident, clients that retry, one kind of request."""

from __future__ import annotations

from apftop.findings.scene import Finder

FINDERS: tuple[Finder, ...] = ()
