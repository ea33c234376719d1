"""What polling does to real servers: it holds nobody up, breaks nothing off, and asks no more than its plan says."""

from __future__ import annotations

import http.client
import ssl
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

import pytest

from apftop.access import Access
from apftop.fetch import Manner, path_of
from apftop.parse.body import picker_of_apf
from apftop.poll.net import Net
from apftop.records.asking import Demand, Plan
from apftop.records.moment import Moment
from apftop.records.raw import LEVEL_UID, Endpoint, Sample
from apftop.rules import rules
from tests.planes import load
from tests.planes.client import Client
from tests.planes.flow import apply_flow, flow_schema, priority_level, remove_flow
from tests.planes.looks import look
from tests.planes.objects import allow, revoke, wait_on_replicas
from tests.planes.observe import metric
from tests.planes.pings import pinging
from tests.planes.plane import Plane
from tests.planes.slow_link import link_to
from tests.planes.users import MICE
from tests.planes.watched import watching, ways
from tests.ui.terminal import Pty

STUCK = "stuck"
LONG_NAME = "n" * 250
CROWD = 40
FEW = 12
"""Together too many for a slow link, and few enough for a fast one on a busy machine."""
HOLD_S = 0.05
LINK_BYTES_PER_S = 250_000.0
ROUNDS = 5
"""A busy machine holds answers up too; in one round of so many it does not."""
CALM_S = 2.0
LOOKED_AT = Demand(interval_s=1.0, needs=frozenset({Endpoint.REQUESTS}))

BROKEN_OFF = (
    "apiserver_request_terminations_total",
    "apiserver_request_aborts_total",
    "apiserver_request_post_timeout_total",
)
COUNTED_S = 1.0
"""After so long a server has counted what was broken off."""
HOUR_S, PARTS = 3600.0, 12
AT_ONCE, SELDOM = 10_000.0, 3.0
LONG_S = 60.0
ANSWER_S, BEGUN_BYTES = 0.2, 100_000
MINUTE_S, SPED_UP = 60.0, 12.0
HEAD_BYTES, SHAKE_BYTES = 1500, 8000
"""At most so many go with each answer and with each connection besides."""

Span = tuple[float, float]
"""From when to when, by the monotonic clock."""


@pytest.fixture
def stuck(plane: Plane) -> Iterator[None]:
    """A level in which everything waits while it has no seats."""
    level, schema = priority_level(STUCK, shares=5), flow_schema(STUCK, STUCK, groups=["loaders"], precedence=500)
    apply_flow(plane, level, schema, MICE[0])
    yield
    remove_flow(plane, level, schema)


def give_seats(plane: Plane, shares: int) -> None:
    """Give the level seats, or take them away."""
    plane.client().apply(priority_level(STUCK, shares=shares, queues=64, hand_size=8, queue_length=50))
    name = "apiserver_flowcontrol_nominal_limit_seats"
    wait_on_replicas(plane, "seats", lambda _, client: (metric(client, name, priority_level=STUCK) > 0) == (shares > 0))


@contextmanager
def waiting_requests(plane: Plane, each: int) -> Iterator[None]:
    """So many requests of each mouse wait on the first replica, until all are served at the end."""
    path = f"/api/v1/namespaces/default/configmaps/{LONG_NAME}?timeout="
    # They may wait for a quarter of their time-out, and so do not come back all at once.
    requests = [load.get(f"{path}{46 + 2 * number}s") for number in range(len(MICE))]
    loads = [load.ClosedLoop(mouse, one, concurrency=each) for mouse, one in zip(MICE, requests, strict=True)]
    give_seats(plane, 0)
    with load.running(plane, *loads):
        try:
            yield
        finally:
            give_seats(plane, 5)


def dumped(moment: Moment) -> int:
    """How many waiting requests the dumps show."""
    return sum(not one.executing for replica in moment.frame.replicas.values() for one in replica.requests or ())


def left_out(moment: Moment) -> str:
    """Why the dump of requests is not asked for."""
    return "".join(plan.left_out.get(Endpoint.REQUESTS, "") for plan in moment.plans.values())


def read_through(plane: Plane, url: str) -> tuple[Span, Span, Span]:
    """A crowd comes while nobody reads a dump, then while this tool watches, and then a plain client reads one.

    When each of the three was.
    """
    start = time.monotonic()
    with waiting_requests(plane, CROWD):
        time.sleep(CALM_S)
        calm = time.monotonic()
    with ExitStack() as crowd, waiting_requests(plane, 1):
        began = time.monotonic()
        with watching(ways(plane, [url]), LOOKED_AT) as (_, seen):
            seen.until(dumped)
            crowd.enter_context(waiting_requests(plane, CROWD))
            number = seen.until(lambda moment: "would hold the server up" in left_out(moment)).number
            seen.until(lambda moment: moment.number >= number + 3)
        watched = time.monotonic()
        Client(url, plane.tokens["admin"], plane.ca_file).get(path_of(Endpoint.REQUESTS, Manner())).expect(200)
        return (start, calm), (began, watched), (watched, time.monotonic())


def test_a_dump_through_a_slow_link_holds_nobody_up(plane: Plane, stuck: None) -> None:
    """It is asked for while it is small; what the large one would do shows where a plain client asks for it."""
    found: list[list[float]] = []
    for _ in range(ROUNDS):
        with pinging(plane) as pings, link_to(plane.urls[0], LINK_BYTES_PER_S) as link:
            spans = read_through(plane, link.url)
        found.append([pings.longest(*span) for span in spans])
        calm, ours, plain = found[-1]
        if plain - calm > max(4 * HOLD_S, 4 * (ours - calm)):
            return
    raise AssertionError(f"longest answer to another client in s: alone, with apftop, with a plain dump: {found}")


def test_a_large_dump_is_asked_for_where_the_link_is_fast(plane: Plane, stuck: None) -> None:
    with waiting_requests(plane, FEW), watching(ways(plane, plane.urls[:1]), LOOKED_AT) as (_, seen):
        # A machine that is busy for a moment makes the link slow for a moment.
        assert seen.until(lambda moment: dumped(moment) > 4 * len(MICE) and left_out(moment) == "")


def broken_off(plane: Plane) -> Counter[str]:
    """How many requests each replica says were broken off, by series."""
    found: Counter[str] = Counter()
    for replica in range(len(plane.urls)):
        for line in plane.client(replica=replica).get("/metrics").expect(200).text.splitlines():
            if line.startswith(BROKEN_OFF):
                series, _, value = line.rpartition(" ")
                found[f"{replica} {series}"] = int(float(value))
    return found


def test_an_answer_that_nobody_reads_to_its_end_counts_as_broken_off(plane: Plane) -> None:
    """What the tests below would see."""
    before = broken_off(plane)
    context = ssl.create_default_context(cafile=str(plane.ca_file))
    with link_to(plane.urls[0], LINK_BYTES_PER_S) as link:
        connection = http.client.HTTPSConnection(urlsplit(link.url).netloc, context=context)
        connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {plane.tokens['admin']}"})
        connection.getresponse().read(1)
    time.sleep(COUNTED_S)
    assert (broken_off(plane) - before).total() > 0


@pytest.fixture(scope="module")
def usual(plane: Plane) -> Plan:
    """What is asked of a replica by default, once it is known what its answers cost."""
    with watching(ways(plane, plane.urls[:1])) as (watch, seen):
        seen.until(lambda moment: any(plan.cost_share is not None for plan in moment.plans.values()))
        watch.want(Demand(wake=1))
        twice = {Endpoint.METRICS, Endpoint.LEVELS}
        moment = seen.until(lambda moment: sum(one.ok and one.endpoint in twice for one in moment.samples) == 4)
    (plan,) = moment.plans.values()
    return plan


def faster(plan: Plan, times: float) -> Plan:
    every_s = {endpoint: seconds / times for endpoint, seconds in plan.every_s.items()}
    return replace(plan, every_s=every_s, whole_every_s=plan.whole_every_s / times, levels_at=None)


@dataclass
class Answers:
    """What was answered, without bodies."""

    samples: list[Sample] = field(default_factory=list)

    def deliver(self, sample: Sample) -> None:
        self.samples.append(replace(sample, body=b""))

    def of(self, replica: str) -> list[Sample]:
        return [sample for sample in self.samples if sample.replica == replica]

    def until(self, replica: str, wanted: Mapping[Endpoint, float]) -> None:
        """Wait until a server has given so many good answers."""
        ends = time.monotonic() + LONG_S
        while True:
            found = Counter(one.endpoint for one in tuple(self.samples) if one.ok and one.replica == replica)
            if all(found[endpoint] >= number for endpoint, number in wanted.items()):
                return
            assert time.monotonic() < ends
            time.sleep(0.05)


@contextmanager
def polling(accesses: Sequence[Access], plan: Plan) -> Iterator[tuple[Net, Answers]]:
    """Ask by a plan during the block; the stop comes whatever is in flight."""
    answers = Answers()
    net = Net(
        accesses,
        discover=False,
        manner=Manner(picker=picker_of_apf),
        first=plan,
        deliver=answers.deliver,
        tell=lambda line: None,
    )
    net.start()
    try:
        yield net, answers
    finally:
        net.stop()


def poll_as_in(seconds: float, plane: Plane, plan: Plan) -> None:
    """Ask one replica as often as by the plan in so many seconds, and the others by and by; then stop at once."""
    first, *_ = accesses = ways(plane)
    dumps = [endpoint for endpoint in plan.every_s if endpoint is not Endpoint.METRICS]
    with polling(accesses, faster(plan, SELDOM)) as (net, answers):
        # Together all of them would be asked for equally often: no server is so fast.
        for endpoints in (dumps, [Endpoint.METRICS]):
            lane = {endpoint: plan.every_s[endpoint] for endpoint in endpoints}
            net.plan({first.name: faster(replace(plan, every_s=lane), AT_ONCE)})
            answers.until(first.name, {endpoint: seconds / every_s for endpoint, every_s in lane.items()})


def test_an_hour_of_polls_breaks_nothing_off(plane: Plane, usual: Plan) -> None:
    """Sped up, with somebody waiting all the time and the queues looked at for five minutes.

    Each five minutes polling stops amid its answers.
    """
    requests_s = rules().polling.requests_s
    plan = replace(usual, every_s={**usual.every_s, Endpoint.REQUESTS: requests_s})
    with_queues = replace(plan, every_s={**plan.every_s, Endpoint.QUEUES: requests_s})
    before = broken_off(plane)
    for part in range(PARTS):
        poll_as_in(HOUR_S / PARTS, plane, with_queues if part == PARTS // 2 else plan)
    time.sleep(COUNTED_S)
    assert broken_off(plane) - before == Counter()


def test_watching_that_stops_at_its_first_answers_breaks_nothing_off(plane: Plane) -> None:
    before = broken_off(plane)
    for _ in range(5):
        with watching(ways(plane)) as (_, seen):
            seen.until(lambda moment: bool(moment.frame.replicas))
    time.sleep(COUNTED_S)
    assert broken_off(plane) - before == Counter()


def test_quitting_the_screen_amid_an_answer_does_not_break_it_off(plane: Plane) -> None:
    (whole,) = look(plane, Endpoint.METRICS, named=False)
    with link_to(plane.urls[0], (whole.wire_bytes or 0) / ANSWER_S) as link:
        command = [sys.executable, "-m", "apftop", "--kubeconfig", str(plane.kubeconfig()), "--server", link.url]
        before = broken_off(plane)
        for _ in range(2):
            passed, ends = link.bytes, time.monotonic() + LONG_S
            with Pty(command) as terminal:
                # It is the metrics when it is so much.
                while link.bytes < passed + BEGUN_BYTES:
                    assert time.monotonic() < ends
                    terminal.read(0.01)
                terminal.send(b"q")
                assert terminal.until_end()[0] == 0
                assert terminal.is_given_back()
    time.sleep(COUNTED_S)
    assert broken_off(plane) - before == Counter()


def dispatched(plane: Plane, replica: int) -> float:
    """The requests of users without a schema of their own that a server has begun."""
    name = "apiserver_flowcontrol_dispatched_requests_total"
    return metric(plane.client(replica=replica), name, flow_schema="global-default")


def test_polling_asks_as_often_as_its_plan_says_and_no_more(plane: Plane, usual: Plan) -> None:
    """A minute, sped up, by what servers count and what passes on the way to them."""
    rule = {"nonResourceURLs": ["/metrics", "/debug/api_priority_and_fairness/*"], "verbs": ["get"]}
    allow(plane, "plane-polls", "User", "viewer", [rule])
    plan = faster(usual, SPED_UP)
    with ExitStack() as links:
        links.callback(revoke, plane, "plane-polls")
        each = [links.enter_context(link_to(url)) for url in plane.urls]
        accesses = ways(plane, [link.url for link in each], "viewer")
        before = [dispatched(plane, replica) for replica in range(len(each))]
        with polling(accesses, plan) as (net, answers):
            began = time.monotonic()
            time.sleep(MINUTE_S / SPED_UP)
            net.plan({access.name: Plan({}) for access in accesses})
            took = time.monotonic() - began
            # The round in progress comes to its end.
            time.sleep(1.0)
            after = [dispatched(plane, replica) for replica in range(len(each))]
    for replica, (access, link) in enumerate(zip(accesses, each, strict=True)):
        ours = answers.of(access.name)
        asked = Counter(sample.endpoint for sample in ours)
        for endpoint, seconds in plan.every_s.items():
            assert 0.5 * took / seconds <= asked[endpoint] <= took / seconds + 2
        assert not {Endpoint.REQUESTS, Endpoint.QUEUES} & asked.keys()
        assert sum(sample.endpoint is Endpoint.METRICS and not sample.named for sample in ours) == 1
        # Objects that another server gave have no headers here.
        sent = [sample for sample in ours if sample.header(LEVEL_UID) is not None]
        assert after[replica] - before[replica] == len(sent)
        read = sum(sample.wire_bytes or 0 for sample in sent)
        assert read < link.bytes < 1.02 * read + HEAD_BYTES * len(sent) + SHAKE_BYTES * link.connections


def test_the_default_plan_leaves_dumps_of_requests_to_those_who_need_them(plane: Plane, usual: Plan) -> None:
    limits = rules().polling
    by_name = plane.version.startswith("1.37")
    assert usual.every_s.keys() == {Endpoint.LEVELS, Endpoint.METRICS, Endpoint.BACKEND}
    assert usual.every_s[Endpoint.BACKEND] >= rules().behind.doubt_s
    assert usual.every_s[Endpoint.LEVELS] == Demand().interval_s
    assert usual.every_s[Endpoint.METRICS] >= (limits.named_s if by_name else limits.whole_s)
    assert 0 < (usual.cost_share or 0.0) <= limits.server_share
    assert usual.left_out == {}
