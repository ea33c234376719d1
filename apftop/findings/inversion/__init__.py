"""Requests execute while they wait for others, which wait in a queue: seats are held by those who wait for seats."""

from __future__ import annotations

from apftop.findings.inversion.called_back import called_back
from apftop.findings.inversion.reviews import reviews_wait
from apftop.findings.inversion.untold_callbacks import untold
from apftop.findings.scene import Finder

FINDERS: tuple[Finder, ...] = (called_back, reviews_wait, untold)
