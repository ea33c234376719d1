"""Audit logs, access logs, and the logs of extension servers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.logs.audit import MOST_OPEN, QUEUE_WAIT
from apftop.logs.callers import MOST_KINDS, Callers, Entry
from apftop.logs.server_log import ServerLogs
from apftop.records.logs import OTHERS, Caller, Denied
from tests.logs.build import AGENT, ARGO, access, event, line

WAITED = {QUEUE_WAIT: "1.204s", "apiserver.latency.k8s.io/total": "1.3s"}


def read(*lines: bytes) -> ServerLogs:
    logs = ServerLogs()
    for one in lines:
        assert logs.take(one), one
    logs.end()
    return logs


def audited(*events: dict[str, Any]) -> tuple[Caller, ...]:
    return read(*(json.dumps(one).encode() for one in events)).audited.callers()


def test_an_audit_event_tells_who_asked_for_what_from_where() -> None:
    (caller,) = audited(event())

    assert caller == Caller(ARGO, AGENT, "10.0.3.17", requests=1, kinds={"list pods": 1})


def test_a_request_counts_once_whatever_its_stages() -> None:
    logs = read(
        line(1, stage="RequestReceived", responseStatus=None),
        line(2, stage="RequestReceived", responseStatus=None),
        line(1, responseStatus={"metadata": {}, "code": 429}),
        line(2, stage="ResponseStarted", verb="watch"),
        line(1),
        line(3, stage="Panic", responseStatus={"code": 500}),
    )
    (caller,) = logs.audited.callers()

    assert logs.audited.requests == caller.requests == 3
    assert caller.refused == 1
    assert caller.kinds == {"list pods": 2, "watch pods": 1}


def test_an_impersonated_user_is_the_one_that_apf_sees() -> None:
    (caller,) = audited(event(user={"username": "admin"}, impersonatedUser={"username": ARGO}))

    assert caller.user == ARGO


def test_of_several_addresses_only_the_last_is_the_servers_own_knowledge() -> None:
    (caller,) = audited(event(sourceIPs=["203.0.113.9", "10.0.3.17"]))

    assert caller.source == "10.0.3.17"


def test_waits_in_the_queue_are_those_of_the_annotation() -> None:
    (caller,) = audited(event(1), event(2, annotations=WAITED), event(3, annotations=WAITED | {QUEUE_WAIT: "0.5s"}))

    assert caller.queued_s == pytest.approx(1.704)
    assert (caller.queued, caller.max_queued_s) == (2, 1.204)


def test_only_an_answer_429_that_may_be_apfs_is_a_refusal() -> None:
    refused = {"metadata": {}, "code": 429}
    said = refused | {"status": "Failure", "reason": "TooManyRequests"}
    budget = said | {"message": "Cannot evict pod as it would violate the pod's disruption budget."}
    eviction = {"resource": "pods", "subresource": "eviction"}
    rows = audited(
        event(1, userAgent="a", responseStatus=refused),
        event(2, userAgent="b", responseStatus=refused | {"message": "Too many requests, please try again later."}),
        event(3, userAgent="c", responseStatus=budget, objectRef=eviction),
        event(4, userAgent="d", responseStatus=said, objectRef=eviction),
        event(5, userAgent="e", responseStatus=said | {"message": "storage is (re)initializing"}),
    )

    assert {row.user_agent: row.refused for row in rows} == {"a": 1, "b": 1, "c": 0, "d": 0, "e": 0}


def test_requests_for_paths_and_subresources_are_named() -> None:
    (caller,) = audited(
        event(1, objectRef=None, verb="get", requestURI="/healthz?verbose=true"),
        event(2, objectRef={"resource": "pods", "subresource": "status"}, verb="patch"),
    )

    assert caller.kinds == {"get /healthz": 1, "patch pods/status": 1}


def test_what_was_not_authenticated_never_came_to_apf() -> None:
    assert audited(event(user={}, responseStatus={"code": 401})) == ()


def test_a_list_of_events_and_a_container_runtimes_prefix_are_read() -> None:
    many = json.dumps({"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "items": [event(1), event(2)]})
    logs = read(many.encode(), b"2024-04-12T10:03:02.125838Z stdout F " + line(3))

    assert logs.audited.requests == 3


def test_the_time_of_the_log_is_from_the_first_to_the_last_request() -> None:
    later = line(2, requestReceivedTimestamp="2024-04-12T10:04:02.5Z")
    logs = read(line(1), later, line(3, requestReceivedTimestamp=None))

    assert logs.audited.seconds() == pytest.approx(60.484162)


@pytest.mark.parametrize(
    "torn", [line()[:200], line()[-120:], b'{"kind":"Pod","apiVersion":"v1"}', b"not a log line", b'{"auditID":7}']
)
def test_what_is_no_event_is_broken_in_an_audit_log(torn: bytes) -> None:
    logs = ServerLogs()

    assert not logs.take_strictly(torn)
    assert logs.audited.requests == 0


@given(st.integers(0, len(line()) - 2))
def test_an_event_cut_anywhere_is_two_broken_lines(cut: int) -> None:
    logs = ServerLogs()
    whole = line().rstrip()
    parts = [part for part in (whole[:cut], whole[cut:]) if part]
    taken = [logs.take_strictly(part) for part in parts]
    logs.end()

    assert logs.audited.requests == sum(taken) == (len(parts) == 1)


@given(st.binary(max_size=200))
def test_no_line_at_all_is_a_crash(raw: bytes) -> None:
    logs = ServerLogs()
    for one in (raw, b'"auditID"' + raw, b'"HTTP" verb=' + raw, b"flowcontrol.apiserver.k8s.io" + raw):
        logs.take(one)
        logs.take_strictly(one)
    logs.end()


def test_requests_that_never_end_are_held_within_bounds() -> None:
    logs = ServerLogs()
    for number in range(MOST_OPEN + 10):
        logs.take(line(number, stage="ResponseStarted", verb="watch"))
    assert logs.audited.requests == 10
    logs.take(line(0, verb="watch"))
    assert logs.audited.requests == 10
    logs.end()

    assert logs.audited.requests == MOST_OPEN + 10


def test_an_access_line_tells_level_and_schema_but_no_user() -> None:
    (caller,) = read(access()).accessed.callers()

    assert caller == Caller(
        "", AGENT, "10.0.3.17", "service-accounts", "workload-low", requests=1, kinds={"list pods": 1}
    )


@pytest.mark.parametrize(
    ("verb", "uri", "kind"),
    [
        ("POST", "/api/v1/namespaces/a/pods", "create pods"),
        ("PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/b?timeout=10s", "update leases"),
        ("APPLY", "/apis/apps/v1/namespaces/a/deployments/b/status?fieldManager=c", "patch deployments/status"),
        ("DELETE", "/api/v1/namespaces/a/pods", "deletecollection pods"),
        ("DELETE", "/api/v1/namespaces/a/pods/b", "delete pods"),
        ("WATCH", "/api/v1/pods?watch=true", "watch pods"),
        ("GET", "/livez?verbose", "get /livez"),
    ],
)
def test_access_lines_have_the_verbs_of_requests(verb: str, uri: str, kind: str) -> None:
    (caller,) = read(access(verb, uri)).accessed.callers()

    assert caller.kinds == {kind: 1}


def test_a_refusal_in_the_access_log_was_never_executed() -> None:
    refused = access(resp=429, more="", agent="a")
    evicted = access("POST", "/api/v1/namespaces/a/pods/b/eviction", resp=429, agent="b")
    rows = read(refused, evicted).accessed.callers()

    assert {row.user_agent: row.refused for row in rows} == {"a": 1, "b": 0}


def test_the_filters_time_in_the_access_log_is_the_wait() -> None:
    waited = access(more='fl_priorityandfairness="1.204s" apf_execution_time="10ms" ')
    (caller,) = read(access(), waited).accessed.callers()

    assert (caller.requests, caller.queued, caller.max_queued_s) == (2, 1, 1.204)


def test_access_lines_of_other_loggers_and_of_long_requests_are_read() -> None:
    as_json = (
        b'{"ts":1712916182015.8,"caller":"httplog/httplog.go:134","msg":"HTTP","v":3,"verb":"GET","URI":"/version",'
        b'"latency":"1ms","userAgent":"curl/8","audit-ID":"x","srcIP":"[fd00::7]:4711","apf_pl":"global-default",'
        b'"apf_fs":"global-default","resp":200}'
    )
    exec_line = access("CONNECT", "/api/v1/namespaces/a/pods/b/exec?command=sh", resp=None, more="")
    rows = read(as_json, exec_line, b"2023-08-23T08:57:09.3Z stderr F " + access()).accessed.callers()

    assert {(row.user_agent, row.source) for row in rows} == {("curl/8", "fd00::7"), (AGENT, "10.0.3.17")}
    assert sum(row.requests for row in rows) == 3


def test_a_user_agent_cannot_pass_for_other_fields() -> None:
    evil = 'x" srcIP="1.1.1.1:1" apf_pl="exempt" resp=429 y="'
    (caller,) = read(access(agent=evil)).accessed.callers()

    assert (caller.user_agent, caller.source, caller.level, caller.refused) == (evil, "10.0.3.17", "workload-low", 0)


def test_an_access_line_that_is_cut_before_its_end_is_broken() -> None:
    whole = access().rstrip()

    assert not ServerLogs().take(whole[:-9])
    assert not ServerLogs().take(whole[: whole.index(b"srcIP")])


def test_other_lines_of_a_server_are_left_alone() -> None:
    logs = read(
        b"I0412 10:03:02.015838       1 controller.go:615] quota admission added evaluator for: leases",
        b"I0412 10:03:02.015838       1 handler.go:286] Adding GroupVersion flowcontrol.apiserver.k8s.io v1 to manager",
        b"goroutine 1 [running]:",
    )

    assert logs.audited.requests == logs.accessed.requests == 0
    assert logs.denials.denied() == ()


USER = "system:serviceaccount:kueue-system:kueue-controller-manager"


@pytest.mark.parametrize(
    "said",
    [
        'W1208 15:30:36.007286       1 reflector.go:535] failed to list *v1beta3.FlowSchema: forbidden: User "{u}" '
        'cannot list resource "flowschemas" in API group "flowcontrol.apiserver.k8s.io" at the cluster scope',
        "E1208 15:30:40.237370       1 reflector.go:147] k8s.io/client-go@v0.28.4/tools/cache/reflector.go:229: "
        "Failed to watch *v1beta3.FlowSchema: failed to list *v1beta3.FlowSchema: flowschemas.flowcontrol.apiserver."
        'k8s.io is forbidden: User "{u}" cannot list resource "flowschemas" in API group '
        '"flowcontrol.apiserver.k8s.io" at the cluster scope',
        'E0202 14:21:36.385621   42965 reflector.go:205] "Failed to watch" err="failed to list *v1.FlowSchema: '
        'flowschemas.flowcontrol.apiserver.k8s.io is forbidden: User \\"{u}\\" cannot list resource \\"flowschemas\\" '
        'in API group \\"flowcontrol.apiserver.k8s.io\\" at the cluster scope" reflector="x" type="*v1.FlowSchema"',
        '{{"level":"error","msg":"x is forbidden: User \\"{u}\\" cannot list resource \\"flowschemas\\" in API group '
        '\\"flowcontrol.apiserver.k8s.io\\" at the cluster scope"}}',
    ],
)
def test_an_extension_server_that_may_not_list_the_objects_is_told(said: str) -> None:
    logs = ServerLogs()

    assert logs.take(said.format(u=USER).encode(), "kueue")
    assert logs.denials.denied() == (Denied(USER, "flowschemas", 1, "kueue"),)


def test_a_torn_denial_is_broken() -> None:
    said = b'forbidden: User "a" cannot list resource "flowsch flowcontrol.apiserver.k8s.io'

    assert not ServerLogs().take(said)


def test_rare_callers_are_counted_together_and_nothing_is_lost() -> None:
    callers = Callers(most_rows=100)
    for number in range(1000):
        callers.add(Entry("often", "agent", "10.0.0.1", "list pods"))
        callers.add(Entry("rare", f"agent-{number}", "10.0.0.2", f"get kind-{number}", refused=True))
    rows = callers.callers()
    by_user = {user: sum(row.requests for row in rows if row.user == user) for user in ("often", "rare")}

    assert len(rows) <= 100
    assert by_user == {"often": 1000, "rare": 1000}
    assert rows[0].user == "often" and rows[0].requests == 1000
    assert sum(row.refused for row in rows) == 1000
    (others,) = (row for row in rows if row.user_agent == OTHERS)
    assert len(others.kinds) <= MOST_KINDS + 1 and sum(others.kinds.values()) == others.requests


def test_too_many_users_are_counted_together_as_well() -> None:
    callers = Callers(most_rows=100)
    for number in range(1000):
        callers.add(Entry(f"user-{number}", "agent", "10.0.0.2", "list pods"))
    rows = callers.callers()

    assert len(rows) <= 100
    assert sum(row.requests for row in rows) == callers.requests == 1000
    assert any((row.user, row.user_agent) == (OTHERS, OTHERS) for row in rows)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3)), max_size=300))
def test_no_request_is_lost_however_callers_come(requests: list[tuple[int, int]]) -> None:
    callers = Callers(most_rows=12)
    for agent, user in requests:
        callers.add(Entry(f"user-{user}", f"agent-{agent}", "10.0.0.1", "list pods"))

    assert sum(row.requests for row in callers.callers()) == len(requests)
    assert len(callers.callers()) <= 13
