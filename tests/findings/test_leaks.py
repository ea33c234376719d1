"""Seats that leak, demand that nobody has, gauges of dead levels, levels that drain."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apftop.findings.scene import Scene
from apftop.findings.seats.leaks import FINDERS
from apftop.records.findings import Finding
from apftop.records.raw import Endpoint
from tests.derive.build import PREFIX
from tests.findings.cluster import Did, Of, Row, Server, a_cluster, a_level, a_schema, busier, quiet

HOUR = 3600.0
USER = "system:serviceaccount:ci:runner"


def found(scene: Scene) -> list[Finding]:
    return [one for find in FINDERS for one in find(scene)]


def long_running(executing_s: float, count: int = 30, waiting: int = 0) -> Scene:
    of = Of((Did("service-accounts", 300, executing=count, waiting=waiting),), current=56)
    rows = [
        Row(
            "workload-low",
            "service-accounts",
            USER,
            "list",
            "pods",
            executing_s=executing_s,
            age_s=executing_s,
            queue=at,
        )
        for at in range(count)
    ]
    return a_cluster(busier(quiet("kas-a")[0], "workload-low", of, *rows))


@pytest.mark.fires("leaked-seats")
def test_requests_that_execute_for_hours_hold_their_seats_for_ever() -> None:
    (one,) = found(long_running(3 * HOUR))

    assert (one.code, one.severity, one.subject, one.change) == ("leaked-seats", "warning", "workload-low", None)
    assert one.title == (
        "30 requests of workload-low on kas-a executing for up to 3h0m: 30 of 56 seats are not given back"
    )
    assert one.facts["kind"] == "never-ends"
    assert one.facts["seats"] == 30
    assert any("list pods for 3h0m" in line for line in one.evidence)
    assert any(f"most of them by {USER}: 30 of 30 seats" in line for line in one.evidence)
    assert "restart the API server on kas-a" in one.advice[0]


@pytest.mark.spares("leaked-seats")
def test_requests_that_execute_for_minutes_may_still_end() -> None:
    assert found(long_running(300.0)) == []


def test_one_seat_of_many_that_is_not_given_back_hurts_nobody_yet() -> None:
    (one,) = found(long_running(3 * HOUR, count=1))

    assert one.severity == "info"


def test_one_seat_that_is_not_given_back_while_others_wait_hurts() -> None:
    (one,) = found(long_running(3 * HOUR, count=1, waiting=3))

    assert one.severity == "warning"


def held(dispatched: int = 0, executing: int = 0, rows: tuple[Row, ...] | None = ()) -> Scene:
    """Seats of `global-default` in use."""
    server = replace(quiet("kas-a")[0], rows=rows)
    of = Of((Did("global-default", dispatched, executing=executing, seats=20),), current=56)
    return (
        a_cluster(busier(server, "global-default", of))
        if rows is not None
        else a_cluster(replace(server, levels={**server.levels, "global-default": of}))
    )


@pytest.mark.parametrize("rows", [(), None])
def test_seats_in_use_without_any_request_over_a_whole_window_leaked(rows: tuple[Row, ...] | None) -> None:
    (one,) = found(held(rows=rows))

    assert (one.code, one.severity, one.subject) == ("leaked-seats", "warning", "global-default")
    assert "20 of 56 seats of global-default on kas-a are held by no request" in one.title
    assert one.facts["kind"] == "no-request"


@pytest.mark.spares("leaked-seats")
def test_seats_that_linger_after_writes_or_are_held_by_a_request_are_no_leak() -> None:
    assert found(held(dispatched=40)) == []
    assert found(held(executing=2)) == []


def wanted(waiting: int = 0, seats: int = 5, was: int = 0, waits: dict[float, int] | None = None) -> Scene:
    of = Of(
        (
            Did(
                "service-accounts",
                600,
                executing=1,
                waiting=waiting,
                waiting_seats=seats,
                was_waiting=was,
                waits=waits or {},
            ),
        )
    )
    return a_cluster(busier(quiet("kas-a")[0], "workload-low", of))


@pytest.mark.fires("leaked-demand")
@pytest.mark.parametrize(("seats", "severity"), [(5, "info"), (60, "warning")])
def test_seats_that_wait_without_requests_are_demand_that_leaked(seats: int, severity: str) -> None:
    (one,) = found(wanted(seats=seats))

    assert (one.code, one.severity, one.subject, one.change) == ("leaked-demand", severity, "workload-low", None)
    assert f"wants {seats} seats for which no request waits" in one.title


@pytest.mark.spares("leaked-demand")
def test_seats_that_may_be_those_of_requests_are_no_leak() -> None:
    assert found(wanted(waiting=2, seats=5)) == []
    assert found(wanted(seats=5, was=3)) == []
    assert found(wanted(seats=5, waits={0.3: 40})) == []


def ghost(dumped: bool = True, objects: bool = True, name: str = "load") -> Scene:
    """A level of which only metrics still tell."""
    of = Of((Did("load", usually=(1.0, 1.0, 0.05)),), nominal=102, lower=102, upper=702, current=194, dumped=False)
    statuses = {} if objects else {Endpoint.CONFIGS: 403, Endpoint.SCHEMAS: 403}
    server = replace(quiet("kas-a")[0], dumps=dumped, statuses=statuses, rows=() if dumped else None)
    return a_cluster(replace(server, levels={**server.levels, name: of}))


@pytest.mark.fires("stale-gauges")
@pytest.mark.parametrize("dumped", [True, False])
def test_gauges_of_a_level_that_is_gone_are_told_and_left_out_of_sums(dumped: bool) -> None:
    (one,) = found(ghost(dumped))

    assert (one.code, one.severity, one.subject, one.level) == ("stale-gauges", "info", "load", "load")
    assert "102 nominal seats that are nobody's" in one.title
    assert (one.facts["nominal_sum"], one.facts["naive_nominal_sum"]) == (602, 704)
    assert one.facts["certain"] == "true"


def test_without_dumps_and_objects_a_level_that_does_not_move_is_possibly_gone() -> None:
    (one,) = found(ghost(dumped=False, objects=False))

    assert "is possibly gone" in one.title
    assert one.facts["certain"] == "false"


@pytest.mark.spares("stale-gauges")
def test_where_there_are_metrics_only_a_level_that_does_not_move_is_idle() -> None:
    scene = ghost(dumped=False, objects=False)
    (one,) = scene.frame.replicas.values()
    kept = replace(one, endpoints={name: 200 if name == Endpoint.METRICS else None for name in one.endpoints})

    assert found(replace(scene, frame=replace(scene.frame, replicas={one.name: kept}))) == []


@pytest.mark.spares("stale-gauges")
def test_a_level_that_was_made_after_the_dump_is_not_gone() -> None:
    of = Of((Did("load", 60),), dumped=False)
    scene = a_cluster(
        busier(quiet("kas-a")[0], "load", of), levels=[a_level("load")], schemas=[a_schema("load", "load", 1000)]
    )

    assert "load" in scene.frame.replicas["kas-a"].stale_levels
    assert found(scene) == []


def test_built_in_levels_that_are_idle_are_not_taken_for_dead() -> None:
    server = replace(quiet("kas-a")[0], dumps=False, rows=None, statuses={Endpoint.CONFIGS: 403, Endpoint.SCHEMAS: 403})

    assert found(a_cluster(server)) == []


def draining(waiting: int = 0, was: int = 0, age_s: float = 1.0) -> Scene:
    of = Of(
        (Did("load", executing=5, waiting=waiting, was_waiting=was, usually=(1.0, 1.0, 0.05)),),
        nominal=40,
        lower=40,
        upper=640,
        current=40,
        quiescing=True,
    )
    rows = [Row("load", "load", USER, age_s=age_s, index=at) for at in range(waiting)]
    return a_cluster(busier(quiet("kas-a")[0], "load", of, *rows), schemas=[a_schema("load", "load", 1000)])


@pytest.mark.fires("quiescing")
def test_a_deleted_level_that_drains_is_worth_knowing() -> None:
    (one,) = found(draining())

    assert (one.code, one.severity, one.subject) == ("quiescing", "info", "load")
    assert "is deleted and still drains: 5 execute, 0 wait, 40 nominal seats kept" in one.title
    assert any("match nothing: load" in line for line in one.evidence)


@pytest.mark.parametrize(("was", "age_s", "severity"), [(20, 1.0, "warning"), (0, 12.0, "warning"), (0, 1.0, "info")])
def test_a_deleted_level_in_which_requests_wait_for_long_is_a_warning(was: int, age_s: float, severity: str) -> None:
    (one,) = found(draining(waiting=20, was=was, age_s=age_s))

    assert one.severity == severity


@pytest.mark.spares("quiescing")
def test_a_level_that_lives_does_not_drain() -> None:
    of = Of((Did("load", 60, executing=5),))
    scene = a_cluster(
        busier(quiet("kas-a")[0], "load", of), levels=[a_level("load")], schemas=[a_schema("load", "load", 1000)]
    )

    assert found(scene) == []


def test_an_extension_server_makes_no_noise() -> None:
    lines = (f'{PREFIX}current_executing_seats{{priority_level="catch-all",flow_schema="catch-all"}}', 3.0, 3.0)
    server = Server("metrics-server", more=(lines,), dumps=False, rows=None)
    without = ["system", "node-high", "leader-election", "workload-high", "workload-low", "global-default"]

    assert found(a_cluster(server, without=without)) == []


def test_a_quiet_cluster_leaks_nothing() -> None:
    for release in ("v1.26.0", "v1.30.4", "v1.37.2"):
        assert found(a_cluster(*quiet(release=release))) == []
