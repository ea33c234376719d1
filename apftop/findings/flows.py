"""Who sends too much of one thing: one flow by accident, one kind of request, flows that share their queues."""

from __future__ import annotations

from apftop.findings.one_flow import one_flow
from apftop.findings.request_kind import request_kind
from apftop.findings.scene import Finder
from apftop.findings.shared_queues import shared

FINDERS: tuple[Finder, ...] = (one_flow, request_kind, shared)
