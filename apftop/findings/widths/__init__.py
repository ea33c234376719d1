"""The width of requests: wide ones dominate, one stops all others, LISTs that are too cheap, watches that begin."""

from __future__ import annotations

from apftop.findings.scene import Finder
from apftop.findings.widths.head_of_line import head_of_line
from apftop.findings.widths.priced import seat_cap_one
from apftop.findings.widths.watches import watch_initialisation
from apftop.findings.widths.wide import wide_requests

FINDERS: tuple[Finder, ...] = (wide_requests, head_of_line, seat_cap_one, watch_initialisation)
