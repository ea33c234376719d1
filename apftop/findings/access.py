"""What cannot be seen: denied or missing endpoints, servers without APF, own requests that are refused."""

from __future__ import annotations

from apftop.findings.scene import Finder

FINDERS: tuple[Finder, ...] = ()
