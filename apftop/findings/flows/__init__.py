"""Who sends too much of one thing: one flow by accident, one kind of request, flows that share their queues."""

from __future__ import annotations

from apftop.findings.flows.one_flow import one_flow
from apftop.findings.flows.request_kind import request_kind
from apftop.findings.flows.shared_queues import shared
from apftop.findings.scene import Finder

FINDERS: tuple[Finder, ...] = (one_flow, request_kind, shared)
