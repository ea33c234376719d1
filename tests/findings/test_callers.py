"""Who stands behind a user."""

from __future__ import annotations

from apftop.findings.scene import Scene
from apftop.findings.words.callers import behind, pod_at, pods_of, process_of
from apftop.records.logs import OTHERS, Caller, Logs
from tests.findings.cluster import a_cluster, quiet

ARGO = "system:serviceaccount:argo:workflow-controller"


def scene(*callers: Caller) -> Scene:
    logs = Logs(callers=callers, entries=sum(one.requests for one in callers))
    return a_cluster(*quiet(), logs=logs)


def test_without_logs_a_service_account_has_the_command_that_lists_its_pods() -> None:
    assert behind(scene(), ARGO) == (
        "find its pods: kubectl get pods -n argo --field-selector spec.serviceAccountName=workflow-controller -o wide",
    )


def test_without_logs_the_kubelet_of_a_node_is_named() -> None:
    assert behind(scene(), "system:node:worker-7") == ("it is the kubelet of node worker-7",)


def test_of_other_users_nothing_is_known_without_logs() -> None:
    for user in ("", "oidc:report-9", "system:serviceaccount:argo", "system:node:", "system:serviceaccount::x"):
        assert behind(scene(), user) == ()


def test_the_processes_of_a_user_are_named_with_their_shares() -> None:
    found = behind(
        scene(
            Caller(ARGO, "argo-workflows-controller/v3.5", "10.0.3.17", requests=812, refused=300),
            Caller(ARGO, "kubectl/v1.30", "10.0.9.9", requests=118),
            Caller("somebody", "curl/8", "10.0.9.9", requests=5000),
            Caller("", "argo-workflows-controller/v3.5", "10.0.3.17", "service-accounts", "workload-low", 900),
        ),
        ARGO,
    )

    assert found == (
        "argo-workflows-controller/v3.5 from 10.0.3.17: 812 of 930 requests in the log (87.3%), "
        "300 of them answered 429",
        "kubectl/v1.30 from 10.0.9.9: 118 of 930 requests in the log (12.7%)",
        "which pod that is (none if it is on a node's own network): "
        "kubectl get pods -A --field-selector status.podIP=10.0.3.17 -o wide",
    )


def test_many_processes_and_those_counted_together_are_others() -> None:
    many = [Caller(ARGO, f"agent-{number}", "", requests=100 - number) for number in range(5)]
    found = behind(scene(*many, Caller(ARGO, OTHERS, "", requests=510)), ARGO)

    assert len(found) == 4
    assert found[0] == "agent-0 from an unknown address: 100 of 1000 requests in the log (10.0%)"
    assert found[3] == "others: 703 of 1000 requests in the log"


def test_a_user_that_the_logs_do_not_name_still_has_its_command() -> None:
    (line,) = behind(scene(Caller("somebody", "curl/8", "10.0.9.9", requests=5)), ARGO)

    assert line.startswith("find its pods: ")


def test_foreign_text_reaches_neither_a_terminal_nor_a_shell() -> None:
    evil = "system:serviceaccount:a;rm -rf $HOME:b\x1b[2J`x`"
    (node,) = behind(scene(), "system:node:\x1b[2J`x`")
    (told,) = behind(scene(Caller(evil, "\x1b[2Jcurl", "; rm", requests=1)), evil)
    line = process_of(evil)

    assert "\x1b" not in line + told + node
    assert behind(scene(), evil) == ()
    assert 'grep -F \'"username":"system:serviceaccount:a;rm -rf $HOME:b' in line
    assert pods_of("a", "b") == "kubectl get pods -n a --field-selector spec.serviceAccountName=b -o wide"


def test_only_an_address_that_a_pod_may_have_is_looked_for() -> None:
    assert pod_at("fd00::7") == "kubectl get pods -A --field-selector status.podIP=fd00::7 -o wide"
    assert pod_at("127.0.0.1") == pod_at("::1") == pod_at("") == pod_at("10.0.0.1; rm") == ""
