"""Servers that hang or refuse: what one look still asks, and when."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import pytest

from apftop.access import Access
from apftop.failures import wait_s
from apftop.fetch import LOOK, Manner, Turn, run
from apftop.live import fold
from apftop.records.raw import OBJECTS, Endpoint, Sample
from tests.reach.asking import GROUP, LEVELS, look_at
from tests.reach.server import Reply, Server

SCHEMAS = f"{GROUP}/v1/flowschemas"
QUEUES = LEVELS.replace("priority_levels", "queues")
HASTY = Manner(first_byte_s=0.3)


def refusal(status: int, after: str | None = None) -> Reply:
    return Reply(status, b"Too many requests", [("Retry-After", after)] if after is not None else [])


def paths(server: Server) -> list[str]:
    return [seen.path for seen in server.seen]


def pause(samples: Sequence[Sample]) -> float:
    """Seconds between the first answer and the second question."""
    first, second = samples[0].received, samples[1].sent
    assert first is not None and second is not None
    return second - first


class TestHanging:
    def test_one_time_out_is_enough(self, server: Server, access: Access) -> None:
        server.replies[LEVELS] = Reply(how="hang")
        begun = time.monotonic()
        samples = look_at(access, manner=HASTY)
        assert time.monotonic() - begun < 1.5
        assert paths(server) == [LEVELS]
        assert [sample.endpoint for sample in samples] == list(LOOK)
        assert {sample.error for sample in samples} == {f"no answer in 0.3 s: 127.0.0.1:{server.port}{LEVELS}"}

    def test_the_deadline_of_the_whole_counts_too(self, server: Server, access: Access) -> None:
        server.replies[LEVELS] = Reply(how="hang")
        samples = look_at(access, manner=Manner(whole_s=0.3))
        assert paths(server) == [LEVELS]
        assert {sample.error.partition(" (")[0] for sample in samples} == {"not complete in 0.3 s"}

    def test_what_came_before_is_kept(self, server: Server, access: Access) -> None:
        server.replies["/metrics"] = Reply(how="hang")
        samples = look_at(access, manner=HASTY)
        assert [sample.endpoint for sample in samples] == list(LOOK)
        assert [sample.ok for sample in samples] == [True, True, True, False, False, False]
        assert len(server.seen) == 4

    def test_on_the_way_to_the_objects(self, server: Server, access: Access) -> None:
        server.replies[GROUP] = Reply(how="hang")
        samples = look_at(access, *OBJECTS, manner=HASTY)
        assert [sample.endpoint for sample in samples] == [Endpoint.DISCOVERY, *OBJECTS]
        assert {sample.error[:18] for sample in samples} == {"no answer in 0.3 s"}
        assert paths(server) == [GROUP]

    def test_among_the_objects(self, server: Server, access: Access) -> None:
        server.replies[SCHEMAS] = Reply(how="hang")
        samples = look_at(access, *OBJECTS, manner=HASTY)
        assert [sample.ok for sample in samples] == [True, False, False]
        assert paths(server) == [GROUP, SCHEMAS]

    def test_the_next_look_tries_again(self, server: Server, access: Access) -> None:
        server.replies[LEVELS] = Reply(how="hang")
        turns = [Turn((Endpoint.LEVELS, Endpoint.QUEUES)), Turn((Endpoint.QUEUES,))]
        assert [sample.ok for sample in run([access], turns, HASTY)] == [False, False, True]

    def test_a_look_that_goes_on_tries_again_where_something_was_answered(self, server: Server, access: Access) -> None:
        server.replies[GROUP] = Reply(how="hang")
        turns = [Turn((Endpoint.LEVELS, *OBJECTS)), Turn((Endpoint.QUEUES,), goes_on=True)]
        samples = run([access], turns, HASTY)
        assert [sample.ok for sample in samples] == [True, False, False, False, True]
        assert paths(server) == [LEVELS, GROUP, QUEUES]

    def test_a_look_that_goes_on_ends_where_nothing_was_answered(self, server: Server, access: Access) -> None:
        server.replies[LEVELS] = Reply(how="hang")
        turns = [Turn((Endpoint.LEVELS, *OBJECTS)), Turn((Endpoint.QUEUES,), goes_on=True)]
        samples = run([access], turns, HASTY)
        assert {sample.error for sample in samples} == {f"no answer in 0.3 s: 127.0.0.1:{server.port}{LEVELS}"}
        assert [sample.endpoint for sample in samples] == [Endpoint.LEVELS, *OBJECTS, Endpoint.QUEUES]
        assert paths(server) == [LEVELS]

    @pytest.mark.parametrize("path", [LEVELS, "/metrics", SCHEMAS])
    def test_silence_within_a_body_stays_with_its_endpoint(self, server: Server, access: Access, path: str) -> None:
        server.replies[path] = Reply(body=b"half", how="stall")
        samples = look_at(access, manner=HASTY)
        assert [sample.error[:16] for sample in samples if sample.error] == ["silent for 0.3 s"]
        assert len(server.seen) == 7

    @pytest.mark.parametrize("how", ["reset", "close", "garbage"])
    def test_a_broken_connection_stays_with_its_endpoint(self, server: Server, access: Access, how: str) -> None:
        server.replies[LEVELS] = Reply(how=how)  # type: ignore[arg-type]
        assert [sample.ok for sample in look_at(access)] == [False] + 6 * [True]


class TestRetryAfter:
    @pytest.mark.parametrize(
        ("status", "after", "seconds"),
        [
            (429, "0", 0),
            (429, "1", 1),
            (429, "9999", 9999),
            (429, "9" * 400, math.inf),
            (429, "", 1),
            (429, "soon", 1),
            (429, "-5", 1),
            (429, "1.5", 1),
            (429, "\u0665", 1),
            (429, "Mon, 01 Jan 2024 00:00:00 GMT", 1),
            (503, "3", 3),
            (503, "", 0),
            (503, "soon", 0),
            (500, "3", 0),
            (403, "3", 0),
            (200, "3", 0),
            (None, "3", 0),
        ],
    )
    def test_how_long(self, status: int | None, after: str, seconds: float) -> None:
        assert wait_s(status, after) == seconds

    @pytest.mark.parametrize(
        ("status", "after", "waits"),
        [
            (429, "1", True),
            (429, None, True),
            (503, "1", True),
            (429, "0", False),
            (503, None, False),
            (403, "1", False),
        ],
    )
    def test_the_next_question_waits(
        self, server: Server, access: Access, status: int, after: str | None, waits: bool
    ) -> None:
        server.replies[LEVELS] = refusal(status, after)
        samples = look_at(access, Endpoint.LEVELS, Endpoint.QUEUES, Endpoint.REQUESTS)
        assert [sample.status for sample in samples] == [status, 200, 200]
        assert (0.9 < pause(samples) < 2.5) if waits else pause(samples) < 0.5
        assert pause(samples[1:]) < 0.5

    def test_nothing_waits_after_the_last_question(self, server: Server, access: Access) -> None:
        server.replies[LEVELS] = refusal(429, "1")
        begun = time.monotonic()
        look_at(access, Endpoint.LEVELS)
        assert time.monotonic() - begun < 0.9

    @pytest.mark.parametrize("status", [429, 503])
    def test_more_than_the_patience(self, server: Server, access: Access, status: int) -> None:
        server.replies[LEVELS] = refusal(status, "11")
        begun = time.monotonic()
        samples = look_at(access)
        assert time.monotonic() - begun < 1
        assert paths(server) == [LEVELS]
        assert [sample.endpoint for sample in samples] == list(LOOK)
        assert (samples[0].status, samples[0].error) == (status, "")
        assert {(sample.status, sample.error, sample.headers) for sample in samples[1:]} == {
            (None, "not asked: the server said to wait 11 s", ())
        }
        (replica,) = fold(samples).replicas.values()
        assert replica.bytes_received == len(b"Too many requests")
        assert replica.problems == ()

    def test_as_much_as_the_patience(self, server: Server, access: Access) -> None:
        server.replies[LEVELS] = refusal(429, "1")
        wants = (Endpoint.LEVELS, Endpoint.QUEUES)
        assert [sample.status for sample in look_at(access, *wants, manner=Manner(patience_s=1.0))] == [429, 200]
        assert [sample.status for sample in look_at(access, *wants, manner=Manner(patience_s=0.9))] == [429, None]

    @pytest.mark.parametrize("digits", [40, 350])
    def test_more_than_anybody_has(self, server: Server, access: Access, digits: int) -> None:
        server.replies[LEVELS] = refusal(429, "9" * digits)
        samples = look_at(access, Endpoint.LEVELS, Endpoint.QUEUES)
        assert samples[1].error == f"not asked: the server said to wait {'9' * 17}... s"

    def test_on_the_way_to_the_objects(self, server: Server, access: Access) -> None:
        server.replies[GROUP] = refusal(429, "60")
        samples = look_at(access, *OBJECTS)
        assert paths(server) == [GROUP]
        assert [(sample.endpoint, sample.status) for sample in samples] == [
            (Endpoint.DISCOVERY, 429),
            (Endpoint.SCHEMAS, None),
            (Endpoint.CONFIGS, None),
        ]

    def test_among_the_objects(self, server: Server, access: Access) -> None:
        server.replies[SCHEMAS] = refusal(503, "60")
        samples = look_at(access, *OBJECTS)
        assert paths(server) == [GROUP, SCHEMAS]
        assert [sample.status for sample in samples] == [200, 503, None]

    def test_a_look_that_goes_on_keeps_its_patience(self, server: Server, access: Access) -> None:
        server.replies[GROUP] = refusal(429, "60")
        turns = [Turn((Endpoint.LEVELS, *OBJECTS)), Turn((Endpoint.QUEUES,), goes_on=True)]
        samples = run([access], turns)
        assert samples[-1].error == "not asked: the server said to wait 60 s"
        assert paths(server) == [LEVELS, GROUP]

    def test_the_next_look_asks_again(self, server: Server, access: Access) -> None:
        server.replies[LEVELS] = refusal(429, "60")
        turns = [Turn((Endpoint.LEVELS, Endpoint.QUEUES)), Turn((Endpoint.QUEUES,))]
        assert [sample.status for sample in run([access], turns)] == [429, None, 200]
