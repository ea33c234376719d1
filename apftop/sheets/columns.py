"""Columns that several views have."""

from __future__ import annotations

from apftop.sheets.sheet import Column

TWO_METRICS = "two answers of metrics, without apftop's own requests"

REPLICA = Column(
    "replica", "REPLICA", 7, "API server that the row is about", "the server asked", "text", 40, rank=1, ends=True
)
LEVEL = Column("level", "LEVEL", 14, "priority level", "dump_priority_levels, objects, metrics", "text", most=40)
SCHEMA = Column("schema", "SCHEMA", 14, "flow schema", "objects, metrics, dump_requests", "text", most=40)
DISPATCHED = Column("dispatched", "DISP/S", 7, "requests that began to execute, a second", TWO_METRICS, rank=3)
REJECTED = Column(
    "rejected", "REJ/S", 6, "requests that were refused or left their queue, a second", TWO_METRICS, rank=1
)
WAITING = Column("waiting", "WAITING", 7, "requests in the queues now", "dump_priority_levels, else metrics")
WAIT_P95 = Column(
    "wait_p95",
    "WAIT p95",
    11,
    "the bounds in seconds between which the 95th percentile of the waits in the queue lies, of requests that were "
    "served; > is beyond the last bound; most requests need not wait and count as 0; of a sum, that of the worst "
    "replica",
    "request_wait_duration_seconds in two answers of metrics, time-outs taken out",
    "seconds",
    rank=2,
)
OLDEST = Column(
    "oldest",
    "OLDEST",
    6,
    "age in seconds of the request that has waited longest; of a sum, on any replica",
    "dump_requests, by the server's clock",
    "seconds",
    rank=4,
)
