"""Queues of a level, with who is in them."""

from __future__ import annotations

from dataclasses import replace

from apftop.derive.frame import frame
from apftop.live import fold
from apftop.records.frame import Queue
from apftop.records.raw import Endpoint, Sample
from tests.derive.build import a_sample, dispatched, exposition, queues_dump
from tests.derive.test_frame import configs, levels_dump, requests_dump, schemas

QUEUES = a_sample(
    queues_dump(
        ("load", 0, 0, 0, 0, "0.00000000ss", 0, 0, "0.00000000ss"),
        ("load", 2, 3, 2, 5, "1523.40012500ss", 3, 12, "0.03600000ss"),
        ("other", 0, 1, 0, 0, "0.00000000ss", 1, 1, "60.00000000ss"),
    ),
    0.0,
    Endpoint.QUEUES,
)
OBJECTS = a_sample(configs("load", "other"), 0.0, Endpoint.CONFIGS)


def queues_of(*samples: Sample) -> tuple[Queue, ...] | None:
    return frame(fold(samples)).replicas["kas"].levels["load"].queues


def test_without_a_dump_queues_are_unknown() -> None:
    assert queues_of(OBJECTS, a_sample(exposition(dispatched(1)), 0.0)) is None


def test_numbers_are_in_seats_and_seat_seconds() -> None:
    found = queues_of(OBJECTS, QUEUES)

    assert found is not None
    assert [queue.index for queue in found] == [0, 2]
    assert found[1] == Queue(
        level="load",
        index=2,
        waiting=3,
        executing=2,
        seats_in_use=5,
        waiting_seats=12,
        next_dispatch_r=1523.400125,
        work=0.036,
        next=False,
        flows=None,
        oldest_waiting_s=None,
    )


def test_a_queue_names_its_flows_most_requests_first_and_its_oldest() -> None:
    rows = requests_dump("bob", "ann", "ann", queue=2)
    found = queues_of(OBJECTS, QUEUES, Sample("kas", Endpoint.REQUESTS, rows, 200, server_time=1775988185.0))

    assert found is not None
    assert [(queue.flows, queue.next) for queue in found] == [((), False), (("ann", "bob"), True)]
    # They arrived at 10:03:00.
    assert [queue.oldest_waiting_s for queue in found] == [None, 5.0]


def test_a_level_without_rows_has_no_queues() -> None:
    found = frame(fold([OBJECTS, QUEUES, a_sample(exposition(dispatched(1, "exempt", "exempt")), 0.0)]))

    assert found.replicas["kas"].levels["exempt"].queues == ()


def test_the_question_for_the_queues_is_no_seat_of_the_load() -> None:
    own = (("x-kubernetes-pf-flowschema-uid", "fs-load"), ("x-kubernetes-pf-prioritylevel-uid", "uid-load"))
    asked = replace(QUEUES, headers=own)
    schema = a_sample(schemas("load"), 0.0, Endpoint.SCHEMAS)
    dump = a_sample(levels_dump("load"), 0.0, Endpoint.LEVELS)

    levels = [frame(fold([OBJECTS, schema, dump, one])).replicas["kas"].levels["load"] for one in (QUEUES, asked)]

    assert [level.seats_in_use for level in levels] == [5, 4]
    # In the queues themselves it is, like any other.
    assert [sum(queue.seats_in_use for queue in level.queues or ()) for level in levels] == [5, 5]
