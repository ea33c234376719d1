"""All forms that a bundle may hold, full of names and secrets: nothing of them is left, and the rest stays true."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from apftop.apf.shards import hand
from apftop.demo.exposition import protobuf
from apftop.logs.read import logs_of
from apftop.parse.exposition_proto import parse_proto
from apftop.parse.exposition_text import parse_text
from apftop.redacting.metrics_proto import metrics_proto
from apftop.redacting.metrics_text import metrics_text
from apftop.redacting.pseudonyms import Learning
from tests.redacting.telling import Mapped, files, found_in, redacted, told_back

TOKEN = "eyJhbGciOiJSUzI1NiIsImtpZCI6IkFiQyJ9.eyJzdWIiOiJhY21lIn0.c2lnbmF0dXJlLW9mLWFjbWU"
PEM = "MIIC5zCCAc+gAwIBAgIBADANBgkqhkiG9w0BAQsFADAVMRMwEQYDVQQDEwpr"
SECRETS = (
    *("acme-corp", "alice@acme.example", "acme-admins", "acme-payments", "payments-api", "worker-acme-7", "10.31.7.9"),
    *("acme-batch", "acme-jobs", "acme.example", "ledgers", "secret-ledger", "acme-agent/1.0", "session=8f2d", TOKEN),
    *(PEM, "proxy.acme.example", "acme-tool", "app=acme", "acme-webhook", "dc-acme-1", "trace-acme", "team-acme"),
    *("6d5f1a2b-0000-4000-8000-00000000acme", "kube-1.acme.example:6443", "acme-help", "acme-label", "/acme/console"),
)

METRICS = """# HELP apiserver_flowcontrol_dispatched_requests_total acme-help
# TYPE apiserver_flowcontrol_dispatched_requests_total counter
apiserver_flowcontrol_dispatched_requests_total{flow_schema="acme-batch",priority_level="acme-jobs",cluster="dc-acme-1",stage="prod-acme"} 17
apiserver_flowcontrol_dispatched_requests_total{flow_schema="catch-all",priority_level="catch-all",acme_label="acme-label"} 3
# TYPE apiserver_flowcontrol_nominal_limit_seats gauge
apiserver_flowcontrol_nominal_limit_seats{priority_level="acme-jobs"} 20
apiserver_flowcontrol_nominal_limit_seats{priority_level="catch-all"} 13
# TYPE apiserver_request_total counter
apiserver_request_total{code="403",group="acme.example",resource="ledgers",verb="LIST",version="v1"} 5
apiserver_request_total{code="200",subresource="/acme/console",verb="GET"} 2
# TYPE apiserver_admission_webhook_admission_duration_seconds histogram
apiserver_admission_webhook_admission_duration_seconds_bucket{name="acme-webhook",le="+Inf"} 4
apiserver_admission_webhook_admission_duration_seconds_sum{name="acme-webhook"} 1.5
apiserver_admission_webhook_admission_duration_seconds_count{name="acme-webhook"} 4
"""  # noqa: E501
DUMP = (
    "PriorityLevelName, FlowSchemaName, QueueIndex, RequestIndexInQueue, FlowDistingsher, ArriveTime, InitialSeats, "
    "FinalSeats, AdditionalLatency, StartTime, UserName, Verb, APIPath, Namespace, Name, APIVersion, Resource, "
    "SubResource\n"
    "acme-jobs, acme-batch, 3, 0, alice@acme.example, 2026-04-12T10:03:00Z, 1, 0, 0s, 0001-01-01T00:00:00Z, "
    "alice@acme.example, list, /apis/acme.example/v1/namespaces/acme-payments/ledgers, acme-payments, , "
    "acme.example/v1, ledgers, \n"
    "acme-jobs, acme-batch, 5, 0, system:node:worker-acme-7, 2026-04-12T10:03:01Z, 1, 0, 0s, 0001-01-01T00:00:00Z, "
    "system:node:worker-acme-7, get, /api/v1/namespaces/acme-payments/secrets/secret-ledger, acme-payments, "
    "secret-ledger, v1, secrets, \n"
)
APPLIED = json.dumps({"spec": {"owner": "team-acme", "token": TOKEN}})
OBJECTS = {
    "flowschemas.json": {
        "kind": "FlowSchemaList",
        "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
        "metadata": {"continue": TOKEN},
        "items": [
            {
                "metadata": {
                    "name": "acme-batch",
                    "uid": "6d5f1a2b-0000-4000-8000-00000000acme",
                    "labels": {"team": "team-acme"},
                    "annotations": {"kubectl.kubernetes.io/last-applied-configuration": APPLIED},
                    "managedFields": [{"manager": "acme-tool", "operation": "Apply", "fieldsV1": {"f:spec": {}}}],
                },
                "spec": {
                    "matchingPrecedence": 800,
                    "distinguisherMethod": {"type": "ByUser"},
                    "priorityLevelConfiguration": {"name": "acme-jobs"},
                    "rules": [
                        {
                            "subjects": [
                                {"kind": "User", "user": {"name": "alice@acme.example"}},
                                {"kind": "Group", "group": {"name": "acme-admins"}},
                                {"kind": "Group", "group": {"name": "system:serviceaccounts:acme-payments"}},
                                {
                                    "kind": "ServiceAccount",
                                    "serviceAccount": {"name": "payments-api", "namespace": "acme-payments"},
                                },
                            ],
                            "resourceRules": [
                                {
                                    "verbs": ["list"],
                                    "apiGroups": ["acme.example"],
                                    "resources": ["ledgers"],
                                    "namespaces": ["acme-payments"],
                                }
                            ],
                            "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/acme/console"]}],
                        }
                    ],
                },
                "status": {"conditions": [{"type": "Dangling", "status": "False", "message": "by acme-corp"}]},
            }
        ],
    },
    "prioritylevels.json": {
        "kind": "List",
        "apiVersion": "v1",
        "items": [
            {
                "kind": "PriorityLevelConfiguration",
                "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
                "metadata": {"name": "acme-jobs"},
                "spec": {
                    "type": "Limited",
                    "limited": {
                        "nominalConcurrencyShares": 20,
                        "limitResponse": {
                            "type": "Queue",
                            "queuing": {"queues": 64, "handSize": 6, "queueLengthLimit": 50},
                        },
                    },
                },
            },
            {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "secret-ledger"}, "data": {"x": TOKEN}},
        ],
    },
    "webhooks.json": {
        "kind": "ValidatingWebhookConfigurationList",
        "apiVersion": "admissionregistration.k8s.io/v1",
        "items": [
            {
                "metadata": {"name": "acme-webhook"},
                "webhooks": [
                    {
                        "name": "acme-webhook",
                        "clientConfig": {
                            "caBundle": PEM,
                            "service": {"name": "payments-api", "namespace": "acme-payments", "path": "/acme/console"},
                        },
                        "rules": [{"operations": ["CREATE"], "apiGroups": ["acme.example"], "resources": ["ledgers"]}],
                    }
                ],
            }
        ],
    },
}
LEASES = {
    "kind": "LeaseList",
    "items": [{"metadata": {"name": "worker-acme-7"}, "spec": {"holderIdentity": "acme-corp"}}],
}
AUDIT = {
    "kind": "Event",
    "auditID": "6d5f1a2b-0000-4000-8000-00000000acme",
    "stage": "ResponseComplete",
    "verb": "list",
    "requestURI": "/apis/acme.example/v1/namespaces/acme-payments/ledgers?labelSelector=app%3Dacme",
    "user": {"username": "alice@acme.example", "groups": ["acme-admins"], "extra": {"x": [TOKEN]}},
    "sourceIPs": ["10.31.7.9"],
    "userAgent": "acme-agent/1.0",
    "objectRef": {"resource": "ledgers", "namespace": "acme-payments"},
    "responseStatus": {"code": 403, "message": "alice@acme.example cannot list"},
    "requestReceivedTimestamp": "2026-04-12T10:03:00.000000Z",
    "responseObject": {"token": TOKEN},
}
SERVER_LOG = (
    'I0412 10:03:00.123456       1 httplog.go:132] "HTTP" verb="LIST" '
    'URI="/api/v1/namespaces/acme-payments/secrets?labelSelector=app%3Dacme" latency="1.5ms" '
    'userAgent="acme-agent/1.0" srcIP="10.31.7.9:4711" apf_pl="acme-jobs" apf_fs="acme-batch" resp=200\n'
    f'I0412 10:03:01.123456       1 auth.go:1] "token" token="{TOKEN}" user="alice@acme.example"\n'
    'W0412 10:03:02.123456       1 reflector.go:1] User "alice@acme.example" cannot list resource "flowschemas" in API '
    'group "flowcontrol.apiserver.k8s.io" at the cluster scope\n'
)
CLIENT_LOG = (
    "I0412 10:03:00.123456       1 request.go:697] Waited for 1.25s due to client-side throttling, not priority and "
    "fairness, request: GET:https://kube-1.acme.example:6443/api/v1/namespaces/acme-payments/pods?labelSelector=app=acme\n"
    f"I0412 10:03:01.000000       1 main.go:1] hello from acme-corp with {TOKEN}\n"
)
HTTP = (
    "HTTP/1.1 403 Forbidden\r\nDate: Sun, 12 Apr 2026 10:03:00 GMT\r\nContent-Type: application/json\r\n"
    f"Set-Cookie: session=8f2d\r\nAuthorization: Bearer {TOKEN}\r\nVia: proxy.acme.example\r\n\r\n"
    '{"kind":"Status","status":"Failure","message":"flowschemas is forbidden: User \\"alice@acme.example\\" cannot"}'
)
ANSWERS = [
    {
        "t": "2026-04-12T10:03:00Z",
        "request": "GET https://kube-1.acme.example:6443/debug/api_priority_and_fairness/dump_queues?x=acme-corp",
        "status": 502,
        "headers": {"Server": "proxy.acme.example", "Cookie": "session=8f2d"},
        "body": "<html><title>alice@acme.example at proxy.acme.example</title></html>",
    }
]
REQUESTS = [
    {
        "id": "team-acme",
        "user": "system:serviceaccount:acme-payments:payments-api",
        "groups": ["acme-admins", "system:authenticated"],
        "verb": "list",
        "path": "/apis/acme.example/v1/namespaces/acme-payments/ledgers?labelSelector=app%3Dacme&limit=500",
    }
]


def bundle(folder: Path) -> Path:
    """A bundle of one server that holds all of it."""
    folder.mkdir(parents=True)
    texts = {
        "metrics_t0.txt": METRICS,
        "dump_requests.txt": DUMP,
        "log.txt": SERVER_LOG,
        "client.log": CLIENT_LOG,
        "audit.log": json.dumps(AUDIT) + "\n",
        **{name: json.dumps(value) for name, value in OBJECTS.items()},
        "leases.json": json.dumps(LEASES),
        "http.json": json.dumps(ANSWERS),
        "requests.json": json.dumps(REQUESTS),
        "scrape.json": json.dumps({"t0": 1776000000.0, "t1": 1776000005.0, "source": "context acme-corp at 10.31.7.9"}),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "metrics_t1.txt.gz").write_bytes(gzip.compress(METRICS.replace(" 17\n", " 27\n").encode()))
    (folder / "http").mkdir()
    (folder / "http" / "dump_priority_levels.txt").write_text(HTTP)
    return folder


@pytest.fixture
def both(tmp_path: Path) -> tuple[Path, Path, Mapped]:
    """The bundle, the redacted one, and who is who."""
    plain = bundle(tmp_path / "acme-corp")
    return plain, *redacted(plain, tmp_path)


def test_no_name_token_address_or_certificate_is_in_any_file(both: tuple[Path, Path, Mapped]) -> None:
    plain, target, _ = both

    assert {name for name, _ in found_in(plain, SECRETS)} >= {*SECRETS} - {"trace-acme", "acme-label", "app=acme"}
    assert found_in(target, SECRETS) == set()
    for name, body in files(target):
        assert b"acme" not in body.lower(), name


def test_what_was_left_out_is_told_and_not_copied(both: tuple[Path, Path, Mapped]) -> None:
    target = both[1]

    told = json.loads(dict(files(target))["facts.json"])["left_out"]

    assert (
        told
        == [
            "server: prioritylevels.json: 1 objects that are other ones or cannot be read",
            "server: http/dump_priority_levels.txt: what was answered in place of it",
            "server: http.json: GET /path-1: what was answered in place of it",
            "client.log: 1 lines that are about other things or cannot be read",
            "log.txt: 1 lines that are about other things or cannot be read",
        ]
        or len(told) == 5
    )


def test_logs_tell_the_same_of_the_same_callers(both: tuple[Path, Path, Mapped]) -> None:
    plain, target, names = both

    told, expected = logs_of(target), logs_of(plain)

    assert told_back(repr(told), names) == repr(expected)
    assert expected.client is not None and expected.client.max_wait_s == 1.25
    assert len(expected.callers) == 2 and expected.denied


def test_the_hand_of_a_flow_is_the_one_that_it_had(both: tuple[Path, Path, Mapped]) -> None:
    _, target, names = both
    facts = json.loads(dict(files(target))["facts.json"])

    told = {told_back(one["distinguisher"], names): tuple(one["hand"]) for one in facts["hands"]}
    assert told["alice@acme.example"] == hand("acme-batch", "alice@acme.example", 64, 6)
    assert told["system:node:worker-acme-7"] == hand("acme-batch", "system:node:worker-acme-7", 64, 6)
    account = "system:serviceaccount:acme-payments:payments-api"
    assert told[account] == hand("acme-batch", account, 64, 6)


def test_protobuf_and_text_get_the_same_pseudonyms_and_keep_their_numbers() -> None:
    families = parse_text(METRICS.encode()).families
    body = protobuf(families.values())
    learning = Learning()
    metrics_text(METRICS.encode(), learning)
    metrics_proto(body, learning)
    names = learning.table()

    text = parse_text(metrics_text(METRICS.encode(), names)[0]).families
    proto = parse_proto(metrics_proto(body, names)).families

    assert b"acme" not in metrics_proto(body, names)
    for name, family in text.items():
        assert proto[name].values == family.values
        assert proto[name].histograms == family.histograms
        assert sorted(family.values.values()) == sorted(families[name].values.values())


def test_exemplars_are_left_out_of_both_forms() -> None:
    line = b'apiserver_request_total{code="200"} 5 # {trace_id="trace-acme"} 1.0 1776000000.0\n'
    # A counter of 5 with an exemplar {trace_id="trace-acme"}.
    label = b"\x0a\x08trace_id\x12\x0atrace-acme"
    exemplar = b"\x0a" + bytes([len(label)]) + label
    counter = b"\x09" + b"\0\0\0\0\0\0\x14@" + b"\x12" + bytes([len(exemplar)]) + exemplar
    metric = b"\x1a" + bytes([len(counter)]) + counter
    family = b"\x0a\x17apiserver_request_total\x18\x00\x22" + bytes([len(metric)]) + metric
    learning = Learning()

    text, left = metrics_text(line, learning)
    proto = metrics_proto(bytes([len(family)]) + family, learning)

    assert (text, left) == (b'apiserver_request_total{code="200"} 5\n', 0)
    assert b"trace-acme" not in proto
    assert parse_proto(proto).families["apiserver_request_total"].values == {(): 5.0}


def with_text(folder: Path, name: str, text: str | bytes) -> tuple[Path, Mapped]:
    """The bundle with another file, redacted, and who is who."""
    plain = bundle(folder / "acme-corp")
    (plain / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return redacted(plain, folder)


def with_schema(folder: Path, **changes: object) -> Path:
    """The bundle with some fields of its flow schema replaced, redacted."""
    listed = json.loads(json.dumps(OBJECTS["flowschemas.json"]))
    for path, value in changes.items():
        found = listed["items"][0]
        *parents, last = path.split("__")
        for parent in parents:
            found = found[int(parent) if parent.isdecimal() else parent]
        found[last] = value
    return with_text(folder, "flowschemas.json", json.dumps(listed))[0]


def with_column(folder: Path, name: str) -> Path:
    """The redacted bundle of a dump with one more column, which holds a name."""
    lines = [f"{line}, {word}" for line, word in zip(DUMP.splitlines(), (name, "acme", "acme"), strict=True)]
    return with_text(folder, "dump_requests.txt", "\n".join(lines) + "\n")[0]


def nothing_of(word: bytes, target: Path) -> bool:
    return not [name for name, body in files(target) if word in body.lower()]


@pytest.mark.parametrize("odd", ["al\tice", "al\nice", "CN=alice, O=acme, OU=x", 'al"ice'])
def test_a_user_with_a_separator_in_the_name_gets_a_pseudonym_and_keeps_the_hand(odd: str, tmp_path: Path) -> None:
    target, names = with_text(tmp_path, "dump_requests.txt", DUMP.replace("alice@acme.example", odd))

    hands = json.loads(dict(files(target))["facts.json"])["hands"]

    assert odd in names["user"].values()
    dealt = {names["user"].get(one["distinguisher"]): tuple(one["hand"]) for one in hands}
    assert dealt[odd] == hand("acme-batch", odd, 64, 6)
    assert b"(left out)" not in dict(files(target))["dump_requests.txt"]
    assert nothing_of(b"acme", target)


def test_a_user_that_is_no_utf_8_gets_a_pseudonym(tmp_path: Path) -> None:
    dump = DUMP.encode().replace(b"alice@acme.example", b"al\xff\xfeacme")

    target, names = with_text(tmp_path, "dump_requests.txt", dump)

    assert "al\\udcff\\udcfeacme" in names["user"].values()
    assert len(dict(files(target))["dump_requests.txt"].splitlines()) == 3
    assert nothing_of(b"acme", target)


def test_columns_that_are_not_known_lose_name_and_content(tmp_path: Path) -> None:
    target = with_column(tmp_path, "acme_team")

    assert b"Column18" in dict(files(target))["dump_requests.txt"]
    assert nothing_of(b"acme", target)


@pytest.mark.parametrize(
    "changes",
    [
        {"status__conditions": [{"type": "Acme", "status": "acme", "reason": "Acme", "message": "acme"}]},
        {"metadata__managedFields": [{"manager": "acme", "operation": "Acme", "subresource": "acme"}]},
        {"spec__rules__0__subjects": [{"kind": "Acme", "acme": {"name": "acme"}}]},
        {"spec__distinguisherMethod": {"type": "ByAcme"}},
        {"apiVersion": "flowcontrol.apiserver.k8s.io/vacme"},
        {"metadata__ownerReferences": [{"kind": "Acme", "name": "acme"}]},
        {"metadata__annotations": {"apf.kubernetes.io/autoupdate-spec": "acme", "acme": "acme"}},
    ],
)
def test_words_of_objects_that_are_not_those_of_kubernetes_are_replaced(
    changes: dict[str, object], tmp_path: Path
) -> None:
    if "apiVersion" in changes:
        changes["kind"] = "FlowSchema"

    assert nothing_of(b"acme", with_schema(tmp_path, **changes))


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("log.txt", SERVER_LOG.replace('latency="1.5ms"', 'latency="acme" apf_iseats="acme" hijacked=acme')),
        ("audit.log", json.dumps(AUDIT | {"stage": "acme"}) + "\n"),
        ("audit.log", json.dumps(AUDIT | {"annotations": {"apf.k8s.io/queue-wait": "acme"}}) + "\n"),
        ("client.log", CLIENT_LOG.replace("GET:https", "ACME:https")),
    ],
)
def test_logs_keep_only_measures_and_words_of_their_own(file: str, text: str, tmp_path: Path) -> None:
    assert nothing_of(b"acme", with_text(tmp_path, file, text)[0])


def test_an_address_in_place_of_a_number_or_a_time_is_replaced(tmp_path: Path) -> None:
    metrics = METRICS.replace('code="200"', 'code="10.31.7.9"')
    target, _ = with_text(tmp_path / "first", "metrics_t0.txt", metrics)
    other = with_schema(tmp_path / "other", metadata__creationTimestamp="10.31.7.9")

    assert nothing_of(b"10.31.7.9", target)
    assert nothing_of(b"10.31.7.9", other)


def test_columns_of_releases_to_come_keep_their_names(tmp_path: Path) -> None:
    target = with_column(tmp_path, "Borrowed")

    assert b"Borrowed" in dict(files(target))["dump_requests.txt"]
    assert nothing_of(b"acme", target)


@pytest.mark.parametrize(
    ("query", "kept"), [("limit=500&timeout=1m30s&watch=true", True), ("limit=acme&timeout=10.31.7.9", False)]
)
def test_of_queries_only_numbers_durations_and_words_of_kubernetes_stay(query: str, kept: bool, tmp_path: Path) -> None:
    asked = [{"id": "1", "user": "u", "verb": "list", "path": f"/api/v1/pods?{query}"}]

    target, _ = with_text(tmp_path, "requests.json", json.dumps(asked))

    told = json.loads(dict(files(target))["requests.json"])[0]["path"]
    assert (told == f"/api/v1/pods?{query}") == kept
    assert nothing_of(b"acme", target) and nothing_of(b"10.31.7.9", target)


def test_a_path_that_is_none_stays_none(tmp_path: Path) -> None:
    asked = [{"id": "1", "user": "u", "verb": "get", "path": "acme"}]

    target, _ = with_text(tmp_path, "requests.json", json.dumps(asked))

    assert not json.loads(dict(files(target))["requests.json"])[0]["path"].startswith("/")


def test_a_log_stays_in_the_folder_of_its_server_whatever_this_is_called(tmp_path: Path) -> None:
    plain = tmp_path / "acme-corp"
    for server in ("acme-1%2Fx", "acme-2"):
        folder = plain / "replicas" / server
        folder.mkdir(parents=True)
        (folder / "metrics_t0.txt").write_text(METRICS)
        (folder / "log.txt").write_text(SERVER_LOG)

    target, names = redacted(plain, tmp_path)

    assert sorted(names["server"].values()) == ["acme-1%2Fx", "acme-2"]
    for folder in (target / "replicas").iterdir():
        assert {"metrics.txt", "log.txt"} <= {file.name for file in folder.iterdir()}
    assert nothing_of(b"acme", target)
