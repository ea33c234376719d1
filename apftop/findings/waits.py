"""Waits near their limit, beyond the last bucket, and requests that left their queue unserved."""

from __future__ import annotations

from apftop.findings.scene import Finder

FINDERS: tuple[Finder, ...] = ()
