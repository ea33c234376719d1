"""Samples of servers on loopback become moments, and what is asked follows from them."""

from __future__ import annotations

import json
import logging
import queue
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pytest

from apftop import deriving, watching
from apftop.access import Access
from apftop.derive.frame import frame
from apftop.deriving import moment
from apftop.errors import Trouble
from apftop.kept import Kept, keep
from apftop.live import OWN_KEPT, fold, observe
from apftop.records.asking import Demand
from apftop.records.frame import Level
from apftop.records.moment import Moment
from apftop.records.raw import DUMP_PATHS, FLOW_SCHEMA_UID, LEVEL_UID, Endpoint, Sample
from apftop.records.state import State
from apftop.watching import Item, OpenHistory, Watching, newest
from tests.derive.build import a_sample, dispatched, exposition, level_row, levels_dump
from tests.derive.test_frame import configs, requests_dump, schemas
from tests.reach.server import Ca, Reply, Server

LEVELS, REQUESTS, METRICS = DUMP_PATHS + Endpoint.LEVELS, DUMP_PATHS + Endpoint.REQUESTS, "/metrics"
GROUP = "/apis/flowcontrol.apiserver.k8s.io"
PATIENCE_S = 30.0


def text(body: bytes, status: int = 200) -> Reply:
    return Reply(status, body, [("Content-Type", "text/plain; version=0.0.4")])


def levels(waiting: int) -> Reply:
    return text(levels_dump(level_row("load", waiting, 2, 10, 0, 0, 0)))


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> Ca:
    return Ca(tmp_path_factory.mktemp("ca"))


@pytest.fixture
def server(ca: Ca) -> Iterator[Server]:
    """A server with one level in which nothing waits."""
    with Server(ca) as running:
        running.replies |= {
            LEVELS: levels(0),
            REQUESTS: text(requests_dump("ann", "bob")),
            METRICS: text(exposition(dispatched(10))),
            GROUP: Reply(404),
            "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases": Reply(403),
        }
        yield running


@pytest.fixture
def access(server: Server, ca: Ca) -> Access:
    return Access("kas", server.url, ca_file=str(ca.ca_file))


@dataclass
class Watched:
    """A watching, and the moments that it gave."""

    watching: Watching
    moments: queue.SimpleQueue[Moment]

    def until(self, holds: Callable[[Moment], object]) -> Moment:
        """The first moment from now on of which something holds."""
        ends = time.monotonic() + PATIENCE_S
        while time.monotonic() < ends:
            found = self.moments.get(timeout=PATIENCE_S)
            if holds(found):
                return found
        raise AssertionError("no such moment")


class FullDisk:
    """Where only the first records of a tape have room."""

    def __init__(self) -> None:
        self.written = 0

    def full(self, now: float) -> bool:
        return False

    def write(self, piece: bytes, now: float, *, begins: bool) -> None:
        self.written += 1
        if self.written > 3:
            raise Trouble("the tape cannot be written on (no space left on device)", "tape")

    def close(self) -> None:
        """Nothing is there to be made sure of."""


@contextmanager
def watched(*ways: Access, demand: Demand = Demand(), discover: bool = False) -> Iterator[Watched]:  # noqa: B008  frozen
    moments: queue.SimpleQueue[Moment] = queue.SimpleQueue()
    made = Watching(
        ways, discover=discover, source="a test", request_timeout_s=None, on_moment=moments.put, demand=demand
    )
    made.start()
    try:
        yield Watched(made, moments)
    finally:
        made.stop()


def load(found: Moment) -> Level | None:
    return found.frame.replicas["kas"].levels.get("load") if "kas" in found.frame.replicas else None


def waiting(found: Moment) -> float | None:
    level = load(found)
    return level.waiting if level else None


def pace(found: Moment) -> object:
    level = load(found)
    return level.pace if level else None


def test_moments_follow_what_the_server_says(server: Server, access: Access) -> None:
    with watched(access, demand=Demand(interval_s=1.0)) as seen:
        first = seen.until(lambda one: waiting(one) == 0)
        server.replies[LEVELS] = levels(7)
        later = seen.until(lambda one: waiting(one) == 7)

    assert (first.source, later.source) == ("a test", "a test")
    assert 0 < first.number < later.number
    assert abs(later.now - time.time()) < PATIENCE_S
    assert later.trends["kas", "load"].waiting[-1] == 7
    assert later.plans["kas"].every_s[Endpoint.LEVELS] == 1.0


def test_requests_are_asked_for_once_something_waits(server: Server, access: Access) -> None:
    with watched(access, demand=Demand(interval_s=1.0)) as seen:
        first = seen.until(pace)
        server.replies[LEVELS] = levels(2)
        later = seen.until(lambda one: one.frame.replicas["kas"].requests)

    assert first.frame.replicas["kas"].requests is None
    assert [flow.flow for flow in later.frame.replicas["kas"].flows] == ["ann", "bob"]


def test_what_a_reader_wants_is_asked_for(access: Access) -> None:
    with watched(access, demand=Demand(interval_s=1.0)) as seen:
        seen.until(lambda one: waiting(one) == 0)
        seen.watching.want(Demand(interval_s=1.0, needs=frozenset({Endpoint.REQUESTS})))

        assert seen.until(lambda one: one.frame.replicas["kas"].requests)


def test_replicas_that_are_found_are_shown_by_their_own_names(server: Server, access: Access) -> None:
    slice_ = {"endpoints": [{"addresses": ["127.0.0.1"]}], "ports": [{"port": server.port, "protocol": "TCP"}]}
    body = json.dumps({"kind": "EndpointSliceList", "items": [slice_]}).encode()
    server.replies["/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"] = Reply(body=body)
    with watched(access, discover=True) as seen:
        found = seen.until(lambda one: any(replica.levels for replica in one.frame.replicas.values()))

    assert set(found.frame.replicas) == {f"127.0.0.1:{server.port}"}


def test_a_wake_asks_at_once(server: Server, access: Access) -> None:
    slow = Demand(interval_s=3600.0)
    with watched(access, demand=slow) as seen:
        seen.until(lambda one: waiting(one) == 0)
        server.replies[LEVELS] = levels(7)
        # What was asked for less than a second before is not asked for again.
        time.sleep(1.1)
        seen.watching.want(replace(slow, wake=1))

        assert seen.until(lambda one: waiting(one) == 7)


def test_the_samples_of_a_moment_give_its_frame_again(access: Access) -> None:
    with watched(access, demand=Demand(interval_s=1.0, needs=frozenset({Endpoint.REQUESTS}))) as seen:
        found = seen.until(lambda one: waiting(one) is not None and pace(one) and one.frame.replicas["kas"].requests)

    again = frame(fold(found.samples)).replicas["kas"]
    shown = found.frame.replicas["kas"]
    assert (again.levels, again.requests, again.flows) == (shown.levels, shown.requests, shown.flows)
    assert [one.received for one in found.samples] == sorted(one.received or 0.0 for one in found.samples)


def test_a_frame_that_cannot_be_derived_is_told_and_the_polling_goes_on(
    server: Server, access: Access, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(state: State, request_timeout_s: float | None = None, **known: object) -> None:
        raise KeyError("odd")

    with watched(access, demand=Demand(interval_s=1.0)) as seen:
        good = seen.until(lambda one: waiting(one) == 0)
        with monkeypatch.context() as patch, caplog.at_level(logging.ERROR, "apftop"):
            patch.setattr(deriving, "frame", fails)
            odd = seen.until(lambda one: one.news)
        server.replies[LEVELS] = levels(7)
        after = seen.until(lambda one: waiting(one) == 7)

    assert odd.news == ("cannot derive what to show: KeyError: see --debug",)
    assert waiting(odd) == waiting(good)
    assert odd.number < after.number
    assert "odd" in caplog.text


def test_a_moment_has_what_is_found_in_it_and_since_when(access: Access) -> None:
    with watched(access, demand=Demand(interval_s=1.0)) as seen:
        first = seen.until(lambda one: one.findings.found)
        key = first.findings.found[0].key
        later = seen.until(lambda one: one.now > first.now and key in one.since)

    assert first.since.keys() == {one.key for one in first.findings.found}
    assert later.since[key] == first.since[key]


def test_causes_that_cannot_be_found_are_told_and_the_numbers_are_shown(
    server: Server, access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise KeyError("odd")

    monkeypatch.setattr(deriving, "causes", fails)
    with watched(access, demand=Demand(interval_s=1.0)) as seen:
        server.replies[LEVELS] = levels(7)
        found = seen.until(lambda one: waiting(one) == 7 and one.news)

    assert found.news == ("cannot find causes: KeyError: see --debug",)
    assert (found.findings.found, found.findings.verdict) == ((), "unknown")


def test_an_answer_that_cannot_be_taken_in_is_told_and_the_others_are(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails_on_metrics(state: State, sample: Sample) -> State:
        if sample.endpoint is Endpoint.METRICS:
            raise KeyError("odd")
        return observe(state, sample)

    monkeypatch.setattr(deriving, "observe", fails_on_metrics)
    with watched(access) as seen:
        found = seen.until(lambda one: one.news and waiting(one) == 0)

    assert found.news == ("cannot read metrics of kas: KeyError: see --debug",)


def test_many_answers_are_few_moments(access: Access) -> None:
    ways = [replace(access, name=f"kas{number}") for number in range(12)]
    with watched(*ways, demand=Demand(interval_s=1.0)) as seen:
        begun = time.monotonic()
        last = seen.until(lambda one: len(one.samples) >= 4 * len(ways))
        took = time.monotonic() - begun

    assert last.number <= took / watching.MOMENT_EVERY_S + 2
    assert set(last.plans) == {way.name for way in ways}


def test_a_server_that_hangs_does_not_keep_from_stopping_nor_the_others_from_being_shown(
    server: Server, access: Access, ca: Ca
) -> None:
    with Server(ca) as hung:
        hung.replies |= dict.fromkeys((LEVELS, METRICS, GROUP), Reply(how="hang"))
        with watched(replace(access, name="hung", url=hung.url), access, demand=Demand(interval_s=1.0)) as seen:
            seen.until(lambda one: waiting(one) == 0)
            server.replies[LEVELS] = levels(7)
            seen.until(lambda one: waiting(one) == 7)
            begun = time.monotonic()
            seen.watching.stop()
            stopped_after = time.monotonic() - begun
            number = 0
            while not seen.moments.empty():
                number = seen.moments.get().number
            time.sleep(1.5)
            # One may have been on its way.
            late = [seen.moments.get().number for _ in range(seen.moments.qsize())]

    assert stopped_after < 0.5
    assert late in ([], [number + 1])


def kept(*samples: Sample) -> list[float | None]:
    found: Kept = {}
    for sample in samples:
        found = keep(found, sample)
    return [one.received for some in found.values() for one in some]


def test_the_answers_are_kept_that_a_frame_stands_on() -> None:
    def at(endpoint: Endpoint, *times: float, status: int = 200) -> list[Sample]:
        return [replace(a_sample(b"", t, endpoint), status=status) for t in times]

    assert kept(*at(Endpoint.METRICS, 1, 2, 3)) == [2, 3]
    assert kept(*at(Endpoint.LEVELS, 1, 2, 3)) == [2, 3]
    assert kept(*at(Endpoint.QUEUES, 1, 2)) == [2]
    # What fails now does not take away what was read before, and is kept for as long as it lasts.
    assert kept(*at(Endpoint.METRICS, 1, 2), *at(Endpoint.METRICS, 3, 4, status=403)) == [1, 2, 4]
    assert kept(*at(Endpoint.CONFIGS, 1), *at(Endpoint.CONFIGS, 2, status=403), *at(Endpoint.CONFIGS, 3)) == [3]


def test_what_came_before_the_clock_was_set_back_makes_room() -> None:
    def at(t: float) -> Sample:
        return a_sample(b"", t, Endpoint.LEVELS)

    assert kept(at(5000), at(5002), at(1404)) == [1404]
    assert kept(at(5000), at(5002), at(1404), at(1406)) == [1404, 1406]


def test_no_more_is_kept_however_long_an_endpoint_fails() -> None:
    def of_ours(t: float, endpoint: Endpoint, status: int = 200) -> Sample:
        return replace(a_sample(b"", t, endpoint), status=status, headers=((LEVEL_UID, "uid-load"),))

    outage = [
        of_ours(2.0 + t, Endpoint.LEVELS if t % 4 else Endpoint.METRICS, 200 if t % 4 else 500) for t in range(3000)
    ]

    assert len(kept(of_ours(0.0, Endpoint.METRICS), of_ours(1.0, Endpoint.METRICS), *outage)) <= OWN_KEPT + 5


def test_who_falls_behind_reads_the_newest_answers_only_and_counts_all() -> None:
    def at(t: float, endpoint: Endpoint = Endpoint.LEVELS, status: int = 200, replica: str = "kas") -> Sample:
        return replace(a_sample(b"body", t, endpoint, replica), status=status, headers=((LEVEL_UID, "uid-load"),))

    requests, other = at(1.0, Endpoint.REQUESTS), at(1.5, replica="other")
    batch: list[Item] = [at(1.0), requests, "news", other, at(2.0), at(3.0, status=429), Demand(), at(4.0), None]

    found = newest(batch)

    overtaken = replace(at(1.0), endpoint=Endpoint.DISCOVERY, body=b"")
    assert found == [overtaken, *batch[1:]]
    assert newest(batch[:5]) == batch[:5]


def test_requests_of_ours_that_made_room_for_later_ones_are_counted_all_the_same() -> None:
    headers = ((FLOW_SCHEMA_UID, "fs-load"), (LEVEL_UID, "uid-load"))

    def of_ours(t: float, endpoint: Endpoint = Endpoint.LEVELS) -> Sample:
        body = levels_dump(level_row("load", 0, 1, int(t), 0, 0, 0))
        metrics = exposition(dispatched(100 + t))
        return replace(a_sample(metrics if endpoint is Endpoint.METRICS else body, t, endpoint), headers=headers)

    samples = [
        a_sample(configs("load"), 0.1, Endpoint.CONFIGS),
        a_sample(schemas("load"), 0.2, Endpoint.SCHEMAS),
        of_ours(1.0),
        of_ours(2.0, Endpoint.METRICS),
        *map(of_ours, (3.0, 4.0, 5.0, 6.0)),
        of_ours(7.0, Endpoint.METRICS),
        of_ours(8.0),
    ]
    held: Kept = {}
    for sample in samples:
        held = keep(held, sample)
    found = moment(fold(samples), 1, "", {}, {}, (), held)
    again = frame(fold(found.samples))

    assert len(found.samples) < len(samples)
    assert again.replicas["kas"].levels == found.frame.replicas["kas"].levels
    counts = found.frame.replicas["kas"].levels["load"].counts
    assert counts is not None and counts.dispatched == 0.0


def test_a_moment_can_be_made_of_any_samples() -> None:
    samples = [
        a_sample(configs("load"), 1.0, Endpoint.CONFIGS),
        a_sample(levels_dump(level_row("load", 3, 1, 1, 0, 0, 0)), 2.0, Endpoint.LEVELS),
    ]
    held: Kept = {}
    for sample in reversed(samples):
        held = keep(held, sample)
    found = moment(fold(samples), 5, "a file", {}, {}, ("read",), held)

    assert (found.number, found.source, found.now, found.news) == (5, "a file", 2.0, ("read",))
    assert found.frame == frame(fold(samples))
    assert found.samples == tuple(samples)
    assert found.trends["kas", "load"].waiting == (3,)


def test_a_disk_that_is_full_is_told_once_and_the_screen_lives_on(server: Server, access: Access) -> None:
    moments: queue.SimpleQueue[Moment] = queue.SimpleQueue()
    watching = Watching(
        [access],
        discover=False,
        source="a test",
        request_timeout_s=None,
        on_moment=moments.put,
        demand=Demand(1.0),
        sink=FullDisk(),
    )
    watching.start()
    try:
        seen = Watched(watching, moments)
        told = seen.until(lambda one: any("cannot be written on" in line for line in one.news))
        server.replies[LEVELS] = levels(7)
        later = seen.until(lambda one: waiting(one) == 7)
    finally:
        watching.stop()

    assert sum("cannot be written on" in line for line in later.news) == 1
    assert told.number < later.number
    assert watching.rewound(moments.put) is not None


def test_the_history_of_a_watching_is_what_it_was_given(access: Access) -> None:
    def watching(history: OpenHistory | None = None) -> Watching:
        return Watching(
            [access], discover=False, source="a test", request_timeout_s=None, on_moment=print, history=history
        )

    given = watching().rewound(print)
    assert watching().history(print) is None
    assert watching(history=lambda _: given).history(print) is given
