"""One-shot looks: what the first of them asks besides, so that checks have dumps at both ends."""

from __future__ import annotations

from apftop.access import Access
from apftop.records.raw import CALLBACKS, OBJECTS, Endpoint, Sample
from apftop.report.looking import Servers, first_look
from tests.collect.loopback import DUMPS, GROUP, as_json, denied, running
from tests.derive.build import level_row, levels_dump
from tests.reach.asking import reaching
from tests.reach.server import Ca, Reply, Server

LEVELS, QUEUES, REQUESTS, METRICS = Endpoint.LEVELS, Endpoint.QUEUES, Endpoint.REQUESTS, Endpoint.METRICS
TOGETHER = [LEVELS, QUEUES, REQUESTS, METRICS]
FIRST = [LEVELS, Endpoint.DISCOVERY, *OBJECTS]


def looked(*accesses: Access) -> tuple[list[Sample], tuple[str, ...]]:
    return first_look(Servers(accesses, "a test", ()), 0.2)


def asked(samples: list[Sample]) -> list[Endpoint]:
    return [sample.endpoint for sample in samples if sample.endpoint not in (*CALLBACKS, Endpoint.LEASES)]


def many_waiting(server: Server, number: int) -> None:
    text = server.replies[f"{DUMPS}dump_priority_levels"].headers
    server.replies[f"{DUMPS}dump_priority_levels"] = Reply(
        200, levels_dump(level_row("load", number, 1, 1, 0, 0, 0), level_row("exempt", 0, 1, 1, 0, 0, 0)), text
    )


def test_dumps_come_directly_before_the_metrics_at_both_ends(ca: Ca) -> None:
    with running(ca) as (server,):
        samples, notes = looked(reaching(server, ca))

    assert asked(samples) == [*FIRST, *TOGETHER, *TOGETHER]
    assert notes == ()
    assert all(sample.ok for sample in samples)
    first, second = [sample.sent for sample in samples if sample.endpoint is METRICS]
    assert first is not None and second is not None
    assert second - first > 0.1


def test_a_dump_that_may_hold_the_server_up_is_left_out_of_the_first_look_with_the_reason(ca: Ca) -> None:
    with running(ca, 2) as servers:
        for server in servers:
            many_waiting(server, 40)
        samples, notes = looked(*(reaching(server, ca) for server in servers))
        names = ", ".join(sorted(f"127.0.0.1:{server.port}" for server in servers))

    for server in servers:
        own = [sample for sample in samples if sample.replica == f"127.0.0.1:{server.port}"]
        assert asked(own) == [*FIRST, LEVELS, QUEUES, METRICS, *TOGETHER]
    why = "about 42 rows of 500 B, and how fast the link is is not known yet"
    assert notes == (f"dump_requests of {names}: left out of the first look: {why}",)


def test_a_list_of_objects_tells_how_fast_the_link_is(ca: Ca) -> None:
    with running(ca) as (server,):
        many_waiting(server, 40)
        path = f"{GROUP}/v1/flowschemas"
        listed = as_json({"kind": "FlowSchemaList", "metadata": {"remainder": "x" * 20_000}, "items": []})
        server.replies[path] = Reply(200, listed, server.replies[path].headers)
        samples, notes = looked(reaching(server, ca))

    assert asked(samples) == [*FIRST, *TOGETHER, *TOGETHER]
    assert notes == ()


def test_what_says_how_large_a_dump_is_and_cannot_be_read_needs_no_further_words(ca: Ca) -> None:
    with running(ca) as (server,):
        for path in (f"{DUMPS}dump_priority_levels", f"{GROUP}/v1/prioritylevelconfigurations"):
            server.replies[path] = denied(path)
        samples, notes = looked(reaching(server, ca))

    assert asked(samples) == [*FIRST, LEVELS, METRICS, *TOGETHER]
    assert notes == ()
