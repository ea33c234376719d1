"""Webhook configurations and APIServices: which services are called, for what; what is broken is named."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from apftop.parse.callbacks import parse_callbacks
from apftop.records.backend import Callback, CallbackRule
from apftop.records.parsed import ParseError

V1 = "admissionregistration.k8s.io/v1"
SERVICE = {"service": {"namespace": "kyverno", "name": "kyverno-svc", "path": "/validate/fail"}}
PODS = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
FOUND = Callback(
    "validating",
    "checks",
    "check.kyverno.svc",
    "kyverno",
    "kyverno-svc",
    10.0,
    True,
    (CallbackRule(("CREATE",), ("",), ("pods",)),),
)


def webhook(**fields: Any) -> dict[str, Any]:
    return {"name": "check.kyverno.svc", "clientConfig": SERVICE, "rules": [PODS], **fields}


def config(*webhooks: dict[str, Any], kind: str = "ValidatingWebhookConfiguration") -> dict[str, Any]:
    return {"apiVersion": V1, "kind": kind, "metadata": {"name": "checks"}, "webhooks": list(webhooks)}


def apiservice(service: dict[str, str] | None) -> dict[str, Any]:
    spec = {"group": "metrics.k8s.io", "version": "v1beta1", "service": service}
    head = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService"}
    return {**head, "metadata": {"name": "v1beta1.metrics.k8s.io"}, "spec": spec}


def read(*objects: dict[str, Any]) -> tuple[tuple[Callback, ...], tuple[str, ...]]:
    found = parse_callbacks(json.dumps({"kind": "List", "apiVersion": "v1", "items": objects}).encode())
    return found.callbacks, found.problems


def test_a_webhook_has_the_defaults_of_v1() -> None:
    assert read(config(webhook())) == ((FOUND,), ())


def test_what_a_webhook_says_itself_counts() -> None:
    (found,), _ = read(config(webhook(timeoutSeconds=3, failurePolicy="Ignore"), kind="MutatingWebhookConfiguration"))

    assert (found.kind, found.timeout_s, found.fails_closed) == ("mutating", 3.0, False)


def test_an_apiservice_serves_all_of_its_group() -> None:
    (found,), problems = read(apiservice({"namespace": "kube-system", "name": "metrics-server"}))

    assert found == Callback(
        "apiservice",
        "v1beta1.metrics.k8s.io",
        "v1beta1.metrics.k8s.io",
        "kube-system",
        "metrics-server",
        rules=(CallbackRule(("*",), ("metrics.k8s.io",), ("*",)),),
    )
    assert problems == ()


def test_webhooks_by_url_and_apis_of_the_server_itself_are_no_services() -> None:
    assert read(config(webhook(clientConfig={"url": "https://10.0.0.1/check"})), apiservice(None)) == ((), ())


def test_any_mix_in_a_stream_of_yaml_is_read() -> None:
    body = yaml.safe_dump_all([config(webhook()), apiservice({"namespace": "kube-system", "name": "metrics-server"})])

    assert [one.kind for one in parse_callbacks(body.encode()).callbacks] == ["validating", "apiservice"]


def test_items_of_a_list_have_the_kind_of_the_list() -> None:
    item = {key: value for key, value in config(webhook()).items() if key not in ("kind", "apiVersion")}
    body = {"apiVersion": V1, "kind": "ValidatingWebhookConfigurationList", "items": [item]}

    assert parse_callbacks(json.dumps(body).encode()).callbacks == (FOUND,)


def test_an_empty_list_says_that_there_are_none() -> None:
    body = json.dumps({"apiVersion": V1, "kind": "ValidatingWebhookConfigurationList", "items": []}).encode()

    assert parse_callbacks(body).callbacks == ()


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ({"clientConfig": None}, "webhooks[0].clientConfig is missing"),
        ({"clientConfig": {"service": {"name": "x"}}}, "webhooks[0].clientConfig.service.namespace is missing"),
        ({"timeoutSeconds": "3"}, "webhooks[0].timeoutSeconds is '3', not an integer"),
        ({"timeoutSeconds": 0}, "webhooks[0].timeoutSeconds is 0, not between 1 and 30"),
        ({"failurePolicy": "Maybe"}, "webhooks[0].failurePolicy is 'Maybe', neither Fail nor Ignore"),
        ({"rules": [{"operations": [1]}]}, "webhooks[0].rules[0].operations[0] is 1, not a string"),
    ],
)
def test_a_broken_webhook_is_named_and_the_others_are_read(broken: dict[str, Any], why: str) -> None:
    found, problems = read(config(webhook(**broken), webhook()))

    assert found == (FOUND,)
    assert problems == (f"ValidatingWebhookConfiguration/checks: {why}",)


def test_an_object_without_a_name_is_named_by_its_place() -> None:
    _, problems = read({**config(webhook()), "metadata": {}})

    assert problems == ("ValidatingWebhookConfiguration (item 0): metadata.name is missing",)


def test_other_objects_alone_are_no_callbacks() -> None:
    with pytest.raises(ParseError, match=r"^no webhook configuration or APIService but FlowSchema$"):
        read({"kind": "FlowSchema", "apiVersion": "flowcontrol.apiserver.k8s.io/v1", "metadata": {"name": "x"}})


def test_what_is_no_object_is_an_error() -> None:
    with pytest.raises(ParseError):
        parse_callbacks(b"<html>")
