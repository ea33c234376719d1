"""The server's clock at a dump of requests, by which ages are told."""

from __future__ import annotations

import pytest

from apftop.derive.frame import frame
from apftop.live import fold
from apftop.records.frame import Replica
from apftop.records.raw import DUMP_PATHS, Endpoint, Sample
from tests.derive.build import table

AT = 1775988180.0
"""2026-04-12T10:03:00Z."""

NEVER = "0001-01-01T00:00:00Z"
COLUMNS = (
    *("PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher", "ArriveTime"),
    *("InitialSeats", "FinalSeats", "AdditionalLatency", "StartTime"),
    *("UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource"),
)


def second(after: float) -> str:
    return f"2026-04-12T10:03:{after:09.6f}Z"


def waiting(arrived: float) -> tuple[object, ...]:
    nodes = ("ann", "list", "/api/v1/nodes", "", "", "v1", "nodes", "")
    return ("load", "load", 2, 0, "ann", second(arrived), 1, 0, "0s", NEVER, *nodes)


def own(arrived: float, started: float) -> tuple[object, ...]:
    question = ("me", "get", DUMP_PATHS + Endpoint.REQUESTS, "", "", "", "", "")
    return ("load", "load", 5, -1, "me", second(arrived), 1, 0, "0s", second(started), *question)


def replica_of(*rows: tuple[object, ...], sent: float, received: float) -> Replica:
    """A dump by this machine's clock, which is 100 s ahead of the server's."""
    body = table(COLUMNS, *rows)
    sample = Sample("kas", Endpoint.REQUESTS, body, 200, sent=AT + 100 + sent, received=AT + 100 + received)
    return frame(fold([sample])).replicas["kas"]


def test_the_dump_was_taken_when_its_own_request_came() -> None:
    replica = replica_of(waiting(10.0), own(12.0, 12.0), sent=11.9, received=12.1)

    assert [row.age_s for row in replica.requests or ()] == [2.0, 0.0]
    assert replica.clock.skew_s == pytest.approx(100.0)
    assert replica.clock.tolerance_s == pytest.approx(0.1)


def test_where_that_waited_in_a_queue_it_was_taken_when_it_started() -> None:
    # Somebody else came while it waited.
    replica = replica_of(waiting(10.0), waiting(18.0), own(12.0, 19.0), sent=11.9, received=19.1)

    assert [row.age_s for row in replica.requests or ()] == [9.0, 1.0, 7.0]
    assert replica.problems == ()
    assert replica.clock.skew_s == pytest.approx(100.0)
    assert replica.clock.tolerance_s == pytest.approx(0.1)


def test_of_several_readers_the_last_to_start_is_nearest() -> None:
    replica = replica_of(waiting(10.0), own(1.0, 9.0), own(12.0, 12.0), sent=11.9, received=12.1)

    assert next(row.age_s for row in replica.requests or ()) == 2.0
    assert replica.clock.skew_s == pytest.approx(100.0)
