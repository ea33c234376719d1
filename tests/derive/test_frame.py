"""One replica derived from what its answers say, and from what they leave out."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from apftop.derive.frame import frame
from apftop.live import fold
from apftop.records.frame import Frame, Level, Replica
from apftop.records.raw import Endpoint, Sample
from tests.derive.build import a_sample, dispatched, exposition, histogram, rejected, series


def limit(name: str, value: float | str, level: str) -> str:
    return series(f"{name}_limit_seats", value, priority_level=level)


def levels_dump(*names: str) -> bytes:
    header = "PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests\n"
    rows = "".join(f"{name + ',':<19}{'0,':<14}{'true,':<8}{'false,':<13}{'0,':<17}0\n" for name in names)
    return header.encode() + rows.encode()


def configs(*names: str, mandatory: bool = True) -> bytes:
    names = (*names, "exempt", "catch-all") if mandatory else names
    items = ",".join(
        f'{{"metadata":{{"name":"{name}","uid":"uid-{name}"}},"spec":{{"type":"Limited","limited":'
        '{"nominalConcurrencyShares":10,"limitResponse":{"type":"Queue","queuing":'
        '{"queues":16,"handSize":4,"queueLengthLimit":12}}}}}'
        for name in names
    )
    kind = '"kind":"PriorityLevelConfigurationList","apiVersion":"flowcontrol.apiserver.k8s.io/v1"'
    return f'{{{kind},"items":[{items}]}}'.encode()


def schemas(*names: str) -> bytes:
    items = ",".join(
        f'{{"metadata":{{"name":"{name}","uid":"fs-{name}"}},"spec":{{"matchingPrecedence":500,'
        f'"priorityLevelConfiguration":{{"name":"{name}"}}}}}}'
        for name in names
    )
    return f'{{"kind":"FlowSchemaList","apiVersion":"flowcontrol.apiserver.k8s.io/v1","items":[{items}]}}'.encode()


def requests_dump(
    *users: str,
    distinguisher: str | None = None,
    queue: int = 2,
    path: str = "/api/v1/nodes",
    level: str = "load",
    start_time: bool = True,
) -> bytes:
    """Waiting requests to list nodes, one of each user; on a level without queues they execute."""
    head = ["PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher", "ArriveTime"]
    head += ["InitialSeats", "FinalSeats", "AdditionalLatency"] + (["StartTime"] if start_time else [])
    head += ["UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource"]
    index = "0" if queue >= 0 else "-1"
    start = ["0001-01-01T00:00:00Z" if queue >= 0 else "2026-04-12T10:03:00Z"] if start_time else []
    kind = ["v1", "nodes"] if path.startswith("/api") else ["", ""]
    seats = ["1", "0", "0s", *start]
    table = [head]
    for user in users:
        flow = user if distinguisher is None else distinguisher
        request = [user, "list", path, "", "", *kind, ""]
        table.append([level, level, str(queue), index, flow, "2026-04-12T10:03:00Z", *seats, *request])
    widths = [max(8, *(len(row[i]) + 2 for row in table)) for i in range(len(head))]
    lines = [
        "".join(f"{cell + ',':<{width}}" for cell, width in zip(row[:-1], widths, strict=False)) + row[-1]
        for row in table
    ]
    return ("\n".join(lines) + "\n").encode()


def only(found: Frame) -> Replica:
    (replica,) = found.replicas.values()
    return replica


def a_replica(*samples: Sample) -> Replica:
    return only(frame(fold(samples)))


def a_level(*lines: str, release: str = "v1.30.4", name: str = "load") -> Level:
    return a_replica(a_sample(exposition(*lines, release=release), 0.0)).levels[name]


def test_a_missing_series_is_zero_where_the_release_has_the_family() -> None:
    level = a_level(limit("nominal", 10, "load"), dispatched(1, "other", "other"))

    assert (level.waiting, level.seats_in_use, level.waiting_seats) == (0, 0, 0)


def test_a_missing_family_is_unknown_where_the_release_lacks_it() -> None:
    assert a_level(limit("nominal", 10, "load"), release="v1.27.9").waiting_seats is None


def test_a_missing_family_is_unknown_where_the_release_is_unknown() -> None:
    assert a_level(limit("nominal", 10, "load"), release="").waiting_seats is None


def test_exempt_is_unknown_up_to_1_27_and_zero_since() -> None:
    lines = (dispatched(5, "exempt", "exempt"), series("current_executing_requests", 1, priority_level="load"))

    assert a_level(*lines, release="v1.27.16", name="exempt").executing is None
    assert a_level(*lines, release="v1.28.0", name="exempt").executing == 0


def test_the_old_name_of_a_limit_is_read() -> None:
    assert a_level(series("request_concurrency_limit", 245, priority_level="load"), release="v1.25.14").nominal == 245


def test_the_new_name_wins_over_the_old_one() -> None:
    level = a_level(limit("nominal", 245, "load"), series("request_concurrency_limit", 7, priority_level="load"))

    assert level.nominal == 245


def test_levels_of_neither_dump_nor_configuration_are_stale() -> None:
    replica = a_replica(
        a_sample(exposition(limit("nominal", 50, "load"), limit("nominal", 7, "gone")), 0.0),
        a_sample(levels_dump("load"), 0.0, Endpoint.LEVELS),
    )

    assert replica.stale_levels == ("gone",)
    assert (replica.nominal_sum, replica.naive_nominal_sum) == (50, 57)
    assert replica.levels["gone"].state == "stale"


def test_without_the_dump_the_configuration_says_what_lives() -> None:
    replica = a_replica(
        a_sample(exposition(limit("nominal", 50, "load"), limit("nominal", 7, "gone")), 0.0),
        a_sample(configs("load"), 0.0, Endpoint.CONFIGS),
    )

    assert replica.stale_levels == ("gone",)


def test_objects_that_are_not_all_there_say_nothing_of_what_lives() -> None:
    replica = a_replica(
        a_sample(exposition(limit("nominal", 50, "load"), limit("nominal", 7, "other")), 0.0),
        a_sample(configs("load", mandatory=False), 0.0, Endpoint.CONFIGS),
    )

    assert replica.stale_levels == ()
    assert replica.nominal_sum == 57


def test_the_dump_wins_over_objects_that_are_older() -> None:
    replica = a_replica(
        a_sample(exposition(limit("nominal", 50, "load"), limit("nominal", 7, "gone")), 0.0),
        a_sample(levels_dump("load"), 0.0, Endpoint.LEVELS),
        a_sample(configs("load", "gone"), 0.0, Endpoint.CONFIGS),
    )

    assert replica.stale_levels == ("gone",)


def test_without_the_dump_a_deleted_level_with_seats_in_use_still_drains() -> None:
    replica = a_replica(
        a_sample(
            exposition(
                limit("nominal", 7, "gone"),
                series("current_executing_seats", 2, flow_schema="gone", priority_level="gone"),
            ),
            0.0,
        ),
        a_sample(configs("load"), 0.0, Endpoint.CONFIGS),
    )

    assert replica.stale_levels == ()
    assert replica.levels["gone"].state == "quiescing"


def test_without_both_a_level_that_never_moves_is_possibly_stale_and_stays_in_sums() -> None:
    before = exposition(limit("nominal", 50, "load"), limit("nominal", 7, "gone"), dispatched(10))
    after = exposition(limit("nominal", 50, "load"), limit("nominal", 7, "gone"), dispatched(20))
    replica = a_replica(a_sample(before, 0.0), a_sample(after, 10.0))

    assert (replica.stale_levels, replica.possibly_stale_levels) == ((), ("gone",))
    assert replica.nominal_sum == 57


def test_nan_demand_freezes_borrowing_and_does_not_spread() -> None:
    replica = a_replica(
        a_sample(
            exposition(
                limit("nominal", 50, "load"),
                limit("current", 40, "load"),
                limit("current", "NaN", "odd"),
                series("demand_seats_smoothed", "NaN", priority_level="load"),
            ),
            0.0,
        )
    )

    assert (replica.borrowing, replica.nan_levels) == ("frozen", ("load",))
    assert replica.current_sum == 40
    assert replica.levels["odd"].current is None


def test_rates_are_per_second_of_the_window() -> None:
    replica = a_replica(
        a_sample(exposition(dispatched(100), rejected(10, "queue-full")), 0.0),
        a_sample(exposition(dispatched(150), rejected(30, "queue-full"), rejected(5, "new-reason")), 10.0),
    )
    counts = replica.levels["load"].counts

    assert counts is not None
    assert (counts.dispatched, dict(counts.rejected)) == (50, {"queue-full": 20, "new-reason": 5})
    assert counts.refused_share == pytest.approx(25 / 75)


def test_one_sample_has_no_rates() -> None:
    level = a_level(dispatched(100))

    assert (level.counts, level.window, level.waits) == (None, None, None)


def test_one_sample_gives_utilization_over_the_levels_life_and_says_so() -> None:
    lines = histogram(
        "priority_level_seat_utilization",
        [0.5] * 4,
        ("0", "0.95", "0.99", "1"),
        phase="executing",
        priority_level="load",
    )
    found = a_level(*lines).utilization

    assert found is not None
    assert (found.lifetime, found.mean) == (True, 0.5)


def test_a_repeated_sample_changes_nothing_and_is_named() -> None:
    first, second = a_sample(exposition(dispatched(1)), 0.0), a_sample(exposition(dispatched(9)), 10.0)
    replica = a_replica(first, second, second)
    counts = replica.levels["load"].counts

    assert counts is not None
    assert counts.dispatched == 8
    assert any("same time" in problem for problem in replica.problems)


def test_an_older_sample_is_left_out_and_named() -> None:
    replica = a_replica(
        a_sample(exposition(dispatched(1)), 0.0),
        a_sample(exposition(dispatched(9)), 10.0),
        a_sample(exposition(dispatched(5)), 5.0),
    )
    counts = replica.levels["load"].counts

    assert counts is not None
    assert counts.dispatched == 8
    assert any("older" in problem for problem in replica.problems)


def test_an_answer_counts_that_only_a_clock_that_was_set_back_makes_older() -> None:
    def at(t: float, count: int, date: float) -> Sample:
        return replace(a_sample(exposition(dispatched(count)), t), server_date=date)

    before = (at(5000.0, 1, 9000.0), at(5010.0, 11, 9010.0))
    replica = a_replica(*before, at(1420.0, 21, 9020.0))

    assert replica.problems == ()
    assert replica.samples[Endpoint.METRICS].time == 1420.0
    # Nothing tells how long it came after the one before.
    assert replica.levels["load"].counts is None
    level = a_replica(*before, at(1420.0, 21, 9020.0), at(1430.0, 41, 9030.0)).levels["load"]
    assert level.dispatched_per_s == 2.0
    # Two answers that came in the wrong order are older by both clocks.
    assert "older" in a_replica(*before, at(5005.0, 6, 9005.0)).problems[0]


def test_a_family_newer_than_the_vocabulary_is_kept_and_named() -> None:
    replica = a_replica(a_sample(exposition(series("seat_price", 3, priority_level="load")), 0.0))

    assert replica.unknown_families == ("apiserver_flowcontrol_seat_price",)


def test_a_column_newer_than_we_know_is_kept_and_named() -> None:
    dump = b"PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests, Mood\n"
    dump += b"load,              0,            true,   false,       0,               0,                 calm\n"
    replica = a_replica(a_sample(dump, 0.0, Endpoint.LEVELS))

    assert replica.unknown_columns == ("dump_priority_levels: Mood",)


def test_a_release_newer_than_we_know_is_read_and_named() -> None:
    replica = a_replica(a_sample(exposition(limit("nominal", 5, "load"), release="v1.99.0"), 0.0))

    assert replica.levels["load"].nominal == 5
    assert any("v1.99.0 is outside the releases" in problem for problem in replica.problems)


def test_series_that_contradict_each_other_are_unknown_and_named() -> None:
    replica = a_replica(
        a_sample(
            exposition(
                series("nominal_limit_seats", 5, job="a", priority_level="load"),
                series("nominal_limit_seats", 9, job="b", priority_level="load"),
                limit("current", 3, "load"),
            ),
            0.0,
        )
    )

    assert replica.levels["load"].nominal is None
    assert any("two different values for load" in problem for problem in replica.problems)


def test_federated_servers_are_told_apart_by_instance() -> None:
    body = exposition(
        series("nominal_limit_seats", 5, instance="a:6443", priority_level="load"),
        series("nominal_limit_seats", 9, instance="b:6443", priority_level="load"),
        release="",
        start=None,
    )
    found = frame(fold([a_sample(body, 0.0, replica="server")]))

    assert {name: one.levels["load"].nominal for name, one in found.replicas.items()} == {"a:6443": 5, "b:6443": 9}


def test_own_requests_are_taken_out() -> None:
    uids = (("x-kubernetes-pf-flowschema-uid", "fs-load"), ("x-kubernetes-pf-prioritylevel-uid", "uid-load"))

    def asked(body: bytes, t: float) -> Sample:
        return Sample("kas", Endpoint.METRICS, body, 200, sent=t, received=t + 0.1, headers=uids)

    gauge = series("current_executing_requests", 4, flow_schema="load", priority_level="load")
    replica = a_replica(
        a_sample(configs("load"), 0.0, Endpoint.CONFIGS),
        a_sample(schemas("load"), 0.0, Endpoint.SCHEMAS),
        asked(exposition(dispatched(100), gauge), 1.0),
        asked(exposition(dispatched(111), gauge), 11.0),
    )
    level = replica.levels["load"]

    assert level.counts is not None
    assert level.counts.dispatched == 10
    assert level.executing == 3
    assert (replica.own.level, replica.own.schema, replica.own.sent, replica.own.rejected) == ("load", "load", 2, 0)


def test_a_refusal_of_ours_is_counted_and_its_next_try_known() -> None:
    headers = (("x-kubernetes-pf-flowschema-uid", "u"), ("retry-after", "4"))
    refused = Sample(
        "kas",
        Endpoint.METRICS,
        b"Too many requests\n",
        429,
        content_type="text/plain",
        sent=9.0,
        received=10.0,
        headers=headers,
    )
    own = a_replica(refused).own

    assert (own.rejected, own.sent, own.next_try) == (1, 1, (14.0,))


def test_a_429_in_json_is_not_a_refusal_of_apf() -> None:
    headers = (("x-kubernetes-pf-flowschema-uid", "u"),)
    served = Sample("kas", Endpoint.METRICS, b"{}", 429, content_type="application/json", received=1.0, headers=headers)

    assert a_replica(served).own.rejected == 0


def test_a_zero_limit_level_that_rejects_and_still_serves_is_leaking() -> None:
    zero = [limit(name, 0, "load") for name in ("nominal", "lower", "upper", "current")]
    config = configs("load").replace(
        b'"limitResponse":{"type":"Queue","queuing":{"queues":16,"handSize":4,"queueLengthLimit":12}}',
        b'"limitResponse":{"type":"Reject"}',
    )
    replica = a_replica(
        a_sample(config, 0.0, Endpoint.CONFIGS),
        a_sample(exposition(*zero, dispatched(1)), 0.0),
        a_sample(exposition(*zero, dispatched(9)), 10.0),
    )

    assert replica.levels["load"].state == "leaking"


def test_answers_that_cannot_be_read_again_are_not_shown_as_of_now() -> None:
    first = [
        a_sample(exposition(dispatched(100)), 0.0),
        a_sample(exposition(dispatched(150)), 10.0),
        a_sample(requests_dump("bob"), 10.0, Endpoint.REQUESTS),
    ]
    later = [
        Sample("kas", one, status=429, sent=3600.0, received=3600.0) for one in (Endpoint.METRICS, Endpoint.REQUESTS)
    ]
    replica = a_replica(*first, *later)

    assert replica.levels["load"].counts is None
    assert (replica.requests, replica.flows) == (None, ())
    assert replica.samples["metrics"].stale
    assert any("metrics: as last read" in problem for problem in replica.problems)


def test_flows_are_those_of_the_distinguisher() -> None:
    # Cluster-scoped requests of a level that tells flows apart by namespace are one flow, whoever sends them.
    rows = requests_dump("a", "b", "c", distinguisher="", queue=5)
    replica = a_replica(a_sample(configs("load"), 0.0, Endpoint.CONFIGS), a_sample(rows, 0.0, Endpoint.REQUESTS))

    assert [(flow.flow, flow.waiting) for flow in replica.flows] == [("", 3)]
    inside = replica.levels["load"].inside
    assert inside is not None
    assert inside.waiting_by_user == {"a": 1, "b": 1, "c": 1}


def test_users_stand_in_for_flows_on_a_level_of_one_queue() -> None:
    one_queue = configs("load").replace(b'"queues":16,"handSize":4', b'"queues":1,"handSize":1')
    replica = a_replica(
        a_sample(one_queue, 0.0, Endpoint.CONFIGS),
        a_sample(requests_dump("a", "b", distinguisher="", queue=0), 0.0, Endpoint.REQUESTS),
    )

    assert sorted(flow.flow for flow in replica.flows) == ["a", "b"]


def test_a_dump_without_start_times_says_nothing_of_what_executes() -> None:
    dump = requests_dump("a", distinguisher="a", queue=3, start_time=False)
    replica = a_replica(a_sample(dump, 0.0, Endpoint.REQUESTS))
    level = replica.levels["load"]

    assert (replica.flows[0].waiting, replica.flows[0].executing, replica.flows[0].seats) == (1, None, None)
    assert (level.executing, level.seats_in_use) == (None, None)
    assert level.inside is not None
    assert (level.inside.executing_seats_by_user, level.inside.sampled) == (None, None)


def test_several_readers_of_the_dump_are_none_of_the_load() -> None:
    path = "/debug/api_priority_and_fairness/dump_requests"
    rows = requests_dump("alice", "bob", distinguisher="", queue=-1, path=path, level="exempt")
    replica = a_replica(a_sample(rows, 0.0, Endpoint.REQUESTS))

    assert replica.requests is not None
    assert [row.own for row in replica.requests] == [True, True]
    assert replica.flows == ()


def test_an_own_refusal_is_no_refusal_of_load() -> None:
    uids = (("x-kubernetes-pf-flowschema-uid", "fs-load"), ("x-kubernetes-pf-prioritylevel-uid", "uid-load"))
    refused = Sample("kas", Endpoint.LEVELS, status=429, sent=5.0, received=5.1, headers=uids)
    replica = a_replica(
        a_sample(configs("load"), 0.0, Endpoint.CONFIGS),
        a_sample(schemas("load"), 0.0, Endpoint.SCHEMAS),
        a_sample(exposition(dispatched(100)), 1.0),
        refused,
        a_sample(exposition(dispatched(100), rejected(1, "queue-full")), 11.0),
    )
    counts = replica.levels["load"].counts

    assert counts is not None
    assert (dict(counts.rejected), replica.levels["load"].state) == ({}, "idle")


def test_objects_hold_for_every_look_at_federated_servers() -> None:
    def federated(value: int, stamp: int) -> bytes:
        name = "apiserver_flowcontrol_dispatched_requests_total"
        lines = [
            f'{name}{{flow_schema="load",instance="{one}",priority_level="load"}} {value} {stamp + shift}'
            for one, shift in (("a", 0), ("b", 7000))
        ]
        return ("\n".join(lines) + "\n").encode()

    found = frame(
        fold(
            [
                a_sample(configs("load"), None, Endpoint.CONFIGS, "server"),
                a_sample(federated(100, 1_000_000), None, replica="server"),
                a_sample(federated(400, 1_030_000), None, replica="server"),
            ]
        )
    )

    assert set(found.replicas) == {"a", "b"}
    for replica in found.replicas.values():
        level = replica.levels["load"]
        assert level.config is not None
        assert level.dispatched_per_s == 10


def test_a_total_is_unknown_where_a_term_is() -> None:
    found = frame(
        fold(
            [
                a_sample(exposition(limit("nominal", 10, "load"), dispatched(1)), 0.0, replica="a"),
                a_sample(levels_dump("load"), 0.0, Endpoint.LEVELS, "b"),
            ]
        )
    )

    assert (found.totals.levels["load"].replicas, found.totals.levels["load"].nominal) == (2, None)


def test_since_1_31_exempt_is_apart_from_the_seats_that_are_shared() -> None:
    lines = [limit("current", 40, "exempt"), limit("current", 60, "load"), limit("nominal", 60, "load")]
    lines += [limit("nominal", 0, "exempt")]

    assert a_replica(a_sample(exposition(*lines, release="v1.30.0"), 0.0)).current_sum == 100
    assert a_replica(a_sample(exposition(*lines, release="v1.31.0"), 0.0)).current_sum == 60


def test_a_zero_limit_up_to_1_27_has_no_utilization() -> None:
    name, bounds = "priority_level_seat_utilization", ("0", "0.95", "0.99", "1")
    *lines, _, count = histogram(name, [0.5], bounds, phase="executing", priority_level="load")
    spoilt = series(f"{name}_sum", "NaN", phase="executing", priority_level="load")

    assert a_level(*lines, spoilt, count, release="v1.27.9").utilization is None


def test_utilization_that_the_first_answer_left_open_is_not_that_of_the_levels_life() -> None:
    name, bounds = "priority_level_seat_utilization", ("0", "0.95", "0.99", "1")
    torn = [
        line
        for job, samples in (("a", [0.5]), ("b", [0.5, 0.5]))
        for line in histogram(name, samples, bounds, job=job, phase="executing", priority_level="load")
    ]
    whole = histogram(name, [0.5] * 9, bounds, phase="executing", priority_level="load")
    replica = a_replica(
        a_sample(exposition(dispatched(1), *torn), 0.0), a_sample(exposition(dispatched(2), *whole), 10.0)
    )

    assert replica.levels["load"].counts is not None
    assert replica.levels["load"].utilization is None


def test_a_negative_gauge_is_unknown() -> None:
    assert (
        a_level(series("current_executing_requests", -3, flow_schema="load", priority_level="load")).executing is None
    )


def test_a_schema_without_an_object_is_deleted() -> None:
    replica = a_replica(
        a_sample(schemas("load"), 0.0, Endpoint.SCHEMAS),
        a_sample(exposition(dispatched(1), dispatched(2, "load", "gone")), 0.0),
    )

    assert {name: schema.deleted for name, schema in replica.schemas.items()} == {"gone": True, "load": False}


def test_a_server_whose_metrics_are_denied_is_read_from_its_dumps() -> None:
    header = (
        "PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests, DispatchedRequests, "
        "RejectedRequests, TimedoutRequests, CancelledRequests\n"
    )

    def dump(dispatched: int, rejected: int, cancelled: int) -> bytes:
        cells = ["load", "3", "false", "false", "7", "2", str(dispatched), str(rejected), "0", str(cancelled)]
        widths = [max(8, len(name) + 2) for name in header.strip().split(", ")]
        row = "".join(f"{cell + ',':<{width}}" for cell, width in zip(cells[:-1], widths, strict=False)) + cells[-1]
        return (header + row + "\n").encode()

    replica = a_replica(
        Sample("kas", Endpoint.METRICS, status=403),
        a_sample(configs("load"), 0.0, Endpoint.CONFIGS),
        a_sample(dump(100, 10, 1), 0.0, Endpoint.LEVELS),
        a_sample(dump(140, 30, 4), 10.0, Endpoint.LEVELS),
    )
    level = replica.levels["load"]

    assert (level.waiting, level.executing, level.active_queues) == (7, 2, 3)
    assert level.counts is not None
    assert (level.counts.dispatched, dict(level.counts.rejected)) == (40, {"time-out": 3, "queue-full": 17})
    assert any("403 on /metrics" in problem for problem in replica.problems)


def test_no_number_of_a_frame_is_nan() -> None:
    level = a_level(limit("nominal", "NaN", "load"), limit("current", "NaN", "load"))

    assert not any(isinstance(one, float) and math.isnan(one) for one in (level.nominal or 0, level.current or 0))
