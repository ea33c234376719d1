"""Requests that wait, while they execute, for services whose own requests wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from apftop.findings.inversion import FINDERS
from apftop.findings.inversion.intercepted import intercepts
from apftop.findings.scene import Scene
from apftop.records.backend import Backend, Callback, CallbackRule, Timed
from apftop.records.findings import Change, Finding
from apftop.records.frame import Request
from apftop.records.logs import NO_LOGS, Caller, Logs
from apftop.records.measures import Window
from tests.findings.cluster import Did, Of, Row, a_cluster, busier, made, quiet

KYVERNO = "system:serviceaccount:kyverno:kyverno-admission-controller"
PODS = CallbackRule(("CREATE",), ("",), ("pods",))
WEBHOOK = Callback("validating", "kyverno-cfg", "validate.kyverno.svc", "kyverno", "kyverno-svc", 10.0, True, (PODS,))
METRICS = Callback(
    "apiservice",
    "v1beta1.metrics.k8s.io",
    "v1beta1.metrics.k8s.io",
    "kube-system",
    "metrics-server",
    rules=(CallbackRule(("*",), ("metrics.k8s.io",), ("*",)),),
)


def found(scene: Scene, code: str = "") -> list[Finding]:
    return [one for find in FINDERS for one in find(scene) if code in ("", one.code)]


def created(change: Change | None) -> list[dict[str, Any]]:
    """The objects that a change makes, out of its command."""
    assert change is not None
    return made(change.command)


def low(user: str, verb: str, resource: str, age_s: float, executing_s: float | None = None, **more: Any) -> Row:
    return Row("workload-low", "service-accounts", user, verb, resource, age_s=age_s, executing_s=executing_s, **more)


def creations(number: int = 39, executing_s: float = 5.0, **more: Any) -> list[Row]:
    return [
        low(f"system:serviceaccount:ci:runner-{at}", "create", "pods", 12.0, executing_s + at / 10, **more)
        for at in range(number)
    ]


def reads(number: int = 44, age_s: float = 2.0, user: str = KYVERNO, **more: Any) -> list[Row]:
    return [low(user, "get", "namespaces", age_s + at / 10, **more) for at in range(number)]


def scene_of(
    *rows: Row, callbacks: Sequence[Callback] | None = (WEBHOOK,), backend: Backend | None = None, logs: Logs = NO_LOGS
) -> Scene:
    runs = sum(row.executing_s is not None for row in rows)
    of = Of((Did("service-accounts", 110, executing=runs, waiting=len(rows) - runs, timed_out=64),), full=0.99)
    scene = a_cluster(busier(quiet("kas-a")[0], "workload-low", of, *rows), logs=logs)
    replicas = {name: replace(one, backend=backend) for name, one in scene.frame.replicas.items()}
    told = None if callbacks is None else tuple(callbacks)
    return replace(scene, frame=replace(scene.frame, callbacks=told, replicas=replicas))


@pytest.mark.fires("priority-inversion")
def test_a_webhook_that_reads_from_the_level_it_holds_up_is_suspected() -> None:
    (one,) = found(scene_of(*creations(), *reads()))

    assert (one.code, one.severity, one.subject, one.level) == (
        "priority-inversion",
        "critical",
        "kyverno",
        "workload-low",
    )
    assert one.title == (
        "priority inversion suspected in workload-low on kas-a: 39 executing requests wait for namespace kyverno, of "
        "whose accounts 44 wait for seats"
    )
    assert one.facts["suspicion"] == "priority-inversion"
    assert one.facts["webhook_namespace"] == "kyverno"
    assert one.facts["seats_held_share"] == 1
    assert any(
        "39 of 39 seats in use of workload-low" in line and "44 of 44 waiting in workload-low (100%)" in line
        for line in one.evidence
    )
    assert any("5s to 8.8s" in line and "create pods 39" in line for line in one.evidence)
    assert any("service kyverno-svc in namespace kyverno, timeout 10s, Fail" in line for line in one.evidence)
    assert any("kubectl get pods -n kyverno" in line for line in one.evidence)


def test_its_accounts_are_led_to_a_level_that_does_not_carry_the_writes() -> None:
    (one,) = found(scene_of(*creations(), *reads()))

    (schema,) = created(one.change)

    assert schema["spec"]["priorityLevelConfiguration"] == {"name": "workload-high"}
    assert schema["spec"]["matchingPrecedence"] == 5000
    assert schema["spec"]["rules"][0]["subjects"] == [
        {"kind": "ServiceAccount", "serviceAccount": {"namespace": "kyverno", "name": "*"}}
    ]
    assert one.change is not None
    assert one.change.rollback == "kubectl delete flowschemas.flowcontrol.apiserver.k8s.io/kyverno-callbacks"
    assert one.advice[0].startswith("a schema for the service accounts of namespace kyverno to workload-high")
    assert not any("new level" in line for line in one.advice)


def test_a_level_of_their_own_is_made_where_the_higher_one_carries_the_writes_too() -> None:
    high = [replace(row, level="workload-high", schema="kube-controller-manager") for row in creations(5)]

    (one,) = found(scene_of(*creations(), *high, *reads()))
    level, schema = created(one.change)

    assert level["spec"]["limited"]["nominalConcurrencyShares"] == 10
    assert schema["spec"]["priorityLevelConfiguration"]["name"] == level["metadata"]["name"] == "kyverno-callbacks"
    assert one.advice[1] == "on kas-a the new level gets 24 nominal seats; workload-low loses most, 245 -> 236"


def test_writes_of_a_high_level_that_wait_for_a_low_one_are_a_warning() -> None:
    high = [replace(row, level="workload-high", schema="kube-controller-manager") for row in creations(10)]
    others = [low("system:serviceaccount:a:b", "get", "pods", 2.0, 0.1) for _ in range(30)]

    (one,) = found(scene_of(*high, *others, *reads()))

    assert one.severity == "warning"
    assert any("10 of 10 seats in use of workload-high are held" in line for line in one.evidence)


def test_a_low_level_that_is_full_of_what_is_slow_by_itself_hides_no_inversion() -> None:
    high = [replace(row, level="workload-high", schema="kube-controller-manager") for row in creations(6)]
    others = [low("system:serviceaccount:a:b", "update", "leases", 5.0, 4.0) for _ in range(30)]

    (one,) = found(scene_of(*high, *others, *reads(6)))

    assert one.severity == "warning"


@pytest.mark.spares("priority-inversion")
@pytest.mark.parametrize(
    "rows",
    [
        [*creations(2), *reads()],
        [*creations(), *reads(2)],
        [*creations(executing_s=0.0, number=9), *reads()],
        [*creations(), *reads(age_s=-5.0, number=40)],
        [*creations(), *reads(user="system:serviceaccount:argo:server")],
        [*creations(subresource="eviction"), *reads()],
        [*creations(), *reads(), *(low("oidc:dev", "update", "leases", 9.0, 4.0) for _ in range(40))],
    ],
    ids=[
        "few creations",
        "few reads",
        "short creations",
        "reads that just came",
        "another namespace",
        "not what the webhook is for",
        "everything is slow",
    ],
)
def test_what_does_not_wait_for_each_other_is_no_inversion(rows: list[Row]) -> None:
    assert not found(scene_of(*rows), "priority-inversion")


def test_a_webhook_that_answers_at_once_holds_up_nothing() -> None:
    window = Window(30.0, "stamps")

    def said(mean_s: float) -> Scene:
        backend = Backend(window, webhooks={"validate.kyverno.svc": Timed(100, mean_s, 0.01)})
        return scene_of(*creations(), *reads(), backend=backend)

    assert not found(said(0.02))
    (one,) = found(said(9.1))
    assert any("it took 9.1s on average over 30s" in line for line in one.evidence)


def test_an_aggregated_api_is_called_back_for_all_requests_of_its_group() -> None:
    lists = [low(f"oidc:{at}", "list", "pods", 9.0, 6.0, api_version="metrics.k8s.io/v1beta1") for at in range(6)]
    its = "system:serviceaccount:kube-system:metrics-server"

    (one,) = found(scene_of(*lists, *reads(user=its), callbacks=[METRICS]))

    assert one.subject == "kube-system"
    (schema,) = created(one.change)
    assert schema["spec"]["rules"][0]["subjects"] == [
        {"kind": "ServiceAccount", "serviceAccount": {"namespace": "kube-system", "name": "metrics-server"}}
    ]
    assert not found(scene_of(*lists, *reads(user="system:serviceaccount:kube-system:dns"), callbacks=[METRICS]))


def test_a_log_that_tells_of_refused_accounts_is_evidence() -> None:
    logs = Logs(callers=(Caller(KYVERNO, "kyverno/1.0", "10.0.0.1", requests=90, refused=31),))

    (one,) = found(scene_of(*creations(), *reads(), logs=logs))

    assert any("31 requests of its accounts were refused" in line for line in one.evidence)
    assert any("kyverno/1.0 from 10.0.0.1" in line for line in one.evidence)


@pytest.mark.fires("inversion-untold")
def test_without_the_list_of_callbacks_the_rows_alone_make_a_weaker_suspicion() -> None:
    (one,) = found(scene_of(*creations(), *reads(), callbacks=None))

    assert (one.code, one.severity, one.subject) == ("inversion-untold", "info", "kyverno")
    assert one.facts["suspicion"] == "priority-inversion"
    assert "kubectl get validatingwebhookconfigurations" in one.advice[0]
    assert one.change is None


@pytest.mark.spares("inversion-untold")
@pytest.mark.parametrize(
    "rows",
    [
        [*creations(executing_s=-2.0), *reads()],
        [*creations(), *reads(20), *(low(f"system:serviceaccount:a{at}:x", "get", "pods", 3.0) for at in range(20))],
        [*creations(), *reads(user="system:serviceaccount:ci:runner-1")],
        [*creations(), *reads(), low(KYVERNO, "get", "pods", 3.0, 1.0)],
        [*creations(10), *(low("oidc:dev", "get", "pods", 3.0, 2.0) for _ in range(29)), *reads()],
    ],
    ids=["short writes", "many namespaces wait", "the same namespace", "it executes too", "a part of the seats"],
)
def test_slow_writes_beside_a_busy_client_are_no_suspicion(rows: list[Row]) -> None:
    assert not found(scene_of(*rows, callbacks=None))


def test_where_there_are_no_callbacks_nothing_is_suspected() -> None:
    assert not found(scene_of(*creations(), *reads(), callbacks=[]))


def reviews(number: int = 6, age_s: float = 2.0) -> list[Row]:
    return [
        low(
            "system:serviceaccount:monitoring:adapter",
            "create",
            "subjectaccessreviews",
            age_s,
            namespace="",
            api_version="authorization.k8s.io/v1",
        )
        for _ in range(number)
    ]


@pytest.mark.fires("reviews-wait")
def test_access_reviews_that_wait_hold_up_what_they_are_asked_for() -> None:
    (one,) = found(scene_of(*reviews(), callbacks=[]))

    assert (one.code, one.severity, one.subject) == ("reviews-wait", "warning", "workload-low")
    assert one.facts["suspicion"] == "priority-inversion"
    assert "6 token or access reviews wait in workload-low on kas-a" in one.title
    (schema,) = created(one.change)
    assert schema["spec"]["priorityLevelConfiguration"] == {"name": "workload-high"}
    (rule,) = schema["spec"]["rules"][0]["resourceRules"]
    assert (rule["verbs"], rule["apiGroups"]) == (["create"], ["authorization.k8s.io"])
    assert rule["clusterScope"] is True


def test_reviews_are_not_sent_to_a_level_in_which_others_wait() -> None:
    full = Of((Did("kube-controller-manager", 900, executing=98, waiting=40),), full=1.0)
    crowd = Of((Did("service-accounts", 110, waiting=6),), full=0.99)
    server = busier(busier(quiet("kas-a")[0], "workload-high", full), "workload-low", crowd, *reviews())
    (one,) = found(a_cluster(server))

    assert (one.code, one.change) == ("reviews-wait", None)
    assert one.advice[0].startswith("put reviews in a level of their own")


@pytest.mark.spares("reviews-wait")
def test_reviews_that_do_not_wait_for_long_are_no_matter() -> None:
    assert not found(scene_of(*reviews(2), callbacks=[]))
    assert not found(scene_of(*reviews(age_s=0.5), callbacks=[]))


def a_request(verb: str, resource: str, subresource: str = "", api_version: str = "v1") -> Request:
    row = Row("workload-low", "service-accounts", "u", verb, resource, subresource=subresource, api_version=api_version)
    (server,) = a_cluster(replace(quiet("kas-a")[0], rows=(row,))).frame.servers
    assert server.requests is not None
    return server.requests[0]


@pytest.mark.parametrize(
    ("operations", "groups", "resources", "request_", "expected"),
    [
        (("CREATE",), ("",), ("pods",), ("create", "pods"), True),
        (("CREATE",), ("",), ("pods",), ("get", "pods"), False),
        (("CREATE",), ("",), ("pods",), ("create", "pods", "binding"), False),
        (("*",), ("*",), ("*",), ("create", "pods", "binding"), False),
        (("*",), ("*",), ("*/*",), ("create", "pods", "binding"), True),
        (("*",), ("*",), ("pods/*",), ("create", "pods"), True),
        (("*",), ("*",), ("*/scale",), ("patch", "deployments", "scale", "apps/v1"), True),
        (("UPDATE",), ("apps",), ("deployments",), ("patch", "deployments", "", "apps/v1"), True),
        (("UPDATE",), ("",), ("deployments",), ("patch", "deployments", "", "apps/v1"), False),
        (("DELETE",), ("",), ("pods",), ("deletecollection", "pods"), True),
        (("CONNECT",), ("",), ("pods/exec",), ("create", "pods", "exec"), False),
        (("*",), ("*",), ("*/*",), ("list", "pods"), False),
    ],
)
def test_rules_of_webhooks_are_read_as_the_server_reads_them(
    operations: tuple[str, ...],
    groups: tuple[str, ...],
    resources: tuple[str, ...],
    request_: tuple[str, ...],
    expected: bool,
) -> None:
    callback = replace(WEBHOOK, rules=(CallbackRule(operations, groups, resources),))

    assert intercepts(callback, a_request(*request_)) is expected


def test_quiet_servers_have_no_such_finding() -> None:
    assert not found(a_cluster(*quiet()))
