"""Requests execute while they wait for others, which wait in a queue: seats are held by those who wait for seats."""

from __future__ import annotations

from apftop.findings.called_back import called_back
from apftop.findings.reviews import reviews_wait
from apftop.findings.scene import Finder
from apftop.findings.untold_callbacks import untold

FINDERS: tuple[Finder, ...] = (called_back, reviews_wait, untold)
