"""Checks for tests, as they come beside a frame: of one level where requests waited, and of its server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from apftop.records.checks import (
    Check,
    Checks,
    FlowWaits,
    Followed,
    LevelChecks,
    Prediction,
    ReplicaChecks,
    RequestKey,
    Span,
    Start,
)
from apftop.records.frame import Request
from apftop.records.moment import Moment

ARRIVALS = Check("arrivals", "ok", 5170.0, (5168.0, 5168.0), 103.4, "requests", seconds=10.2)
WAITING = Check("waiting-time", "ok", 87.2, (86.4, 86.4), 6.1, "request-seconds", seconds=10.2)
HAND = Check(
    "hand",
    "off",
    3.0,
    (0.0, 0.0),
    0.0,
    "requests",
    about="flow bob",
    reason="the hand is not the one that the objects deal: an object has changed, or is of another server",
)
ORDER = Check("order", "unknown", missing="no dump of requests next to the metrics")
SEATS = Check("seats-within-limit", "ok", 39.0, (None, 39.0), 0.0, "seats", about="all queues")
CLOCK = Check(
    "clock",
    "off",
    2.1,
    (0.0, 0.012),
    0.02,
    "s",
    reason="its clock is not the one that its dumps are read by",
)
IN_TIME = replace(CLOCK, verdict="ok", observed=0.004, reason="")

BAND = Prediction(
    mean_wait=Span(0.094, 0.21, 0.48),
    observed=0.236,
    low=0.08,
    high=0.553,
    runs=64,
    intervals=3,
    seconds=10.2,
    at=1775988180.0,
)
FLOWS = (
    FlowWaits("service-accounts", "system:serviceaccount:build:runner", 12, 0.252, 1.21, 30, 0.41),
    FlowWaits("service-accounts", "alice", 3, 0.016, 0.04, 0, None),
    FlowWaits("service-accounts", "bob", 0, None, None, 7, 0.2),
)
WAITED = LevelChecks(
    checks=(HAND, ARRIVALS, WAITING, SEATS, ORDER),
    observed_wait_s=0.24,
    little_s=0.231,
    prediction=BAND,
    flows=FLOWS,
    followed=Followed(waited=42, executing=12, still_waiting=3, gone=27),
)
CALM = LevelChecks(checks=(ARRIVALS,), observed_wait_s=0.00002, little_s=0.00001)


def with_checks(
    moment: Moment, levels: Mapping[str, LevelChecks], *checks: Check, replica: str | None = None
) -> Moment:
    """The same moment with checks on one replica, or on all of them."""
    names = moment.frame.replicas if replica is None else [replica]
    found: Checks = {**moment.checks, **{name: ReplicaChecks(checks, levels) for name in names}}
    return replace(moment, checks=found)


def key_of(request: Request) -> RequestKey:
    return RequestKey(request.arrive_ns, request.schema, request.user or "")


def starts(moment: Moment, level: str, replica: str) -> dict[RequestKey, Start]:
    """A start for each request that waits in a level: the later the place in its queue, the later it starts."""
    return {
        key_of(one): Start(Span(0.02 * one.index, 0.02 * one.index + 0.05, 0.02 * one.index + 0.3), 10.0, 64)
        for one in moment.frame.replicas[replica].requests or ()
        if one.level == level and not one.executing
    }
