"""Replicas that differ: in load, in configuration, in version, in their clocks; those that nobody sees."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apftop.findings.scene import Scene
from apftop.findings.servers import replicas
from apftop.records.findings import Finding
from apftop.records.frame import Clock
from apftop.records.logs import Denied, Logs
from apftop.records.raw import Endpoint
from tests.findings.cluster import T0, Did, Of, Row, Server, a_cluster, a_level, busier, quiet

LOW, SCHEMA = "workload-low", "service-accounts"
HOT = Of((Did(SCHEMA, 5400, queue_full=1800, waiting=500, executing=368),), full=1.0, current=368)
COOL = Of((Did(SCHEMA, 150, executing=1),), current=56)


def found(scene: Scene, code: str) -> list[Finding]:
    return [one for find in replicas.FINDERS for one in find(scene) if one.code == code]


def with_clocks(scene: Scene, **skews: tuple[float | None, float | None]) -> Scene:
    """The same scene with clocks of servers: how far this machine is ahead, and how far that is believed."""
    names = {name.replace("_", "-"): skew for name, skew in skews.items()}
    known = {
        name: replace(one, clock=Clock(T0, "as the test says", names[name][1], names[name][0]))
        if name in names
        else one
        for name, one in scene.frame.replicas.items()
    }
    return replace(scene, frame=replace(scene.frame, replicas=known))


def test_a_quiet_cluster_has_nothing_to_tell() -> None:
    scene = a_cluster(*quiet())

    assert [one.title for find in replicas.FINDERS for one in find(scene)] == []


@pytest.mark.fires("hot-replica")
def test_a_server_that_refuses_while_its_peers_idle_is_hot() -> None:
    hot, *cool = (busier(server, LOW, COOL) for server in quiet())
    user = "system:serviceaccount:ci:runner"
    rows = [Row(LOW, SCHEMA, user, executing_s=1.0), Row(LOW, SCHEMA, user)]
    (one,) = found(a_cluster(busier(hot, LOW, HOT, *rows), *cool), "hot-replica")

    assert (one.severity, one.subject, one.level) == ("warning", "kas-a", LOW)
    assert (
        one.title
        == "kas-a is hot: 94.7% of what workload-low serves, 60.0/s refused and 500 wait, and 2 of 2 peers idle"
    )
    assert one.facts["skew"] == pytest.approx(2.84, abs=0.01)
    assert one.facts["share_of_dispatch"] == pytest.approx({"kas-a": 0.947, "kas-b": 0.026, "kas-c": 0.026}, abs=1e-3)
    assert one.facts["idle"] == ["kas-b", "kas-c"]
    assert "refuses 100% of what all refuse (60.0/s)" in one.evidence[0]
    assert "370 of 480 seats on all servers together" in "\n".join(one.evidence)
    assert any(user in line for line in one.evidence)
    assert "--goaway-chance" in one.advice[0] and one.change is None
    assert any(line.startswith("more shares do not help") for line in one.advice)


def test_levels_that_suffer_on_one_server_are_one_finding() -> None:
    high = Of((Did("kube-scheduler", 900, queue_full=60, executing=98),), full=1.0)
    hot, *cool = (busier(server, LOW, COOL) for server in quiet())
    idle = Of((Did("kube-scheduler", 9),))
    cool = [busier(server, "workload-high", idle) for server in cool]
    (one,) = found(a_cluster(busier(busier(hot, LOW, HOT), "workload-high", high), *cool), "hot-replica")

    assert one.facts["levels"] == [LOW, "workload-high"]
    assert one.level == ""


def test_a_full_server_is_hot_where_its_clients_wait_and_are_not_refused() -> None:
    full = Of((Did(SCHEMA, 5400, waiting=40, executing=368),), full=0.95, current=368)
    hot, *cool = (busier(server, LOW, COOL) for server in quiet())

    assert [one.severity for one in found(a_cluster(busier(hot, LOW, full), *cool), "hot-replica")] == ["warning"]


def test_a_hot_replica_names_peers_that_restarted_after_it() -> None:
    hot, cool, late = (busier(server, LOW, COOL) for server in quiet())
    (one,) = found(a_cluster(busier(hot, LOW, HOT), cool, replace(late, up_s=600.0)), "hot-replica")

    (line,) = [line for line in one.evidence if line.startswith("started after it")]
    assert "kas-c 10m ago" in line and "kas-b" not in line


def test_when_peers_restarted_is_told_by_their_own_clocks() -> None:
    hot, cool, late = (busier(server, LOW, COOL) for server in quiet())
    scene = a_cluster(busier(hot, LOW, HOT), cool, replace(late, up_s=600.0))
    off = dict.fromkeys(("kas_a", "kas_b", "kas_c"), (120.0, 0.5))
    (one,) = found(with_clocks(scene, **off), "hot-replica")

    assert any("kas-c 8m ago" in line or "kas-c 8m0s ago" in line for line in one.evidence)


def test_a_busy_server_whose_clients_do_not_suffer_is_worth_a_word() -> None:
    hot, *cool = quiet()
    (one,) = found(a_cluster(busier(hot, LOW, Of((Did(SCHEMA, 6000, executing=5),))), *cool), "hot-replica")

    assert one.severity == "info"
    assert one.title.endswith("none suffers yet")


@pytest.mark.spares("hot-replica")
@pytest.mark.parametrize(
    ("hot", "cool"),
    [
        pytest.param(replace(HOT, did=(Did(SCHEMA, 150, queue_full=10),), full=0.2), COOL, id="ten refusals"),
        pytest.param(HOT, replace(COOL, did=(Did(SCHEMA, 150, executing=30),), half=0.5), id="peers are busy"),
        pytest.param(HOT, HOT, id="all suffer"),
        pytest.param(replace(HOT, current=0.0, nominal=0.0, upper=0.0), COOL, id="it has no seats"),
    ],
)
def test_a_server_is_not_hot_without_refusals_and_idle_peers(hot: Of, cool: Of) -> None:
    first, *others = quiet()
    scene = a_cluster(busier(first, LOW, hot), *(busier(server, LOW, cool) for server in others))

    assert [one for one in found(scene, "hot-replica") if one.severity != "info"] == []


def test_a_single_server_is_never_hot() -> None:
    assert found(a_cluster(busier(quiet("kas-a")[0], LOW, HOT)), "hot-replica") == []


def test_an_uneven_cluster_with_little_to_do_is_not_told() -> None:
    hot, *cool = quiet()
    calm = [busier(server, LOW, Of()) for server in cool]

    assert found(a_cluster(busier(hot, LOW, Of((Did(SCHEMA, 400),))), *calm), "hot-replica") == []


def test_a_server_that_is_down_is_no_peer_that_idles() -> None:
    first, second = (busier(server, LOW, COOL) for server in quiet("kas-a", "kas-b"))
    scene = a_cluster(busier(first, LOW, HOT), second)
    down = scene.frame.replicas["kas-b"]
    samples = {name: replace(age, stale=True) for name, age in down.samples.items()}
    known = {**scene.frame.replicas, "kas-b": replace(down, samples=samples)}

    assert len(found(scene, "hot-replica")) == 1
    assert found(replace(scene, frame=replace(scene.frame, replicas=known)), "hot-replica") == []


@pytest.mark.fires("slow-replica")
def test_a_server_that_suffers_from_no_more_than_its_peers_get_is_slow() -> None:
    slow = Of((Did(SCHEMA, 900, queue_full=600, waiting=40, executing=368, execution_s=12.0),), full=1.0, current=368)
    fast = Of((Did(SCHEMA, 1500, executing=2, execution_s=0.05),), current=56)
    first, *others = quiet()
    scene = a_cluster(busier(first, LOW, slow), *(busier(server, LOW, fast) for server in others))
    (one,) = found(scene, "slow-replica")

    assert (one.severity, one.subject) == ("warning", "kas-a")
    assert "CPU" in one.advice[0] and one.change is None
    assert found(scene, "hot-replica") == []


@pytest.mark.spares("slow-replica")
def test_a_hot_server_is_not_called_slow() -> None:
    first, *others = quiet()
    scene = a_cluster(busier(first, LOW, HOT), *(busier(server, LOW, COOL) for server in others))

    assert found(scene, "slow-replica") == []


@pytest.mark.fires("hidden-replicas")
def test_servers_with_a_lease_that_are_not_known_are_hidden() -> None:
    scene = a_cluster(*quiet("kas-a"))
    (one,) = found(replace(scene, frame=replace(scene.frame, servers_alive=3)), "hidden-replicas")

    assert (one.severity, one.facts) == ("info", {"alive": 3, "seen": 1, "hidden": 2})
    assert "--server" in one.advice[0]


@pytest.mark.spares("hidden-replicas")
def test_servers_that_have_not_answered_yet_are_not_hidden() -> None:
    scene = a_cluster(*quiet("kas-a"))
    first = {name: replace(one, window=None) for name, one in scene.frame.replicas.items()}

    assert found(replace(scene, frame=replace(scene.frame, replicas=first, servers_alive=3)), "hidden-replicas") == []


@pytest.mark.spares("hidden-replicas")
@pytest.mark.parametrize("alive", [None, 1, 3])
def test_nothing_is_hidden_where_all_are_known_or_leases_are_not(alive: int | None) -> None:
    scene = a_cluster(*quiet())

    assert found(replace(scene, frame=replace(scene.frame, servers_alive=alive)), "hidden-replicas") == []


@pytest.mark.fires("config-skew")
def test_servers_with_other_flags_disagree_about_seats() -> None:
    odd, *others = quiet()
    (one,) = found(a_cluster(replace(odd, seats=400), *others), "config-skew")

    assert one.severity == "warning"
    assert one.facts["seats"] == {"kas-a": 400, "kas-b": 600, "kas-c": 600}
    assert isinstance(one.facts["nominal"], dict)
    assert one.facts["nominal"][LOW] == {"kas-a": 164, "kas-b": 245, "kas-c": 245}
    assert "--max-requests-inflight" in one.advice[0]


def test_a_level_that_one_server_lacks_is_told() -> None:
    first, *others = quiet()
    scene = a_cluster(first, *others, levels=[a_level("batch", 5)])
    lacking = scene.frame.replicas["kas-b"]
    levels = {name: level for name, level in lacking.levels.items() if name != "batch"}
    known = {**scene.frame.replicas, "kas-b": replace(lacking, levels=levels)}
    (one,) = found(replace(scene, frame=replace(scene.frame, replicas=known)), "config-skew")

    assert one.facts["lacking"] == {"batch": ["kas-b"]}
    assert "levels are missing on kas-b" in one.title


@pytest.mark.spares("config-skew")
@pytest.mark.parametrize("written", ["2026-04-12T10:03:27Z", "2026-04-12T10:03:30Z"])
def test_servers_may_differ_while_a_change_reaches_them(written: str) -> None:
    odd, *others = quiet()
    manager = {"manager": "kubectl-edit", "operation": "Update", "time": written, "fieldsV1": {}}
    metas = {LOW: {"managedFields": [manager]}}

    assert found(a_cluster(replace(odd, seats=400), *others, metas=metas), "config-skew") == []


@pytest.mark.spares("config-skew")
def test_a_level_that_may_be_gone_is_no_skew_where_a_server_that_restarted_lacks_it() -> None:
    denied = dict.fromkeys((Endpoint.LEVELS, Endpoint.REQUESTS, Endpoint.SCHEMAS, Endpoint.CONFIGS), 403)
    first, *others = quiet(statuses=denied)
    gone = busier(first, "deleted", Of(nominal=102, current=194, lower=102, upper=702))
    scene = a_cluster(gone, *others)
    once = {name: replace(one, window=None, possibly_stale_levels=()) for name, one in scene.frame.replicas.items()}

    assert "deleted" in scene.frame.replicas["kas-a"].levels
    assert found(scene, "config-skew") == []
    assert found(replace(scene, frame=replace(scene.frame, replicas=once)), "config-skew") == []


@pytest.mark.spares("config-skew")
@pytest.mark.parametrize(("seats", "apart_s", "told"), [(600, 0.0, 1), (600, 30.0, 0), (400, 30.0, 1)])
def test_without_objects_metrics_that_are_far_apart_tell_of_flags_alone(seats: int, apart_s: float, told: int) -> None:
    denied = dict.fromkeys((Endpoint.LEVELS, Endpoint.REQUESTS, Endpoint.SCHEMAS, Endpoint.CONFIGS), 403)
    first, *others = quiet(statuses=denied)
    scene = a_cluster(replace(first, seats=seats), *others)
    odd = scene.frame.replicas["kas-a"]
    age = odd.samples[Endpoint.METRICS]
    assert age.time is not None
    levels = {**odd.levels, LOW: replace(odd.levels[LOW], nominal=7.0)}
    samples = {**odd.samples, Endpoint.METRICS: replace(age, time=age.time - apart_s)}
    known = {**scene.frame.replicas, "kas-a": replace(odd, levels=levels, samples=samples)}

    assert len(found(replace(scene, frame=replace(scene.frame, replicas=known)), "config-skew")) == told


@pytest.mark.spares("config-skew")
def test_a_change_is_told_to_be_recent_by_the_clock_of_the_servers() -> None:
    odd, *others = quiet()
    manager = {"manager": "kubectl-edit", "operation": "Update", "time": "2026-04-12T10:03:27Z", "fieldsV1": {}}
    scene = a_cluster(replace(odd, seats=400), *others, metas={LOW: {"managedFields": [manager]}})
    off = dict.fromkeys(("kas_a", "kas_b", "kas_c"), (-100.0, 0.5))

    assert found(scene, "config-skew") == []
    assert len(found(with_clocks(scene, **off), "config-skew")) == 1


def test_a_level_that_only_old_metrics_show_is_no_skew() -> None:
    first, *others = quiet()
    gone = busier(first, "deleted", Of(nominal=102, current=194, lower=102, upper=702, dumped=False))

    assert found(a_cluster(gone, *others), "config-skew") == []


@pytest.mark.fires("mixed-versions")
def test_releases_that_differ_are_told_with_what_they_change() -> None:
    old, *others = quiet()
    (one,) = found(
        a_cluster(replace(old, release="v1.33.4"), *(replace(s, release="v1.34.1") for s in others)), "mixed-versions"
    )

    assert one.severity == "info"
    assert one.facts["versions"] == {"1.33.4": ["kas-a"], "1.34.1": ["kas-b", "kas-c"]}
    assert [line for line in one.evidence if "LIST is priced by bytes" in line]
    assert not [line for line in one.evidence if "1.31" in line]


@pytest.mark.spares("mixed-versions")
def test_builds_of_one_release_are_not_mixed() -> None:
    old, *others = quiet()

    assert found(a_cluster(replace(old, release="v1.30.4-gke.1348000"), *others), "mixed-versions") == []


@pytest.mark.fires("clock-skew")
def test_clocks_that_are_seconds_apart_are_told() -> None:
    scene = with_clocks(a_cluster(*quiet("kas-a", "kas-b")), kas_a=(102.0, 1.0), kas_b=(105.0, 1.0))
    (one,) = found(scene, "clock-skew")

    assert one.severity == "info"
    assert one.title == "clocks of API servers differ by 3s and this machine's clock is off by 102s to 105s"
    assert one.facts["ahead_s"] == {"kas-b": 105.0, "kas-a": 102.0}
    assert one.evidence[0] == "this machine is 105s ahead of kas-b, give or take 1s"


def test_servers_whose_clocks_are_far_apart_are_a_warning() -> None:
    scene = with_clocks(a_cluster(*quiet()), kas_a=(0.001, 0.002), kas_b=(-12.0, 0.002), kas_c=(0.0, 0.002))
    (one,) = found(scene, "clock-skew")

    assert one.severity == "warning"
    assert one.title == "clocks of API servers differ by 12s and this machine's clock is off by 12s"


@pytest.mark.spares("clock-skew")
@pytest.mark.parametrize(
    ("a", "b"),
    [
        pytest.param((0.05, 0.001), (0.05, 0.001), id="a laptop that drifts"),
        pytest.param((0.9, 0.001), (0.1, 0.001), id="less than a second apart"),
        pytest.param((2.5, 1.0), (2.0, 1.0), id="within what Date tells"),
        pytest.param((None, None), (105.0, None), id="not known how well"),
    ],
)
def test_clocks_that_may_well_agree_make_no_noise(
    a: tuple[float | None, float | None], b: tuple[float | None, float | None]
) -> None:
    assert found(with_clocks(a_cluster(*quiet("kas-a", "kas-b")), kas_a=a, kas_b=b), "clock-skew") == []


EXTENSION = (
    "flowschemas",
    "prioritylevelconfigurations",
)


def an_extension(logs: Logs = Logs()) -> Scene:  # noqa: B008
    """A kube-apiserver, and a server with the mandatory levels only."""
    scene = a_cluster(*quiet("kas"), logs=logs)
    server = scene.frame.replicas["kas"]
    levels = {name: level for name, level in server.levels.items() if name in ("exempt", "catch-all")}
    kueue = replace(server, name="kueue", kind="extension", levels=levels)
    return replace(scene, frame=replace(scene.frame, replicas={"kas": server, "kueue": kueue}))


@pytest.mark.fires("extension-server")
def test_a_server_with_mandatory_levels_only_is_no_kube_apiserver() -> None:
    user = "system:serviceaccount:kueue-system:kueue-controller-manager"
    (one,) = found(an_extension(Logs(denied=tuple(Denied(user, what, 1) for what in EXTENSION))), "extension-server")

    assert (one.severity, one.subject) == ("info", "kueue")
    assert "left out of all totals" in one.title
    assert [line for line in one.evidence if f"{user} may not list flowschemas" in line]
    assert one.change is not None
    assert one.change.command == (
        "kubectl create clusterrole apf-objects-reader --verb=get,list,watch"
        " --resource=flowschemas.flowcontrol.apiserver.k8s.io,"
        "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io"
        " && kubectl create clusterrolebinding apf-objects-reader --clusterrole=apf-objects-reader"
        " --serviceaccount=kueue-system:kueue-controller-manager"
    )
    assert one.change.rollback == (
        "kubectl delete clusterrolebinding/apf-objects-reader clusterrole/apf-objects-reader"
    )


def test_without_a_log_nobody_is_given_rights() -> None:
    (one,) = found(an_extension(), "extension-server")

    assert one.change is None


@pytest.mark.spares("extension-server")
def test_a_kube_apiserver_is_not_taken_for_another() -> None:
    assert found(a_cluster(*quiet()), "extension-server") == []


def test_foreign_names_reach_no_terminal_as_they_are() -> None:
    servers = [replace(server, name=f"{server.name}\x1b[31m") for server in quiet()]
    first, *others = (busier(server, LOW, COOL) for server in servers)
    scene = a_cluster(busier(first, LOW, HOT), *others)
    for one in found(scene, "hot-replica"):
        assert "\x1b" not in "".join((one.title, one.subject, *one.evidence, *one.advice))


def test_a_server_that_has_no_metrics_yet_is_left_out() -> None:
    assert found(a_cluster(*quiet("kas-a", "kas-b"), Server("kas-c", metrics=False)), "config-skew") == []
