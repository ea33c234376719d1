"""What was said long ago is not shown as of today."""

from __future__ import annotations

from dataclasses import replace

from apftop.derive.frame import frame
from apftop.live import fold
from apftop.records.frame import Replica
from apftop.records.raw import Endpoint, Sample
from tests.derive.build import a_sample, level_row, levels_dump, queues_dump
from tests.derive.test_frame import requests_dump

ROWS = ("load", 0, 1, 0, 0, "0.00000000ss", 1, 1, "0.00000000ss")


def fetched(sample: Sample) -> Sample:
    """The sample as the network hands it on."""
    return replace(sample, begun=sample.sent)


def levels(t: float, status: int = 200) -> Sample:
    return fetched(replace(a_sample(levels_dump(level_row("load", 0, 1)), t, Endpoint.LEVELS), status=status))


def requests(t: float) -> Sample:
    return fetched(a_sample(requests_dump("ann", "bob"), t, Endpoint.REQUESTS))


def queues(t: float) -> Sample:
    return fetched(a_sample(queues_dump(ROWS), t, Endpoint.QUEUES))


def replica_of(*samples: Sample) -> Replica:
    return frame(fold(samples)).replicas["kas"]


def test_a_dump_that_is_asked_for_no_more_tells_nothing_after_a_while() -> None:
    soon = replica_of(levels(0.0), queues(0.1), requests(0.2), levels(30.0))
    late = replica_of(levels(0.0), queues(0.1), requests(0.2), levels(31.0))

    assert soon.requests is not None
    assert soon.levels["load"].queues is not None
    assert soon.levels["load"].inside is not None
    assert (late.requests, late.flows) == (None, ())
    assert (late.levels["load"].queues, late.levels["load"].inside) == (None, None)
    assert Endpoint.REQUESTS not in late.samples
    assert late.endpoints[Endpoint.REQUESTS] is None


def test_what_was_said_before_the_clock_was_set_back_is_of_another_time() -> None:
    def dated(t: float, date: float) -> Sample:
        return replace(levels(t), server_date=date)

    assert replica_of(dated(5000.0, 9000.0), requests(5000.2), dated(1402.0, 9002.0)).requests is None


def test_also_where_the_levels_cannot_be_read_any_more() -> None:
    assert replica_of(levels(0.0), requests(0.2), levels(31.0, 500)).requests is None
    assert replica_of(levels(0.0), requests(0.2), levels(2.0, 500)).requests is not None


def test_how_its_last_question_failed_is_no_problem_after_a_while_unless_it_was_denied() -> None:
    failed = Sample("kas", Endpoint.REQUESTS, error="connection refused", sent=0.2, received=0.2)
    denied = fetched(Sample("kas", Endpoint.REQUESTS, status=403, sent=0.2, received=0.2))

    assert replica_of(levels(0.0), failed, levels(2.0)).problems == ("connection refused",)
    assert replica_of(levels(0.0), failed, levels(60.0)).problems == ()
    assert "403 on the dumps" in replica_of(levels(0.0), denied, levels(60.0)).problems[0]


def test_dumps_that_somebody_saved_one_after_another_belong_together() -> None:
    saved = [replace(sample, begun=None) for sample in (requests(0.0), queues(50.0), levels(300.0))]

    replica = replica_of(*saved)

    assert replica.requests is not None
    assert replica.levels["load"].queues is not None
