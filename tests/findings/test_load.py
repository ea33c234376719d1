"""Levels that are full, execution that became slow, clients that retry."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.apf.builtins import builtin_levels
from apftop.apf.objects import Subject
from apftop.findings.saturation.demand import split, words
from apftop.findings.saturation.load import level_saturated, retry_storm
from apftop.findings.saturation.slow import slow_execution
from apftop.findings.scene import Place, Scene
from apftop.records.findings import Finding
from apftop.records.load import Baseline, Load
from apftop.records.logs import Caller, Logs
from apftop.records.measures import Execution, Quantile
from apftop.rules import rules
from tests.findings.cluster import Did, Of, Row, Server, a_cluster, a_level, a_schema, busier, made, quiet
from tests.findings.from_bundle import CASES, scene_of

LOW = "workload-low"
ACCOUNT = "system:serviceaccount:tools:crawler"
NOBODY: tuple[Row, ...] = ()


def rows(
    user: str, waiting: int, executing: int, schema: str = "service-accounts", level: str = LOW, **what: Any
) -> tuple[Row, ...]:
    """Requests of one user in the dump."""
    return (
        *(Row(level, schema, user, queue=1, index=at, **what) for at in range(waiting)),
        *(Row(level, schema, user, executing_s=0.05, **what) for _ in range(executing)),
    )


def crowd(waiting: int, executing: int, **what: Any) -> tuple[Row, ...]:
    """The same number of requests of each of twenty accounts."""
    return tuple(
        row for one in range(20) for row in rows(f"system:serviceaccount:ns:a{one}", waiting, executing, **what)
    )


FULL = Of(
    (
        Did(
            "service-accounts",
            6000,
            queue_full=600,
            waits={0.8: 6000},
            executing=60,
            waiting=160,
            usually=(20.0, 1.0, 0.05),
        ),
    ),
    full=1.0,
    current=60.0,
)


def full(*inside: Row, of: Of = FULL, name: str = "kas-a", **server: Any) -> Server:
    return busier(quiet(name, **server)[0], LOW, of, *inside)


def one(found: Any) -> Finding:
    (finding,) = found
    assert isinstance(finding, Finding)
    return finding


def saturated(scene: Scene) -> Finding:
    return one(level_saturated(scene))


def patch(command: str) -> Mapping[str, Any]:
    """The merge patch of a kubectl command."""
    text: Mapping[str, Any] = json.loads(command.split("-p '")[1].split("'")[0])["spec"]
    return text


@pytest.mark.fires("level-saturated")
def test_a_full_level_is_told_with_its_numbers_and_the_arithmetic_of_its_wait() -> None:
    found = saturated(a_cluster(full(*rows(ACCOUNT, 150, 50), *rows("system:serviceaccount:a:b", 10, 10))))

    assert (found.severity, found.subject, found.replicas) == ("warning", LOW, ("kas-a",))
    assert found.title == f"workload-low on kas-a is full: 60 of 60 seats, 160 wait, 20.0/s refused; mostly {ACCOUNT}"
    assert found.evidence[0].startswith(
        "kas-a: 60 of 60 seats in use (nominal 245); all taken for 100% of 30s; 160 waiting; "
        "dispatched 200.0/s over 30s; refused queue-full 20.0/s over 30s; wait p99 500ms-1s"
    )
    assert (
        "160 waiting / 200.0 dispatched per s over 30s = 800ms wait expected; the mean was 800ms over 30s"
        in found.evidence
    )
    assert found.facts["refused_per_s"] == {"queue-full": 20.0}
    assert found.weight == 180.0


@pytest.mark.spares("level-saturated")
@pytest.mark.parametrize(
    "of",
    [
        Of((Did("service-accounts", 6000, executing=60),), full=1.0, current=60.0),
        Of((Did("service-accounts", 6000, queue_full=4, executing=60),), full=0.3, current=80.0),
        Of((Did("service-accounts", 60000, queue_full=40, executing=60),), full=0.3, current=80.0),
        Of((Did("service-accounts", 600, waits={3.0: 300}, executing=43, waiting=37),), current=60.0),
        replace(FULL, quiescing=True),
    ],
    ids=["full without a queue", "a few refusals", "one refusal in a thousand", "seats are free", "it drains"],
)
def test_a_level_is_not_called_full_when_it_is_not(of: Of) -> None:
    assert not list(level_saturated(a_cluster(full(of=of))))


@pytest.mark.spares("level-saturated")
@pytest.mark.spares("slow-execution")
@pytest.mark.spares("retry-storm")
def test_a_quiet_cluster_gives_nothing() -> None:
    scene = a_cluster(*quiet())

    assert not [*level_saturated(scene), *slow_execution(scene), *retry_storm(scene)]


def test_one_finding_tells_of_all_servers_the_worst_first() -> None:
    worse = replace(FULL, did=(replace(FULL.did[0], queue_full=3000),))
    found = saturated(a_cluster(full(name="kas-a"), full(of=worse, name="kas-b")))

    assert found.replicas == ("kas-b", "kas-a")
    assert found.title.startswith("workload-low on kas-b and 1 more is full")
    assert [line.partition(":")[0] for line in found.evidence[:2]] == ["kas-b", "kas-a"]


def test_refusals_in_a_level_that_nodes_live_by_are_critical() -> None:
    did = replace(FULL.did[0], schema="system-nodes")
    found = saturated(a_cluster(busier(quiet("kas-a")[0], "system", replace(FULL, did=(did,)))))

    assert found.severity == "critical"


def test_the_rise_of_demand_is_split_against_the_life_before() -> None:
    found = saturated(a_cluster(full()))

    assert (
        "demand 1 -> 11.3 seats (x11): arrivals 20.0/s -> 225.3/s (x11), width 1 -> 1 seats (x1), "
        "execution 50ms -> 50ms (x1); against the 3 days before, since the server started" in found.evidence
    )
    assert found.facts["arrivals_factor"] == pytest.approx(11.27, abs=0.01)


def test_a_baseline_that_is_given_goes_before_the_life() -> None:
    baseline = Baseline(Load(360.0, 100.0, 1.0, 0.05), "the 6 minutes before 10:02:10 UTC")
    found = saturated(a_cluster(full(), baselines={("kas-a", LOW): baseline}))

    assert found.facts["baseline"] == "the 6 minutes before 10:02:10 UTC"
    assert found.facts["arrivals_factor"] == pytest.approx(2.253, abs=0.001)


def test_a_young_server_has_no_baseline_and_that_is_said() -> None:
    found = saturated(a_cluster(full(up_s=120.0)))

    assert found.facts["arrivals_factor"] is None
    assert "no earlier time to compare with: the cause of the rise is not known" in found.evidence


def test_one_client_gets_a_level_of_its_own() -> None:
    found = saturated(a_cluster(full(*rows(ACCOUNT, 150, 50), *rows("system:serviceaccount:a:b", 10, 10))))

    assert found.facts["cause"] == "client"
    assert (found.facts["client"], found.facts["client_share_of_queue"]) == (ACCOUNT, 150 / 160)
    assert found.schema == "service-accounts"
    assert any(
        line.startswith(f"behind {ACCOUNT}: find its pods: kubectl get pods -n tools") for line in found.evidence
    )
    assert found.advice[0] == (
        f"give {ACCOUNT} a level of its own, so that it delays itself only: level and schema tools-crawler "
        "(12 seats a server, no borrowing; precedence 8900, before service-accounts)"
    )
    assert found.change is not None
    level, schema = made(found.change.command)
    assert level["spec"]["limited"]["nominalConcurrencyShares"] == 5
    assert level["spec"]["limited"]["borrowingLimitPercent"] == 0
    assert schema["spec"]["priorityLevelConfiguration"] == {"name": "tools-crawler"}
    assert schema["spec"]["matchingPrecedence"] == 8900
    assert schema["spec"]["rules"][0]["subjects"] == [
        {"kind": "ServiceAccount", "serviceAccount": {"namespace": "tools", "name": "crawler"}}
    ]
    assert found.change.rollback.split()[:2] == ["kubectl", "delete"]
    assert found.change.rollback.count("/tools-crawler") == 2


@pytest.mark.parametrize(("executing", "width"), [(1, 1), (10, 1), (2, 40)], ids=["one", "a few", "two wide ones"])
def test_who_is_there_while_few_are_has_not_filled_the_level(executing: int, width: int) -> None:
    often = replace(FULL, did=(replace(FULL.did[0], executing=executing, waiting=0),), full=0.6)
    found = saturated(a_cluster(full(*rows(ACCOUNT, 0, executing, width=width), of=often)))

    assert (found.facts["cause"], found.facts["client"], found.change) == ("unknown", None, None)
    assert "too few requests were in the level at the moment of the dump: who fills it is not known" in found.evidence


def test_the_new_schema_goes_before_no_other_than_the_one_that_matches_now() -> None:
    user = "system:serviceaccount:ops:agent"
    agents = a_schema("agents", LOW, 250, Subject("ServiceAccount", "agent", "ops"))
    of = replace(FULL, did=(replace(FULL.did[0], schema="agents"),))
    found = saturated(a_cluster(full(*rows(user, 150, 50, "agents"), of=of), schemas=[agents]))

    assert found.change is not None
    assert '"matchingPrecedence": 249' in found.change.command


def test_no_share_is_advised_for_a_level_that_the_servers_keep_as_it_is() -> None:
    did = Did("catch-all", 600, concurrency_limit=60, executing=30)
    server = busier(quiet("kas-a")[0], "catch-all", Of((did,), full=1.0), *crowd_of_catch_all())
    found = saturated(a_cluster(server, without=("global-default",)))

    assert (found.facts["cause"], found.change) == ("load", None)
    assert found.advice[0].startswith("have a schema take these requests to another level")


def crowd_of_catch_all() -> list[Row]:
    """Two users who have as much of the level each."""
    return [Row("catch-all", "catch-all", f"user-{at % 2}", executing_s=0.05) for at in range(30)]


def test_a_level_that_will_stand_at_its_limit_of_borrowing_is_helped_by_more_of_it_at_once() -> None:
    mine = a_level("mine", 10, borrowing=100)
    did = replace(FULL.did[0], schema="mine", executing=24, execution_s=0.5, usually=(100.0, 1.0, 0.5))
    kinds = ("pods", "secrets", "services", "nodes")
    inside = [row for kind in kinds for row in crowd(1, 1, resource=kind, schema="mine", level="mine")]
    server = busier(quiet("kas-a")[0], "mine", replace(FULL, did=(did,), current=24.0), *inside)
    found = saturated(a_cluster(server, levels=[mine]))

    assert found.facts["cause"] == "borrowing-limit"
    assert found.advice[0].endswith("its limit of borrowing leaves it 48")


def test_a_level_may_not_borrow_more_where_the_others_lend_nothing() -> None:
    mine = a_level("mine", 10, borrowing=0)
    others = [replace(one, lendable_percent=0) for one in builtin_levels().values() if not one.exempt]
    did = replace(FULL.did[0], schema="mine", executing=24)
    kinds = ("pods", "secrets", "services", "nodes")
    inside = [row for kind in kinds for row in crowd(1, 1, resource=kind, schema="mine", level="mine")]
    server = busier(quiet("kas-a")[0], "mine", replace(FULL, did=(did,), current=24.0), *inside)
    found = saturated(a_cluster(server, levels=[mine, *others]))

    assert found.facts["cause"] == "load"
    assert found.change is not None
    assert "nominalConcurrencyShares" in found.change.command


def test_a_client_whose_level_is_its_own_already_is_to_slow_down() -> None:
    mine = a_level("mine", 5, borrowing=0)
    schema = a_schema("mine", "mine", 1000, Subject("ServiceAccount", "crawler", "tools"))
    of = replace(FULL, did=(replace(FULL.did[0], schema="mine"),), current=12.0)
    server = busier(quiet("kas-a")[0], "mine", of, *rows(ACCOUNT, 150, 12, "mine", "mine"))
    found = saturated(a_cluster(server, levels=[mine], schemas=[schema]))

    assert found.facts["cause"] == "own"
    assert found.advice[0] == f"slow {ACCOUNT} down: the level is its own, and nobody else is hurt"
    assert found.change is None


@pytest.mark.parametrize(
    ("user", "command"),
    [
        (
            "system:kube-controller-manager",
            "kubectl get pods -n kube-system -l component=kube-controller-manager -o wide",
        ),
        ("system:node:n1", "kubectl get node n1 -o wide"),
        (
            "system:serviceaccount:kube-system:agent",
            "kubectl get pods -n kube-system --field-selector spec.serviceAccountName=agent -o wide",
        ),
        ("system:apiserver", """| grep -oE '"(userAgent|sourceIPs)":[^,]*' | sort | uniq -c | sort -rn"""),
    ],
    ids=["a component", "a node", "an account of kube-system", "the API server"],
)
def test_a_part_of_the_cluster_is_not_confined_and_the_command_that_names_its_process_is_told(
    user: str, command: str
) -> None:
    found = saturated(a_cluster(full(*rows(user, 150, 50))))

    assert (found.facts["cause"], found.change) == ("client", None)
    assert found.advice[0].startswith(f"find out why {user} asks for so much, and do not confine it")
    assert found.advice[1].endswith(command)


@pytest.mark.parametrize("user", ["system:serviceaccount:kube-system-tools:agent", "systemd:agent", "jane"])
def test_accounts_that_only_sound_like_parts_of_the_cluster_get_a_level_of_their_own(user: str) -> None:
    assert saturated(a_cluster(full(*rows(user, 150, 50)))).change is not None


def test_a_new_level_is_told_with_what_it_takes_from_the_others() -> None:
    told = saturated(a_cluster(full(*rows(ACCOUNT, 150, 50)))).advice[1]

    assert told == "on kas-a the new level gets 12 nominal seats; workload-low loses most, 245 -> 240"


def test_what_a_new_level_takes_is_told_in_words_where_limits_do_not_follow_from_the_objects() -> None:
    told = saturated(a_cluster(full(*rows(ACCOUNT, 150, 50), of=replace(FULL, nominal=200.0)))).advice[1]

    assert told == "the new level takes 5 shares, so that all others shrink a little"


BURSTS = Of((Did("service-accounts", 600, queue_full=600, executing=2),), full=0.1, current=60.0)


def test_a_level_that_is_not_full_now_and_refused_was_full_at_moments() -> None:
    found = saturated(a_cluster(full(of=BURSTS)))

    assert found.title == "workload-low on kas-a was full at moments: 20.0/s refused over 30s, 2 of 60 seats in use now"


@pytest.mark.parametrize(
    "of",
    [
        replace(BURSTS, full=0.6),
        replace(BURSTS, did=(replace(BURSTS.did[0], executing=60),)),
        replace(BURSTS, did=(replace(BURSTS.did[0], waiting=3),)),
    ],
    ids=["full for most of the time", "full now", "some wait now"],
)
def test_a_level_that_is_full_now_or_for_long_is_called_full(of: Of) -> None:
    assert saturated(a_cluster(full(of=of))).title.startswith("workload-low on kas-a is full: ")


def test_the_case_of_bursts_between_two_scrapes() -> None:
    assert saturated(scene_of(CASES / "C43")).title == (
        "workload-low on server was full at moments: 25.0/s refused over 600s, 0 of 368 seats in use now"
    )


def test_names_of_clients_cannot_act_on_a_terminal() -> None:
    found = saturated(a_cluster(full(*rows("evil\x1b[2Juser", 150, 50))))

    assert "\x1b" not in "".join((found.title, *found.evidence, *found.advice))


def test_one_kind_of_request_from_many_clients_is_no_case_for_shares() -> None:
    found = saturated(a_cluster(full(*crowd(8, 3, verb="create", resource="events"))))

    assert found.facts["cause"] == "kind"
    assert found.advice[0].startswith("give create events a level of its own")


def mixed(waiting: int = 4, executing: int = 2) -> tuple[Row, ...]:
    """Many clients with many kinds of requests: an honest load."""
    kinds = ("pods", "secrets", "services", "nodes")
    return tuple(row for kind in kinds for row in crowd(waiting // 2, executing // 2, resource=kind))


def test_an_honest_load_gets_a_larger_share_and_is_told_what_that_costs_the_others() -> None:
    found = saturated(
        a_cluster(full(*mixed(), of=replace(FULL, current=300.0, did=(replace(FULL.did[0], executing=300),))))
    )

    assert found.facts["cause"] == "load"
    assert found.change is not None
    before, after = patch(found.change.rollback), patch(found.change.command)
    assert before == {"limited": {"nominalConcurrencyShares": 100}}
    shares = after["limited"]["nominalConcurrencyShares"]
    assert 100 < shares <= 200
    assert f"shares 100 -> {shares}; nominal seats on each server: workload-low 245 -> 300" in found.advice[0]
    assert "node-high 98 -> " in found.advice[0]
    assert found.change.command.startswith("kubectl annotate")


def test_a_full_server_is_not_helped_by_shares() -> None:
    did = replace(FULL.did[0], executing=560)
    found = saturated(a_cluster(full(*mixed(), of=replace(FULL, current=560.0, did=(did,)))))

    assert (found.facts["cause"], found.facts["server_full"]) == ("server-full", True)
    assert found.change is None
    assert "shares only move them about" in found.advice[0]


def test_a_level_at_its_limit_of_borrowing_may_borrow_more_where_seats_are_free() -> None:
    mine = a_level("mine", 10, borrowing=100)
    did = replace(FULL.did[0], schema="mine", executing=48)
    of = replace(FULL, did=(did,), current=48.0)
    kinds = ("pods", "secrets", "services", "nodes")
    inside = [row for kind in kinds for row in crowd(1, 1, resource=kind, schema="mine", level="mine")]
    found = saturated(a_cluster(busier(quiet("kas-a")[0], "mine", of, *inside), levels=[mine]))

    assert found.facts["cause"] == "borrowing-limit"
    assert found.change is not None
    assert patch(found.change.command) == {"limited": {"borrowingLimitPercent": None}}
    assert patch(found.change.rollback) == {"limited": {"borrowingLimitPercent": 100}}


def test_clients_that_sit_on_one_server_are_to_be_spread() -> None:
    found = saturated(a_cluster(full(*crowd(8, 3)), *quiet("kas-b")))

    assert found.facts["cause"] == "skew"
    assert found.change is None
    assert "kas-b" in found.advice[0]


def test_one_client_is_not_to_be_spread_over_the_servers() -> None:
    found = saturated(a_cluster(full(*rows(ACCOUNT, 150, 50)), *quiet("kas-b")))

    assert found.facts["cause"] == "client"


def test_wide_requests_are_to_be_made_narrow() -> None:
    did = replace(FULL.did[0], dispatched=600, queue_full=60, waits={0.8: 600}, width=8.0, executing=8, seats=60)
    found = saturated(a_cluster(full(*rows(ACCOUNT, 150, 50), of=replace(FULL, did=(did,)))))

    assert found.facts["cause"] == "width"
    assert "pages" in found.advice[0]


def test_who_holds_the_seats_for_long_while_others_wait_is_looked_at_first() -> None:
    did = replace(
        FULL.did[0], dispatched=200, queue_full=0, timed_out=60, waits={9.0: 100}, execution_s=9.0, usually=(1, 1, 9)
    )
    runners = crowd(0, 3, verb="create", resource="pods")
    found = saturated(
        a_cluster(full(*runners, *rows("system:serviceaccount:hook:hook", 44, 0), of=replace(FULL, did=(did,))))
    )

    assert found.facts["cause"] == "held"
    assert found.advice[0].startswith("find out what the requests that hold the seats wait for: create pods")


def test_without_a_dump_the_client_is_to_be_found() -> None:
    found = saturated(a_cluster(replace(full(), rows=None)))

    assert found.facts["cause"] == "unknown"
    assert "no dump of requests: who is in the level is not known" in found.evidence
    assert "dump_requests?includeRequestDetails=1" in found.advice[0]


SLOW = Of((Did("service-accounts", 600, execution_s=2.0, executing=40, usually=(20.0, 1.0, 0.05)),), half=1.0)
ETCD = "etcd_request_duration_seconds"


def etcd(operation: str, usual_s: float, now_s: float) -> tuple[tuple[str, float, float], ...]:
    """100 calls of an operation in the window, after ten thousand of the usual time."""
    labels = f'operation="{operation}",type="x"'
    return (
        (f'{ETCD}_bucket{{{labels},le="+Inf"}}', 10000, 10100),
        (f"{ETCD}_sum{{{labels}}}", 10000 * usual_s, 10000 * usual_s + 100 * now_s),
        (f"{ETCD}_count{{{labels}}}", 10000, 10100),
    )


@pytest.mark.fires("slow-execution")
def test_a_slow_backend_is_named() -> None:
    more = (*etcd("update", 0.004, 1.9), *etcd("get", 0.003, 0.004))
    found = one(slow_execution(a_cluster(full(of=SLOW, more=more), *quiet("kas-b"))))

    assert (found.severity, found.subject, found.replicas) == ("warning", LOW, ("kas-a",))
    assert "etcd update takes 1.9s, usually 4ms" in found.title
    assert found.evidence[0] == (
        "workload-low on kas-a: execution 2s on average over 30s, 50ms in the 3 days before, since the server started "
        "(x40); arrivals 20.0/s, 20.0/s then"
    )
    assert found.facts["behind"] == "etcd update"
    assert found.change is None


def test_slow_execution_in_several_levels_is_one_finding_also_without_a_name() -> None:
    exempt = Of((Did("exempt", 300, execution_s=1.0, usually=(10.0, 1.0, 0.01)),))
    found = one(slow_execution(a_cluster(busier(full(of=SLOW), "exempt", exempt))))

    assert (found.severity, found.subject, found.level) == ("warning", "cluster", "")
    assert found.facts["levels"] == ["exempt", LOW]
    assert found.facts["behind"] is None
    assert "etcd" in found.advice[0]


def test_clients_that_wait_for_their_answers_send_less_to_a_slow_server() -> None:
    closed = replace(SLOW, did=(replace(SLOW.did[0], dispatched=60),))
    found = one(slow_execution(a_cluster(full(of=closed))))

    assert found.facts["arrivals_factor"] == pytest.approx(0.1)


def test_a_full_level_whose_execution_became_slow_is_sent_to_the_backend() -> None:
    did = replace(FULL.did[0], dispatched=600, queue_full=60, waits={9.0: 600}, execution_s=2.0)
    found = saturated(
        a_cluster(full(*rows(ACCOUNT, 150, 50), of=replace(FULL, did=(did,)), more=etcd("update", 0.004, 1.9)))
    )

    assert found.facts["cause"] == "execution"
    assert "etcd update takes 1.9s" in found.advice[0]
    assert found.change is None


LONG = Of(
    (
        Did(
            "service-accounts",
            600,
            queue_full=60,
            waits={9.0: 600},
            execution_s=2.0,
            executing=60,
            waiting=160,
            usually=(20.0, 1.0, 0.05),
        ),
    ),
    full=1.0,
    current=60.0,
)


@pytest.mark.spares("slow-execution")
def test_long_lists_of_one_client_are_no_slow_backend_while_other_levels_are_as_fast_as_ever() -> None:
    lists = rows(ACCOUNT, 150, 50, verb="list")
    scene = a_cluster(full(*lists, of=LONG))

    assert not list(slow_execution(scene))
    assert saturated(scene).facts["cause"] == "client"


@pytest.mark.parametrize(("more", "cause"), [(etcd("update", 0.004, 1.9), "execution"), ((), "client")])
def test_refused_requests_that_come_again_do_not_hide_that_the_backend_is_slow(
    more: tuple[tuple[str, float, float], ...], cause: str
) -> None:
    storm = replace(LONG, did=(replace(LONG.did[0], queue_full=12000),))
    scene = a_cluster(full(*rows(ACCOUNT, 150, 50), of=storm, more=more))

    assert saturated(scene).facts["cause"] == cause
    assert len(list(slow_execution(scene))) == bool(more)


@pytest.mark.parametrize(
    ("verb", "more"),
    [("create", ()), ("list", etcd("update", 0.004, 1.9))],
    ids=["writes, which take no longer by themselves", "lists, and etcd is slow with other things too"],
)
def test_a_slow_backend_is_one_whoever_fills_the_level(verb: str, more: tuple[tuple[str, float, float], ...]) -> None:
    scene = a_cluster(full(*rows(ACCOUNT, 150, 50, verb=verb), of=LONG, more=more))

    assert one(slow_execution(scene)).severity == "warning"
    assert saturated(scene).facts["cause"] == "execution"


@pytest.mark.spares("slow-execution")
def test_one_long_request_among_many_short_ones_is_no_slow_execution() -> None:
    scene = a_cluster(full(of=SLOW))
    server = scene.frame.replicas["kas-a"]
    short = Execution(40, 0.3, Quantile(0.02, 0.05, 0.04))
    levels = {**server.levels, LOW: replace(server.levels[LOW], execution=short)}
    mean = replace(scene, frame=replace(scene.frame, replicas={"kas-a": replace(server, levels=levels)}))

    assert list(slow_execution(scene))
    assert not list(slow_execution(mean))


def test_long_requests_of_the_exempt_level_alone_are_a_note() -> None:
    exempt = Of((Did("exempt", 300, execution_s=1.0, usually=(10.0, 1.0, 0.01)),))

    assert one(slow_execution(a_cluster(busier(quiet("kas-a")[0], "exempt", exempt)))).severity == "info"


@pytest.mark.spares("slow-execution")
@pytest.mark.parametrize(
    "did",
    [
        Did("service-accounts", 600, execution_s=0.14, usually=(20.0, 1.0, 0.05)),
        Did("service-accounts", 600, execution_s=0.08, usually=(20.0, 1.0, 0.005)),
        Did("service-accounts", 15, execution_s=2.0, usually=(20.0, 1.0, 0.05)),
        Did("service-accounts", 60000, execution_s=0.2, usually=(20.0, 1.0, 0.05)),
    ],
    ids=["a little slower", "slower by little", "a few long lists", "a hundred times the arrivals"],
)
def test_execution_is_not_called_slow_when_it_is_not(did: Did) -> None:
    assert not list(slow_execution(a_cluster(full(of=Of((did,))))))


def test_one_slow_level_that_nobody_suffers_from_is_a_note() -> None:
    assert one(slow_execution(a_cluster(full(of=SLOW)))).severity == "info"


STORM = Of(
    (Did("service-accounts", 3000, queue_full=15000, waits={9.0: 3000}, executing=60, usually=(100.0, 1.0, 0.05)),),
    full=1.0,
)


@pytest.mark.fires("retry-storm")
def test_clients_that_retry_at_once_are_told_to_back_off() -> None:
    found = one(retry_storm(a_cluster(full(*rows(ACCOUNT, 100, 50), of=STORM))))

    assert (found.severity, found.subject) == ("warning", LOW)
    assert found.title == (
        "workload-low on kas-a: 83.3% of requests refused, 500.0/s; clients try again at once, "
        "or ask for far more than usual"
    )
    assert "6.00 requests come for each one that starts" in found.evidence
    assert any(line.startswith(f"waiting now: {ACCOUNT}") for line in found.evidence)
    assert "Retry-After" in found.advice[0]
    assert "jitter" in found.advice[0]
    assert found.change is None
    assert found.facts["arrivals_factor"] == pytest.approx(6.0)


def test_the_logs_tell_who_is_refused() -> None:
    caller = Caller(ACCOUNT, "crawler/v1", "10.0.0.7", level=LOW, requests=900, refused=800)
    found = one(retry_storm(a_cluster(full(of=STORM), logs=Logs(callers=(caller,)))))

    assert f"by the logs: {ACCOUNT} (crawler/v1 from 10.0.0.7): 800 of 900 refused" in found.evidence


@pytest.mark.spares("retry-storm")
@pytest.mark.parametrize(
    "of",
    [
        Of((replace(STORM.did[0], queue_full=5900),), full=1.0),
        Of((replace(STORM.did[0], dispatched=5, queue_full=20),), full=1.0),
        Of((replace(STORM.did[0], usually=(500.0, 1.0, 0.05)),), full=1.0),
    ],
    ids=["two of three are refused", "hardly any requests", "as many arrive as ever"],
)
def test_refusals_are_no_storm_by_themselves(of: Of) -> None:
    assert not list(retry_storm(a_cluster(full(of=of))))


@pytest.mark.spares("retry-storm")
def test_a_level_that_refuses_all_for_lack_of_seats_is_another_matter() -> None:
    jail = a_level("jail", 0, borrowing=0)
    of = Of((replace(STORM.did[0], schema="jail", dispatched=0, waits={}),), current=0.0)

    assert not list(retry_storm(a_cluster(busier(quiet("kas-a")[0], "jail", of), levels=[jail])))


def test_the_case_of_a_flood_by_one_daemon_set() -> None:
    found = saturated(scene_of(CASES / "C03"))

    assert found.title.endswith(
        "39 of 39 seats, 300 wait, 149.0/s refused; mostly system:serviceaccount:stackable-operators:secret-operator"
    )
    assert (
        "300 waiting / 368.0 dispatched per s over 30s = 815ms wait expected; the mean was 818ms over 30s"
        in found.evidence
    )
    assert (found.facts["client_share_of_queue"], found.facts["kind"]) == (1.0, "get persistentvolumeclaims")
    assert found.facts["client_share_of_seats"] == pytest.approx(36 / 39)
    assert found.facts["cause"] == "client"


def test_who_has_nearly_all_of_the_queue_need_not_have_most_seats_since_queues_take_turns() -> None:
    found = saturated(a_cluster(full(*rows(ACCOUNT, 140, 10), *crowd(1, 2))))

    assert found.facts["cause"] == "client"
    assert found.title.endswith(f"mostly {ACCOUNT}")


def test_two_clients_that_ask_for_as_much_are_no_one_client() -> None:
    found = saturated(a_cluster(full(*rows(ACCOUNT, 80, 30), *rows("system:serviceaccount:a:b", 80, 30))))

    assert found.facts["cause"] == "load"
    assert found.advice[0].startswith("give the level a larger share: 2 clients ask for more than it has")


factors = st.floats(0.01, 1000.0)


@given(arrivals=factors, width=factors, execution=factors)
def test_the_factors_of_a_split_multiply_to_the_rise_and_the_dominant_one_is_the_largest(
    arrivals: float, width: float, execution: float
) -> None:
    scene = a_cluster(*quiet("kas-a"))
    level = scene.frame.replicas["kas-a"].levels[LOW]
    usual = Load(3600.0, 5.0, 2.0, 0.1)
    now = Load(30.0, 5.0 * arrivals, 2.0 * width, 0.1 * execution)
    place = Place(scene.frame.replicas["kas-a"], replace(level, load=now, usual=usual))
    found = split(scene, place)

    assert found is not None
    assert found.rise == pytest.approx(arrivals * width * execution)
    if found.dominant:
        by = {"arrivals": arrivals, "width": width, "execution": execution}
        assert by[found.dominant] == max(by.values())
        assert by[found.dominant] >= rules().findings.load.rise_factor * (1 - 1e-9)


def test_without_a_request_before_only_what_is_known_is_compared() -> None:
    scene = a_cluster(*quiet("kas-a"))
    level = scene.frame.replicas["kas-a"].levels[LOW]
    place = Place(
        scene.frame.replicas["kas-a"],
        replace(level, load=Load(30.0, 5.0, 2.0, 0.1), usual=Load(3600.0, 0.0, None, None)),
    )
    found = split(scene, place)

    assert found is not None
    assert (found.arrivals, found.width, found.execution, found.rise, found.dominant) == (None, None, None, None, "")
    assert words(found) == ()
