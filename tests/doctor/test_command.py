"""`apftop doctor` as a person runs it, against servers on loopback that answer, refuse, hang or are something else."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from apftop.report import looking
from tests.collect.loopback import (
    AGGREGATED,
    DUMPS,
    GROUP,
    LEASES,
    MUTATING,
    SLICES,
    VALIDATING,
    answers,
    apftop,
    denied,
    kubeconfig,
    metrics,
    names,
    running,
)
from tests.derive.build import dispatched, exposition, level_row, levels_dump, series
from tests.reach.server import Ca, Reply, Server

UIDS = [("X-Kubernetes-PF-FlowSchema-UID", "fs-load"), ("X-Kubernetes-PF-PriorityLevel-UID", "uid-load")]
REFUSED = Reply(429, b"Too many requests, please try again later.\n", [("Retry-After", "0"), *UIDS])
LATIN = re.compile(r"[\n -~]*")


def examined(server: Server, ca: Ca, folder: Path) -> tuple[dict[str, Any], int]:
    run = apftop("doctor", "--kubeconfig", kubeconfig(server, ca, folder), "--output", "json")
    assert run.stderr == ""
    return json.loads(run.stdout), run.return_value


def told(server: Server, ca: Ca, folder: Path) -> tuple[str, int]:
    run = apftop("doctor", "--kubeconfig", kubeconfig(server, ca, folder))
    assert run.stderr == ""
    assert max(map(len, run.stdout.splitlines())) <= 80
    assert LATIN.fullmatch(run.stdout)
    return run.stdout, run.return_value


def words(text: str) -> str:
    """Text without the breaks of its lines."""
    return " ".join(text.split())


def test_all_is_well(ca: Ca, tmp_path: Path) -> None:
    with running(ca, 3) as servers:
        text, code = told(servers[0], ca, tmp_path)
        document, _ = examined(servers[0], ca, tmp_path)

    assert code == 0
    assert text.endswith("\nall that was asked could be read\n")
    assert "3 (found by EndpointSlice), 3 alive by their leases" in text
    assert "asks with  bearer token from context here" in text
    assert "s3cr3t" not in text + json.dumps(document)
    assert document["well"] is True
    assert sorted(document["replicas"]) == sorted(names(servers))
    for replica in document["replicas"].values():
        assert (replica["version"], replica["user"]) == ("v1.30.4", "alice")
        assert {answer["status"] for answer in replica["endpoints"].values()} == {200}
        assert all(0 <= one["first_byte_s"] <= one["whole_s"] < 10 for one in replica["endpoints"].values())
        assert replica["endpoints"]["metrics"]["bytes"] == len(metrics())
        assert replica["endpoints"]["metrics"]["format"] == "text"
        assert (replica["own"]["flow_schema"], replica["own"]["priority_level"]) == ("load", "load")
        assert replica["polling"]["every_s"]["dump_priority_levels"] == 2
        assert 0 < replica["polling"]["cost_share_estimated"] < 0.02
        assert replica["polling"]["bytes_per_s_estimated"] > 0
        assert replica["tls"]["verified"] is True
        assert len(replica["tls"]["certificate_sha256"]) == 64
    assert (document["missing"], document["grant"]) == ([], None)


DENIALS = {
    "the dumps": [f"{DUMPS}dump_priority_levels", f"{DUMPS}dump_queues", f"{DUMPS}dump_requests"],
    "/metrics": ["/metrics"],
    "the APF objects": [f"{GROUP}/v1/flowschemas", f"{GROUP}/v1/prioritylevelconfigurations"],
    "the webhooks": [VALIDATING, MUTATING],
    "the APIServices": [AGGREGATED],
    "the leases": [LEASES],
    "the EndpointSlices": [SLICES],
}
WELL_WITHOUT = ("the webhooks", "the APIServices")
RULES: dict[str, tuple[str, str, dict[str, list[str]]]] = {
    "the dumps": (
        "ClusterRole",
        "",
        {"nonResourceURLs": ["/debug/api_priority_and_fairness/*"], "verbs": ["get"]},
    ),
    "/metrics": ("ClusterRole", "", {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}),
    "the APF objects": (
        "ClusterRole",
        "",
        {
            "apiGroups": ["flowcontrol.apiserver.k8s.io"],
            "resources": ["flowschemas", "prioritylevelconfigurations"],
            "verbs": ["get", "list", "watch"],
        },
    ),
    "the webhooks": (
        "ClusterRole",
        "",
        {
            "apiGroups": ["admissionregistration.k8s.io"],
            "resources": ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"],
            "verbs": ["get", "list"],
        },
    ),
    "the APIServices": (
        "ClusterRole",
        "",
        {"apiGroups": ["apiregistration.k8s.io"], "resources": ["apiservices"], "verbs": ["get", "list"]},
    ),
    "the leases": (
        "Role",
        "kube-system",
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "list"]},
    ),
    "the EndpointSlices": (
        "Role",
        "default",
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["get", "list"]},
    ),
}


@pytest.mark.parametrize("what", DENIALS)
def test_only_what_is_denied_is_granted(what: str, ca: Ca, tmp_path: Path) -> None:
    kind, namespace, rule = RULES[what]
    with running(ca) as (server,):
        for path in DENIALS[what]:
            server.replies[path] = denied(path)
        document, code = examined(server, ca, tmp_path)

    assert code == (0 if what in WELL_WITHOUT else 3)
    assert document["missing"] == [what]
    role, binding = yaml.safe_load_all(document["grant"])
    assert role["kind"] == kind
    assert role["metadata"].get("namespace", "") == binding["metadata"].get("namespace", "") == namespace
    assert role["rules"] == [rule]
    assert binding["roleRef"] == {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": kind,
        "name": role["metadata"]["name"],
    }
    assert [subject["name"] for subject in binding["subjects"]] == ["alice"]


def test_the_yaml_at_the_end_of_the_text_is_what_to_apply(ca: Ca, tmp_path: Path) -> None:
    with running(ca) as (server,):
        for path in chain.from_iterable(DENIALS.values()):
            server.replies[path] = denied(path, "system:serviceaccount:ops:apftop")
        text, code = told(server, ca, tmp_path)
    applied = list(yaml.safe_load_all(text[text.index("apiVersion:") :]))

    assert code == 3
    assert "known as   system:serviceaccount:ops:apftop" in text
    assert [(one["kind"], one["metadata"].get("namespace")) for one in applied] == [
        ("ClusterRole", None),
        ("ClusterRoleBinding", None),
        ("Role", "kube-system"),
        ("RoleBinding", "kube-system"),
        ("Role", "default"),
        ("RoleBinding", "default"),
    ]
    assert [rule for one in applied[::2] for rule in one["rules"]] == [rule for _, _, rule in RULES.values()]
    assert all(
        one["subjects"] == [{"kind": "ServiceAccount", "namespace": "ops", "name": "apftop"}] for one in applied[1::2]
    )


def test_who_is_anonymous_needs_credentials_and_no_rights(ca: Ca, tmp_path: Path) -> None:
    with running(ca) as (server,):
        for path in chain.from_iterable(DENIALS.values()):
            server.replies[path] = denied(path, "system:anonymous")
        text, code = told(server, ca, tmp_path)

    assert code == 3
    assert "it needs credentials first" in words(text)
    assert "apiVersion" not in text


@pytest.mark.parametrize("name", ['x"\n- verbs: ["*"]', "\x1b[2J\u202e", "{{ user }}", "*a", "ß" * 500])
def test_the_name_that_a_server_gives_us_is_data(name: str, ca: Ca, tmp_path: Path) -> None:
    with running(ca) as (server,):
        message = f"forbidden: User {json.dumps(name)} cannot get path"
        said = Reply(403, json.dumps({"message": message}).encode(), [("Content-Type", "application/json")])
        for path in DENIALS["the dumps"]:
            server.replies[path] = said
        run = apftop("doctor", "--kubeconfig", kubeconfig(server, ca, tmp_path))
    role, binding = yaml.safe_load_all(run.stdout[run.stdout.index("apiVersion:") :])

    assert run.return_value == 3
    assert len(role["rules"]) == 1
    assert [subject["name"] for subject in binding["subjects"]] == [name]
    assert not set(run.stdout) & set("\x1b\u202e")


def test_credentials_that_are_not_accepted(ca: Ca, tmp_path: Path) -> None:
    with running(ca) as (server,):
        for path in server.replies:
            server.replies[path] = Reply(401, b"{}")
        text, code = told(server, ca, tmp_path)

    assert code == 3
    assert "401 on the dumps and /metrics and the APF objects: the credentials are not accepted" in words(text)
    assert "apiVersion" not in text


def test_without_metrics_the_version_comes_from_elsewhere(ca: Ca, tmp_path: Path) -> None:
    with running(ca) as (server,):
        server.replies["/metrics"] = denied("/metrics")
        document, _ = examined(server, ca, tmp_path)
    (replica,) = document["replicas"].values()

    assert replica["version"] == "v1.30.4"
    assert replica["endpoints"]["metrics"]["status"] == 403


def test_a_url_that_leads_to_one_of_several(ca: Ca, tmp_path: Path) -> None:
    with running(ca) as (server,):
        server.replies |= answers(alive=3)
        text, code = told(server, ca, tmp_path)

    assert code == 3
    assert "1 of 3 that are alive by their leases; the URL leads to one of them, or to a load balancer" in words(text)


def test_one_that_refuses_our_own_requests(ca: Ca, tmp_path: Path) -> None:
    with running(ca) as (server,):
        for dump in ("dump_queues", "dump_requests"):
            server.replies[DUMPS + dump] = REFUSED
        text, code = told(server, ca, tmp_path)

    assert code == 3
    assert "4 of 16 own requests were refused in level load; lead this tool's user to a level with room" in words(text)


def test_own_requests_in_a_level_that_is_full(ca: Ca, tmp_path: Path) -> None:
    with running(ca) as (server,):
        dump = levels_dump(level_row("load", waiting=3, executing=2), level_row("exempt"))
        server.replies[f"{DUMPS}dump_priority_levels"] = Reply(200, dump, UIDS)
        text, code = told(server, ca, tmp_path)

    assert code == 0
    assert "own requests run in level load, which is saturated" in words(text)


def test_one_replica_that_falls_silent_is_named_and_the_other_is_examined(
    ca: Ca, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient = replace(looking.manner_of_looks(), first_byte_s=1.0)
    monkeypatch.setattr(looking, "manner_of_looks", lambda: impatient)
    with running(ca, 2) as servers:
        servers[1].replies[f"{DUMPS}dump_queues"] = Reply(how="hang")
        document, code = examined(servers[0], ca, tmp_path)
    first, second = (document["replicas"][name] for name in names(servers))

    assert code == 3
    assert {answer["status"] for answer in first["endpoints"].values()} == {200}
    assert second["endpoints"]["dump_priority_levels"]["status"] == 200
    assert {second["endpoints"][name]["status"] for name in ("dump_queues", "dump_requests", "metrics")} == {None}
    assert any("no answer in" in problem and "dump_queues" in problem for problem in second["problems"])


def test_a_certificate_for_somebody_else(ca: Ca, tmp_path: Path) -> None:
    with Server(ca, ("other.example",)) as server:
        text, code = told(server, ca, tmp_path)

    assert code == 3
    assert "TLS: certificate is for other names (other.example), not 127.0.0.1" in words(text)
    assert "no connection as 127.0.0.1" in text


def test_nobody_is_there(ca: Ca, tmp_path: Path) -> None:
    with Server(ca) as server:
        pass
    text, code = told(server, ca, tmp_path)

    assert code == 3
    assert "connection refused" in words(text)
    assert "version unknown" in text


@pytest.mark.parametrize(
    ("release", "rule"),
    [
        ("v1.26.0", "the exempt level is absent from limits and executing gauges"),
        ("v1.37.2", "the exempt level's current limit is handed out on top of the others'"),
        ("v1.22.17", "v1.22.17 is outside the releases that apftop knows"),
        ("v2.0.0", "v2.0.0 is outside the releases that apftop knows"),
    ],
)
def test_what_holds_in_a_release(release: str, rule: str, ca: Ca, tmp_path: Path) -> None:
    with running(ca) as (server,):
        server.replies |= answers(release=release)
        text, _ = told(server, ca, tmp_path)

    assert rule in words(text)


def test_an_extension_server_is_no_kube_apiserver(ca: Ca, tmp_path: Path) -> None:
    mandatory = exposition(*(dispatched(5, level=name, schema=name) for name in ("exempt", "catch-all")))
    with Server(ca) as server:
        server.replies |= {path: Reply(404, b"404 page not found\n") for path in answers()}
        server.replies["/metrics"] = Reply(200, mandatory)
        run = apftop("doctor", "--server", server.url, "--ca-file", str(ca.ca_file))

    assert run.return_value == 3
    assert "not a kube-apiserver: mandatory levels only" in words(run.stdout)
    assert "named by hand" in run.stdout
    assert "how many there are is not known: leases status 404" in words(run.stdout)


def test_limits_that_froze(ca: Ca, tmp_path: Path) -> None:
    with running(ca) as (server,):
        frozen = series("demand_seats_high_watermark", "NaN", priority_level="load")
        server.replies["/metrics"] = Reply(200, metrics(frozen), [("Content-Type", "text/plain"), *UIDS])
        text, _ = told(server, ca, tmp_path)

    assert "borrowing  frozen: NaN demand on load" in text


@pytest.mark.parametrize(("extra", "said"), [(b"", "honoured"), (b"other_metric 1\n" * 1000, "ignored")])
def test_whether_metrics_come_by_name(extra: bytes, said: str, ca: Ca, tmp_path: Path) -> None:
    with running(ca) as (server,):
        body = metrics() + extra + b"# EOF\n"
        server.replies["/metrics"] = Reply(200, body, [("Content-Type", "application/openmetrics-text"), *UIDS])
        text, _ = told(server, ca, tmp_path)

    assert f"openmetrics, name[] {said}" in text


def test_a_server_whose_clock_is_off(ca: Ca, tmp_path: Path) -> None:
    with running(ca) as (server,):
        dump = server.replies[f"{DUMPS}dump_requests"].body.replace(b"20", b"19")
        server.replies[f"{DUMPS}dump_requests"] = Reply(200, dump, UIDS)
        document, _ = examined(server, ca, tmp_path)
    (replica,) = document["replicas"].values()

    assert replica["clock"]["skew_s"] > 3e9


def test_certificates_that_are_not_verified_are_named(ca: Ca, tmp_path: Path) -> None:
    with running(ca) as (server,):
        run = apftop("doctor", "--server", server.url, "--insecure-skip-tls-verify")

    assert "NOT verified" in run.stdout
    assert "its certificate is not verified" in words(run.stdout)
