"""What this tool may not see, and what became of its own requests; requests refused after APF let them through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from apftop.apf.objects import FlowSchema, NonResourceRule, ResourceRule, Subject
from apftop.findings.scene import Scene
from apftop.findings.servers import access
from apftop.records.backend import Backend
from apftop.records.findings import Finding
from apftop.records.logs import Caller, Logs
from apftop.records.measures import Window
from apftop.records.raw import DUMPS, FLOW_SCHEMA_UID, LEVEL_UID, Endpoint, Sample
from tests.findings.cluster import SECONDS, T0, Did, Of, Row, Server, a_cluster, a_schema, busier, made, quiet
from tests.findings.from_bundle import CASES, scene_of

LOW, SCHEMA = "workload-low", "service-accounts"
WINDOW = Window(30.0, "stamps")
READER = "system:serviceaccount:monitoring:reader"
OWN_ROW = Row(LOW, SCHEMA, READER, path="/debug/api_priority_and_fairness/dump_requests", executing_s=0.001)


def found(scene: Scene, code: str) -> list[Finding]:
    return [one for find in access.FINDERS for one in find(scene) if one.code == code]


def behind(scene: Scene, **backends: Backend) -> Scene:
    """The same scene with what lies behind the queues of some servers."""
    known = {
        name: replace(one, backend=backends.get(name.replace("-", "_"))) for name, one in scene.frame.replicas.items()
    }
    return replace(scene, frame=replace(scene.frame, replicas=known))


def a_backend(
    requests: Mapping[int, float],
    terminations: Mapping[int, float] | None = None,
    forbidden: Mapping[str, float] | None = None,
    too_many: Mapping[str, float] | None = None,
    seconds: float = 30.0,
) -> Backend:
    return Backend(Window(seconds, "stamps"), requests, terminations or {}, forbidden or {}, too_many or {})


def refusals(number: int, at: float = T0 + SECONDS) -> list[Sample]:
    """Own questions that were refused with growing Retry-After."""
    return [
        Sample(
            "kas-a",
            Endpoint.LEVELS,
            b"Too many requests, please try again later.\n",
            429,
            sent=at,
            received=at,
            headers=(("retry-after", str(2**n)), (FLOW_SCHEMA_UID, "s-uid"), (LEVEL_UID, "l-uid")),
        )
        for n in range(number)
    ]


GETS = (NonResourceRule(("get",), ("*",)),)
METAS = {SCHEMA: {"uid": "s-uid"}, LOW: {"uid": "l-uid"}}


def test_a_quiet_cluster_has_nothing_to_tell() -> None:
    scene = a_cluster(*quiet())

    assert [one.title for find in access.FINDERS for one in find(scene)] == []


@pytest.mark.fires("own-requests-refused")
def test_own_refusals_name_the_level_and_print_a_way_around_it() -> None:
    (server,) = quiet("kas-a")
    scene = a_cluster(busier(server, LOW, Of((Did(SCHEMA, 600),)), OWN_ROW), more=refusals(4), metas=METAS)
    (one,) = found(scene, "own-requests-refused")

    assert (one.severity, one.subject, one.level, one.schema) == ("warning", LOW, LOW, SCHEMA)
    assert one.title.startswith("this tool's own requests are refused by workload-low on kas-a: 4 of ")
    assert one.facts["next_try_not_before"] == {
        "kas-a": [f"2026-04-12T10:03:{second}.000Z" for second in ("31", "32", "34", "38")]
    }
    assert one.change is not None
    level, schema = objects(one.change.command)
    assert level["spec"]["limited"]["nominalConcurrencyShares"] == 1
    assert schema["spec"]["priorityLevelConfiguration"] == {"name": "apftop"}
    assert schema["spec"]["matchingPrecedence"] < 9000
    (rule,) = schema["spec"]["rules"]
    account = {"namespace": "monitoring", "name": "reader"}
    assert rule["subjects"] == [{"kind": "ServiceAccount", "serviceAccount": account}]
    assert rule["nonResourceRules"] == [
        {"verbs": ["get"], "nonResourceURLs": ["/metrics", "/debug/api_priority_and_fairness/*"]}
    ]
    assert one.change.rollback == (
        "kubectl delete flowschemas.flowcontrol.apiserver.k8s.io/apftop"
        " prioritylevelconfigurations.flowcontrol.apiserver.k8s.io/apftop"
    )
    assert any("system:masters" in line for line in one.advice)


def own_precedence(scene: Scene) -> int | None:
    """That of the schema which is printed for this tool; None where none is."""
    (one,) = found(scene, "own-requests-refused")
    if one.change is None:
        return None
    precedence = objects(one.change.command)[1]["spec"]["matchingPrecedence"]
    assert isinstance(precedence, int)
    return precedence


DEFAULT = {"global-default": {"uid": "s-uid"}}


def refused(*more: FlowSchema) -> Scene:
    """Questions refused that came by `global-default`, from somebody whom no dump tells."""
    return a_cluster(*quiet("kas-a", rows=None), more=refusals(4), metas=DEFAULT, schemas=more)


def test_the_printed_schema_is_tried_before_what_takes_the_printed_account() -> None:
    precedence = own_precedence(refused())

    assert precedence is not None
    assert 1000 < precedence < 9000


@pytest.mark.parametrize(
    "rules",
    [
        {"rules": (), "others": (NonResourceRule(("get",), ("/metrics",)),)},
        {"rules": (), "others": (NonResourceRule(("get",), ("/debug/*",)),)},
        {
            "rules": (
                ResourceRule(("watch", "list"), ("flowcontrol.apiserver.k8s.io",), ("*",), (), cluster_scope=True),
            )
        },
    ],
    ids=["metrics", "dumps", "objects"],
)
def test_a_schema_that_takes_any_of_the_questions_comes_after_the_printed_one(
    rules: dict[str, tuple[ResourceRule | NonResourceRule, ...]],
) -> None:
    taker = a_schema("taker", LOW, 300, Subject("Group", "system:serviceaccounts:apftop"), **rules)  # type: ignore[arg-type]

    assert own_precedence(refused(taker)) == 250


def test_a_schema_for_other_accounts_need_not_come_after_the_printed_one() -> None:
    other = a_schema("other", LOW, 300, Subject("ServiceAccount", "*", "elsewhere"))

    assert own_precedence(refused(other)) == own_precedence(refused())


def test_no_schema_is_printed_where_there_is_no_room_for_it() -> None:
    first = a_schema("first", LOW, 2, Subject("ServiceAccount", "apftop", "apftop"), others=GETS)
    (one,) = found(refused(first), "own-requests-refused")

    assert one.change is None
    assert one.advice[0].endswith("by a schema ahead of all that it matches")


def test_what_the_level_for_this_tool_takes_is_told() -> None:
    (one,) = found(refused(), "own-requests-refused")

    assert "on kas-a the new level gets 3 nominal seats; workload-low loses most, 245 -> 244" in one.advice


def test_the_case_of_a_tool_that_is_refused_by_the_default_level() -> None:
    assert own_precedence(scene_of(CASES / "C39")) == own_precedence(refused())


def objects(command: str) -> list[dict]:  # type: ignore[type-arg]
    """The objects that a command creates."""
    return made(command)


def test_one_own_refusal_is_no_warning() -> None:
    (one,) = found(a_cluster(*quiet("kas-a"), more=refusals(1), metas=METAS), "own-requests-refused")

    assert one.severity == "info"


@pytest.mark.spares("own-requests-refused")
def test_own_refusals_of_long_ago_are_forgotten() -> None:
    scene = a_cluster(*quiet("kas-a"), more=refusals(4, T0), metas=METAS)

    assert found(replace(scene, now=T0 + 300.0), "own-requests-refused") == []


@pytest.mark.fires("metrics-missing")
def test_a_server_that_denies_metrics_is_told_with_what_grants_them() -> None:
    first, *others = quiet()
    scene = a_cluster(replace(first, statuses={Endpoint.METRICS: 403}), *others)
    (one,) = found(scene, "metrics-missing")

    assert (one.severity, one.replicas) == ("warning", ("kas-a",))
    assert one.change is not None
    assert one.change.command.startswith(
        "kubectl create clusterrole apftop-metrics-reader --verb=get --non-resource-url=/metrics"
    )


def test_a_release_without_some_measures_says_what_nobody_can_tell() -> None:
    scene = a_cluster(*quiet("kas-a"))
    lacks = replace(scene.frame.replicas["kas-a"], version="v1.27.9", cannot_fill=("waiting_seats", "progress_r"))
    (one,) = found(replace(scene, frame=replace(scene.frame, replicas={"kas-a": lacks})), "metrics-missing")

    assert one.severity == "info"
    assert one.facts["lacks"] == {"kas-a": ["waiting_seats"]}
    assert one.title == "metrics of kas-a do not tell how many seats those that wait want"
    assert one.advice[0] == "this release does not expose them: a newer one does"


@pytest.mark.spares("metrics-missing")
def test_a_server_that_starts_has_no_metrics_for_the_moment() -> None:
    first, *others = quiet()

    assert found(a_cluster(replace(first, statuses={Endpoint.METRICS: 503}), *others), "metrics-missing") == []


def test_who_is_not_known_logs_in_again() -> None:
    first, *others = quiet()
    (one,) = found(a_cluster(replace(first, statuses={Endpoint.METRICS: 401}), *others), "metrics-missing")

    assert (one.advice, one.change) == (("log in again: the server does not accept who asks",), None)


@pytest.mark.spares("metrics-missing")
def test_metrics_that_nobody_asked_for_are_not_missing() -> None:
    assert found(a_cluster(*quiet("kas-a", metrics=False)), "metrics-missing") == []


@pytest.mark.fires("dumps-denied")
def test_denied_dumps_come_with_the_role_that_grants_them() -> None:
    (one,) = found(a_cluster(*quiet("kas-a", statuses=dict.fromkeys(DUMPS, 403))), "dumps-denied")

    assert one.severity == "info"
    assert one.change is not None
    assert one.change.command == (
        "kubectl create clusterrole apftop-dumps-reader --verb=get"
        " --non-resource-url='/debug/api_priority_and_fairness/*'"
        " && kubectl create clusterrolebinding apftop-dumps-reader --clusterrole=apftop-dumps-reader --user=USER"
    )
    assert (
        one.change.rollback == "kubectl delete clusterrolebinding/apftop-dumps-reader clusterrole/apftop-dumps-reader"
    )


@pytest.mark.spares("dumps-denied")
def test_dumps_that_fail_otherwise_are_not_denied() -> None:
    assert found(a_cluster(*quiet("kas-a", statuses=dict.fromkeys(DUMPS, 503))), "dumps-denied") == []


@pytest.mark.fires("objects-denied")
def test_denied_objects_come_with_the_role_that_grants_them() -> None:
    statuses = {Endpoint.SCHEMAS: 403, Endpoint.CONFIGS: 403}
    (one,) = found(a_cluster(*quiet("kas-a", statuses=statuses)), "objects-denied")

    assert one.change is not None
    assert "--verb=get,list,watch --resource=flowschemas.flowcontrol.apiserver.k8s.io," in one.change.command


@pytest.mark.spares("objects-denied")
def test_denied_dumps_leave_the_objects_alone() -> None:
    assert found(a_cluster(*quiet("kas-a", statuses=dict.fromkeys(DUMPS, 403))), "objects-denied") == []


@pytest.mark.fires("apf-absent")
def test_a_server_without_apf_is_a_warning() -> None:
    scene = a_cluster(*quiet("kas-a"), Server("kas-b", metrics=False, statuses=dict.fromkeys(DUMPS, 404)))
    (one,) = found(scene, "apf-absent")

    assert (one.severity, one.subject, one.replicas) == ("warning", "kas-b", ("kas-b",))
    assert "dump_requests 404" in one.evidence[0]


@pytest.mark.spares("apf-absent")
def test_a_server_that_denies_all_may_have_apf() -> None:
    denied = Server("kas-b", metrics=False, statuses=dict.fromkeys(DUMPS, 403))

    assert found(a_cluster(*quiet("kas-a"), denied), "apf-absent") == []


def test_requests_that_end_in_403_name_who_asks_for_the_same() -> None:
    user = "system:serviceaccount:shop:crawler"
    rows = [Row(LOW, SCHEMA, user, verb="list", resource="secrets", executing_s=0.1), Row(LOW, SCHEMA, "other")]
    (server,) = quiet("kas-a")
    logs = Logs(callers=(Caller(user, "crawler/1.0", "10.0.0.7", requests=90),))
    scene = a_cluster(busier(server, LOW, Of((Did(SCHEMA, 600),)), *rows), logs=logs)
    counted = a_backend({200: 600, 403: 400}, forbidden={"list secrets": 390, "get nodes": 10})
    (one,) = found(behind(scene, kas_a=counted), "forbidden-after-dispatch")

    assert one.facts["users"] == {user: 1}
    assert f"kubectl auth can-i list secrets --as {user}" in one.advice[0]
    assert [line for line in one.evidence if line.startswith("crawler/1.0 from 10.0.0.7")]
    assert one.change is None


def test_odd_names_are_quoted_in_commands() -> None:
    rows = [Row(LOW, SCHEMA, "o'brien $(reboot)", verb="list", resource="secrets", executing_s=0.1)]
    (server,) = quiet("kas-a")
    scene = a_cluster(busier(server, LOW, Of((Did(SCHEMA, 600),)), *rows))
    (one,) = found(
        behind(scene, kas_a=a_backend({403: 400}, forbidden={"list secrets": 390})), "forbidden-after-dispatch"
    )

    assert one.advice[0].endswith("""kubectl auth can-i list secrets --as 'o'"'"'brien $(reboot)'""")


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        ("create pods/binding", "create pods --subresource binding --as USER"),
        ("get /metrics", "get /metrics --as USER"),
        ("list pods", "list pods --as USER"),
    ],
)
def test_what_is_missing_is_asked_for_as_kubectl_takes_it(kind: str, asked: str) -> None:
    (one,) = found(
        behind(a_cluster(*quiet()), kas_a=a_backend({403: 400}, forbidden={kind: 390})), "forbidden-after-dispatch"
    )

    assert one.advice[0].endswith(f"kubectl auth can-i {asked}")


@pytest.mark.fires("forbidden-after-dispatch")
def test_many_403s_are_told_by_server() -> None:
    scene = behind(a_cluster(*quiet()), kas_a=a_backend({200: 700, 403: 300}), kas_b=a_backend({200: 1000}))
    (one,) = found(scene, "forbidden-after-dispatch")

    assert (one.severity, one.replicas) == ("info", ("kas-a",))
    assert one.evidence == ("kas-a: 300 of 1000 answers (30.0%, 10.0/s over 30s)",)


@pytest.mark.spares("forbidden-after-dispatch")
@pytest.mark.parametrize(
    "counted",
    [
        pytest.param(a_backend({200: 9000, 403: 1000}), id="a tenth"),
        pytest.param(a_backend({200: 10, 403: 140}), id="under 5 a second"),
        pytest.param(a_backend({403: 300}, seconds=2.0), id="a short window"),
        pytest.param(a_backend({}), id="none counted"),
    ],
)
def test_few_403s_are_not_told(counted: Backend) -> None:
    assert found(behind(a_cluster(*quiet()), kas_a=counted), "forbidden-after-dispatch") == []


@pytest.mark.fires("other-429s")
def test_429s_that_apf_did_not_give_are_told_apart() -> None:
    counted = a_backend({200: 900, 429: 100}, {429: 40}, too_many={"create pods/eviction": 60, "list pods": 40})
    (one,) = found(behind(a_cluster(*quiet()), kas_a=counted), "other-429s")

    assert (one.severity, one.facts["evictions"]) == ("warning", 60)
    assert one.title == "2.00/s are answered 429 by something other than APF on kas-a"
    assert "PodDisruptionBudget" in one.advice[0]
    assert one.advice[0].endswith(": kubectl get pdb -A")
    assert one.change is None


def test_few_429s_of_a_large_server_are_worth_a_word_only() -> None:
    (one,) = found(behind(a_cluster(*quiet()), kas_a=a_backend({200: 9000, 429: 20})), "other-429s")

    assert one.severity == "info"


@pytest.mark.spares("other-429s")
def test_429s_of_apf_are_its_own() -> None:
    (server,) = quiet("kas-a")
    scene = a_cluster(busier(server, LOW, Of((Did(SCHEMA, 600, queue_full=300),))))

    assert found(behind(scene, kas_a=a_backend({200: 600, 429: 310}, {429: 302})), "other-429s") == []
    assert found(behind(scene, kas_a=a_backend({200: 600, 429: 310})), "other-429s") == []
