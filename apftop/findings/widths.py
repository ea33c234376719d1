"""Wide requests: that dominate, that block others at the head of the line, that cost too little; watches that begin."""

from __future__ import annotations

from apftop.findings.scene import Finder

FINDERS: tuple[Finder, ...] = ()
