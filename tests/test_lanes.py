"""What is asked of a server, how often, and what is left alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.apf.objects import Meta, PriorityLevelConfiguration, Queuing
from apftop.lanes import plan
from apftop.live import fold
from apftop.parse.vocabulary import asked_names
from apftop.records.asking import Demand, Plan
from apftop.records.parsed import Dump, LevelRow
from apftop.records.raw import DUMP_PATHS, DUMPS, Endpoint, Sample
from apftop.records.state import Outcome, Read, ReplicaState, Transfer
from tests.derive.build import a_sample, dispatched, exposition, level_row, levels_dump, series
from tests.derive.test_frame import requests_dump

LEVELS, REQUESTS, QUEUES, METRICS = Endpoint.LEVELS, Endpoint.REQUESTS, Endpoint.QUEUES, Endpoint.METRICS
SCHEMAS = Endpoint.SCHEMAS
LIMIT = series("current_limit_seats", 100, priority_level="load")
FAST = Transfer(0.0, 0.0, 0.0, 1 << 20, 1 << 20, 1 << 20, text=True)
"""A MiB in no time."""


def came(sample: Sample, first_byte_s: float = 0.001, seconds: float = 0.001, **what: Any) -> Sample:
    """The sample with what fetching notes of it."""
    sent = sample.sent or 0.0
    begun = sent + first_byte_s
    size = len(sample.body)
    sample = replace(sample, begun=begun, received=begun + seconds, wire_bytes=size, whole_bytes=size)
    return replace(sample, **what)


def levels(waiting: int = 0, executing: int = 0, t: float = 0.0) -> Sample:
    rows = (level_row("load", waiting, executing, 1, 0, 0, 0), level_row("exempt", 0, 1, 1, 0, 0, 0))
    return came(a_sample(levels_dump(*rows), t, LEVELS))


def metrics(t: float = 0.0, *lines: str, first_byte_s: float = 0.02, **what: Any) -> Sample:
    return came(a_sample(exposition(dispatched(1), LIMIT, *lines), t), first_byte_s, **what)


def state(*samples: Sample) -> ReplicaState:
    return fold(samples).replicas["kas"]


def fast(replica: ReplicaState) -> ReplicaState:
    """The replica with a link that was measured to be fast."""
    return replace(replica, transfers={**replica.transfers, (Endpoint.SCHEMAS, False): (FAST,)})


def asked(*samples: Sample, **demand: Any) -> Plan:
    return plan(state(*samples), Demand(**demand))


def queues(number: int) -> Read[tuple[PriorityLevelConfiguration, ...]]:
    level = PriorityLevelConfiguration(Meta("load"), exempt=False, shares=1, queuing=Queuing(number, 1, 50))
    return Read((level,), None, None, None, None, None, "", 200)


def test_at_first_the_levels_and_metrics_are_asked_for() -> None:
    found = plan(ReplicaState("kas"), Demand())

    assert (found.every_s, found.with_metrics) == ({LEVELS: 2.0, METRICS: 6.0}, {})
    assert (found.families, found.whole_every_s, found.left_out) == (asked_names(), 600.0, {})
    assert found.cost_share is None
    assert found.levels_at == 0.0


def test_the_reader_sets_the_pace_of_the_dumps_down_to_a_second() -> None:
    assert asked(levels(), interval_s=0.1).every_s[LEVELS] == 1.0
    assert asked(levels(), interval_s=30.0).every_s == {LEVELS: 30.0, METRICS: 30.0}


def test_requests_are_asked_for_while_something_waits() -> None:
    assert REQUESTS not in asked(levels(executing=3)).every_s
    assert asked(levels(waiting=1)).every_s[REQUESTS] == 2.0
    assert asked(levels(waiting=1), interval_s=1.0).every_s[REQUESTS] == 2.0
    assert asked(levels(waiting=1), interval_s=5.0).every_s[REQUESTS] == 5.0


def test_requests_are_asked_for_slowly_where_a_level_comes_near_its_limit() -> None:
    limited = a_sample(exposition(dispatched(1), series("current_limit_seats", 10, priority_level="load")), 0.0)

    assert REQUESTS not in asked(limited, levels(executing=7)).every_s
    # Each second time that metrics come.
    assert asked(limited, levels(executing=8)).every_s == {LEVELS: 2.0, REQUESTS: 12.0, METRICS: 6.0}


def test_requests_are_asked_for_slowly_where_a_level_executes_many() -> None:
    assert REQUESTS not in asked(metrics(), levels(executing=9)).every_s
    assert asked(metrics(), levels(executing=10)).every_s[REQUESTS] == 12.0


def test_the_limit_of_exempt_is_nobodys() -> None:
    limit = series("current_limit_seats", 1, priority_level="exempt")

    assert REQUESTS not in asked(metrics(0.0, limit), levels()).every_s


def test_a_view_gets_what_it_needs() -> None:
    assert asked(levels(), needs=frozenset({REQUESTS})).every_s[REQUESTS] == 2.0
    replica = replace(state(levels()), configs=queues(64))
    found = plan(replica, Demand(needs=frozenset({QUEUES}))).every_s
    assert (found[QUEUES], found[REQUESTS]) == (2.0, 2.0)


def test_metrics_come_each_5_s_by_name_and_each_10_s_in_full() -> None:
    honoured = metrics(10.0, named=True)
    ignored = metrics(10.0, named=True, whole_bytes=1_400_000)

    assert asked(metrics(), honoured, interval_s=1.0).every_s[METRICS] == 5.0
    assert asked(metrics(), ignored, interval_s=1.0).every_s[METRICS] == 10.0


@pytest.mark.parametrize(
    ("interval_s", "waiting", "levels_s", "requests_s", "metrics_s"),
    [
        (1.0, 0, 1.0, None, 5.0),
        (2.0, 0, 2.0, None, 6.0),
        (3.0, 0, 3.0, None, 6.0),
        (4.0, 0, 4.0, None, 8.0),
        (5.0, 0, 5.0, None, 5.0),
        (1.0, 1, 1.0, 2.0, 6.0),
        (2.0, 1, 2.0, 2.0, 6.0),
        (3.0, 1, 3.0, 3.0, 6.0),
        # Large dumps: each 3, 4 or 7 s at most.
        (1.0, 700, 1.0, 3.0, 6.0),
        (1.0, 900, 1.0, 5.0, 5.0),
        (2.0, 1700, 2.0, 12.0, 6.0),
    ],
)
def test_metrics_come_at_turns_of_the_dumps(
    interval_s: float, waiting: int, levels_s: float, requests_s: float | None, metrics_s: float
) -> None:
    found = plan(fast(state(levels(waiting))), Demand(interval_s)).every_s

    assert (found[LEVELS], found.get(REQUESTS), found[METRICS]) == (levels_s, requests_s, metrics_s)


def test_queues_are_asked_for_with_the_metrics_while_something_waits() -> None:
    replica = replace(state(levels(waiting=1)), configs=queues(64))

    assert plan(replica, Demand()).with_metrics == {QUEUES: 2.0}
    assert plan(replica, Demand(interval_s=5.0)).with_metrics == {QUEUES: 5.0}
    seen = plan(replica, Demand(needs=frozenset({QUEUES})))
    assert (seen.every_s[QUEUES], seen.with_metrics) == (2.0, {})
    assert plan(replace(state(levels(executing=99)), configs=queues(64)), Demand()).with_metrics == {}


def test_what_waited_is_looked_at_once_more_with_the_metrics() -> None:
    def after(*users: str, queue: int = 3) -> Plan:
        read = came(a_sample(requests_dump(*users, queue=queue), 0.0, REQUESTS))
        replica = state(levels(waiting=1), read, levels(t=2.0))
        return plan(replace(replica, configs=queues(64)), Demand())

    assert after("ann").with_metrics == {REQUESTS: 2.0, QUEUES: 2.0}
    assert after("ann").every_s == {LEVELS: 2.0, METRICS: 6.0}
    assert after().with_metrics == {}
    assert after("ann", queue=-1).with_metrics == {}


def test_without_metrics_no_dump_is_asked_for_next_to_them() -> None:
    replica = replace(state(levels(waiting=1), Sample("kas", METRICS, status=403)), configs=queues(64))
    found = plan(replica, Demand())

    assert found.every_s == {LEVELS: 2.0, REQUESTS: 2.0, METRICS: 60.0}
    assert (found.with_metrics, found.left_out) == ({}, {METRICS: "status 403"})


def test_queues_that_would_hold_the_server_up_are_left_out_while_something_waits() -> None:
    found = plan(replace(fast(state(levels(waiting=1))), configs=queues(120_000)), Demand())

    assert found.with_metrics == {}
    assert "about 120000 rows" in found.left_out[QUEUES]


@pytest.mark.parametrize(
    ("what", "seconds"),
    [
        # 300 ms of gathering at 1 % of a core, less what the dumps and the backend take of it, up to their next turn.
        ({}, 36.0),
        # 10 MB of text take 120 ms more, and gzip half of that again.
        ({"whole_bytes": 10_000_000, "wire_bytes": 10_000_000}, 50.0),
        ({"whole_bytes": 10_000_000, "wire_bytes": 500_000}, 56.0),
        ({"first_byte_s": 5.0}, 120.0),
    ],
)
def test_metrics_that_cost_a_server_much_come_seldom(what: dict[str, Any], seconds: float) -> None:
    found = asked(levels(), metrics(10.0, **{"first_byte_s": 0.301, "named": True} | what))

    assert found.every_s[METRICS] == pytest.approx(seconds, abs=0.5)
    assert found.cost_share is not None
    assert found.cost_share <= 0.01 or found.every_s[METRICS] == 120.0


def test_a_slow_network_and_a_queue_on_the_way_cost_the_server_nothing() -> None:
    far = [came(replace(levels(), sent=float(t)), first_byte_s=0.2) for t in range(3)]
    waited = metrics(10.0, named=True, first_byte_s=3.0)

    assert asked(*far, metrics(5.0, named=True, first_byte_s=0.22), waited).every_s[METRICS] == 6.0


def test_what_is_denied_or_not_there_is_asked_for_rarely_and_the_rest_goes_on() -> None:
    found = asked(levels(waiting=1), Sample("kas", METRICS, status=403), Sample("kas", REQUESTS, status=404))

    assert found.every_s == {LEVELS: 2.0, REQUESTS: 60.0, METRICS: 60.0}
    assert found.left_out == {METRICS: "status 403", REQUESTS: "status 404"}
    assert found.cost_share is not None


def test_an_extension_servers_dumps_are_asked_for_rarely() -> None:
    rows = [level_row(name, 0, 1, 1, 0, 0, 0) for name in ("exempt", "catch-all")]
    found = asked(a_sample(levels_dump(*rows), 0.0, LEVELS))

    assert found.every_s == {LEVELS: 60.0, METRICS: 5.0}
    assert "mandatory levels" in found.left_out[LEVELS]


def test_an_endpoint_that_fails_is_asked_for_as_before() -> None:
    # How long a server that fails is left alone is for the network to say.
    assert asked(levels(), Sample("kas", METRICS, error="timed out")).every_s == {LEVELS: 2.0, METRICS: 6.0}


def test_a_dump_of_unknown_size_is_left_out() -> None:
    both = frozenset({REQUESTS, QUEUES})

    assert plan(ReplicaState("kas"), Demand(needs=both)).left_out == {
        REQUESTS: "how large it would be is not known without dump_priority_levels",
        QUEUES: "how large it would be is not known without prioritylevels",
    }
    gone = Sample("kas", LEVELS, error="timed out")
    assert REQUESTS in asked(levels(waiting=1), gone, needs=both).left_out


def test_on_a_link_of_unknown_speed_a_dump_may_be_one_flight() -> None:
    # 500 B a row are assumed, and 14 kB sent at once.
    assert REQUESTS in asked(levels(waiting=27)).every_s
    found = asked(levels(waiting=28))
    assert REQUESTS not in found.every_s
    assert found.left_out[REQUESTS] == "about 29 rows of 500 B, and how fast the link is is not known yet"


def test_a_dump_that_would_hold_its_server_up_is_left_out_with_the_numbers() -> None:
    # 50 kB in 95 ms, and 5 ms for what a busy reader may have missed: 500 kB/s.
    slow = metrics(0.0, wire_bytes=50_000, whole_bytes=50_000)
    slow = replace(slow, received=(slow.begun or 0.0) + 0.095)

    # 48 rows take 48 ms on the way, and 16 us each to be made up.
    assert REQUESTS in asked(slow, levels(waiting=47)).every_s
    assert asked(slow, levels(waiting=99)).left_out[REQUESTS] == (
        "about 100 rows of 500 B at 0.5 MB/s would hold the server up for 102 ms, over 50 ms"
    )


def test_a_fast_link_does_not_make_a_huge_dump_harmless() -> None:
    found = plan(fast(state(levels(waiting=100_000))), Demand())

    assert "would hold the server up for" in found.left_out[REQUESTS]


def test_the_last_dump_tells_how_wide_a_row_is() -> None:
    body = requests_dump(*["system:serviceaccount:ci:runner"] * 20)
    told = came(a_sample(body, 0.0, REQUESTS), wire_bytes=len(body))
    found = asked(told, levels(waiting=100))

    assert f"about 101 rows of {len(body) / 20:.0f} B" in found.left_out[REQUESTS]


def test_the_slowest_of_the_last_long_answers_tells_the_speed() -> None:
    def long(t: float, seconds: float, size: int = 100_000) -> Sample:
        return came(metrics(t), seconds=seconds, wire_bytes=size, whole_bytes=size)

    many = levels(waiting=99)
    assert REQUESTS in asked(long(0, 9.0), *(long(t, 0.001) for t in (20, 40, 60)), many).every_s
    assert REQUESTS in asked(long(0, 0.001), long(20, 9.0, size=20_000), many).every_s
    assert REQUESTS in asked(*(long(t, 0.001) for t in (0, 20)), long(40, 9.0), many).left_out


def test_without_a_long_answer_a_shorter_one_tells_the_speed() -> None:
    def listed(size: int) -> Sample:
        return came(Sample("kas", SCHEMAS, b'{"kind": "FlowSchemaList", "items": []}', sent=0.0), wire_bytes=size)

    many = levels(waiting=99)
    assert REQUESTS in asked(listed(14_001), many).every_s
    assert "how fast the link is is not known yet" in asked(listed(14_000), many).left_out[REQUESTS]


def test_queues_are_counted_before_they_are_asked_for() -> None:
    demand = Demand(needs=frozenset({QUEUES}))
    known = fast(state(levels()))

    assert QUEUES in plan(replace(known, configs=queues(528)), demand).every_s
    assert "about 120000 rows" in plan(replace(known, configs=queues(120_000)), demand).left_out[QUEUES]


def test_other_readers_of_dumps_stretch_the_dump_lane() -> None:
    def read_by(*users: str) -> Sample:
        rows = requests_dump(*users, queue=-1, path=DUMP_PATHS + REQUESTS, level="exempt")
        return came(a_sample(rows, 0.0, REQUESTS))

    assert asked(read_by("me"), levels(waiting=1)).every_s == {LEVELS: 2.0, REQUESTS: 2.0, METRICS: 6.0}
    # Three in all, of whom one may be me again.
    assert asked(read_by("me", "me", "you"), levels(waiting=1)).every_s == {LEVELS: 6.0, REQUESTS: 6.0, METRICS: 6.0}
    assert asked(read_by("me", "you"), read_by("me"), levels()).every_s[LEVELS] == 4.0
    assert asked(read_by(*["me"] * 30), levels()).every_s[LEVELS] == 10.0


def test_readers_of_dumps_that_were_seen_long_ago_count_no_more() -> None:
    rows = requests_dump("me", "you", queue=-1, path=DUMP_PATHS + REQUESTS, level="exempt")
    read = came(a_sample(rows, 0.0, REQUESTS))

    assert asked(read, levels(t=60.0)).every_s[LEVELS] == 4.0
    assert asked(read, levels(t=61.0)).every_s[LEVELS] == 2.0


def test_families_that_a_whole_answer_has_shown_are_asked_for_by_name_too() -> None:
    new = series("seat_price", 3, priority_level="load")

    assert asked(metrics(0.0, new)).families == (*asked_names(), "apiserver_flowcontrol_seat_price")
    assert asked(metrics()).families == asked_names()


def test_a_plan_is_the_same_for_the_same_answers() -> None:
    samples = (metrics(), levels(waiting=3), metrics(5.0, named=True))

    assert asked(*samples) == asked(*samples)


transfers = st.builds(
    lambda sent, first, rest, wire, packed, kept, text, rows, readers: Transfer(
        sent, sent + first, sent + first + rest, wire, wire * packed, min(kept, wire * packed), text, rows, readers
    ),
    st.floats(0, 1e6),
    st.floats(0, 3),
    st.floats(0, 5),
    st.integers(1, 50_000_000),
    st.integers(1, 20),
    st.integers(0, 1_000_000),
    st.booleans(),
    st.integers(0, 5_000),
    st.integers(0, 9),
)


@st.composite
def replicas(draw: st.DrawFn) -> ReplicaState:
    """A server whose answers were of any size and came at any speed."""
    kinds = [(METRICS, False), (METRICS, True), *((dump, False) for dump in DUMPS)]
    counts = st.one_of(st.none(), st.integers(0, 5_000))
    rows = [
        LevelRow(name, 0, False, False, draw(counts), draw(counts), 0, 0, 0, 0) for name in ("exempt", "load", "batch")
    ]
    statuses = st.sampled_from([200, 200, 200, 403, 404, 503])
    dump = Read(Dump(("PriorityLevelName",), tuple(rows)), 0.0, 0.0, None, None, None, "", 200)
    return ReplicaState(
        "kas",
        levels=(dump,) if draw(st.booleans()) else (),
        configs=queues(draw(st.integers(1, 10_000))) if draw(st.booleans()) else None,
        outcomes={endpoint: Outcome(draw(statuses)) for endpoint in (METRICS, *DUMPS)},
        transfers={kind: tuple(draw(st.lists(transfers, max_size=5))) for kind in kinds},
    )


demands = st.builds(
    Demand,
    interval_s=st.floats(0.05, 300),
    needs=st.frozensets(st.sampled_from(sorted(DUMPS))),
)


@given(replicas(), demands)
def test_no_plan_asks_more_often_than_the_floors(replica: ReplicaState, demand: Demand) -> None:
    found = plan(replica, demand)

    floors = {LEVELS: 1.0, REQUESTS: 2.0, QUEUES: 2.0, METRICS: 5.0}
    assert {LEVELS, METRICS} <= found.every_s.keys() <= floors.keys()
    assert not found.every_s.keys() & found.with_metrics.keys()
    for endpoint, seconds in (*found.every_s.items(), *found.with_metrics.items()):
        assert seconds >= max(floors[endpoint], demand.interval_s)
        if replica.outcomes[endpoint].status in (403, 404):
            assert seconds >= 60.0
            assert found.left_out[endpoint]
    dumps = [found.every_s[endpoint] for endpoint in DUMPS if endpoint in found.every_s]
    assert found.every_s[METRICS] < max(120.0, demand.interval_s) + max(dumps)


@given(replicas(), demands)
def test_each_turn_of_the_metrics_is_one_of_the_dumps_or_the_other_way_round(
    replica: ReplicaState, demand: Demand
) -> None:
    found = plan(replica, demand)
    if METRICS in found.left_out:
        return
    metrics_s = found.every_s[METRICS]
    for endpoint in (REQUESTS, QUEUES):
        if endpoint in found.every_s and endpoint not in found.left_out:
            turns = found.every_s[endpoint] / metrics_s
            whole = turns if turns > 1 else 1 / turns
            assert whole == pytest.approx(round(whole))


@given(replicas(), demands)
def test_no_plan_costs_a_server_more_than_its_share_but_for_the_slowest_pace(
    replica: ReplicaState, demand: Demand
) -> None:
    found = plan(replica, demand)

    slowest = [REQUESTS, QUEUES]
    if found.cost_share is not None and found.cost_share > 0.01 + 1e-9:
        assert found.every_s[METRICS] >= 120.0 or all(found.every_s[endpoint] >= 10.0 for endpoint in slowest)


@given(replicas(), demands)
def test_no_dump_that_is_asked_for_holds_its_server_up_for_long(replica: ReplicaState, demand: Demand) -> None:
    found = plan(replica, demand)

    if REQUESTS in found.every_s:
        rows = sum((row.waiting or 0) + (row.executing or 0) for row in replica.levels[-1].data.rows)
        sized = [one for one in replica.transfers[REQUESTS, False] if one.rows]
        size = rows * (sized[-1].wire_bytes / sized[-1].rows if sized else 500)
        some = [one for kind in replica.transfers.values() for one in kind if one.wire_bytes > 14_000]
        telling = [one for one in some if one.wire_bytes >= 32 << 10] or some
        latest = max(telling, key=lambda one: one.received, default=None)
        if latest is None:
            assert size <= 14_000
        else:
            assert rows * 16e-6 + size / (latest.wire_bytes / (latest.received - latest.begun + 0.005)) <= 0.0501
