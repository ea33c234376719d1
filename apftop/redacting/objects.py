"""API objects with other names: only the fields that apftop reads are taken over, all others may name anybody."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from apftop.parse.callbacks import KINDS
from apftop.parse.documents import Item, read_documents
from apftop.parse.objects import GROUP
from apftop.redacting import words
from apftop.redacting.dumps import Told
from apftop.redacting.pseudonyms import Kind, Naming

_ANNOTATIONS = (
    "apf.kubernetes.io/autoupdate-spec",
    "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares",
)
_REFERS = re.compile(
    r'(This FlowSchema references the PriorityLevelConfiguration object named )"([^"]*)"'
    r"( and it exists| but there is no such object|)"
)
_OWN = frozenset(
    {
        *("", "User", "Group", "ServiceAccount", "Apply", "Update", "status", "scale"),
        *("Dangling", "True", "False", "Unknown", "Found", "NotFound", "ByUser", "ByNamespace", "Limited", "Exempt"),
        *("Queue", "Reject", "Fail", "Ignore", "*", "CREATE", "UPDATE", "DELETE", "CONNECT"),
    }
)
"""Words of Kubernetes in fields that may hold others."""
_TIME = re.compile(r"(?:[0-9]{4}-[-0-9:.TZ+]{0,36})?")
Value = Any
"""What JSON and YAML hold."""


class _Odd(ValueError):
    """A value of another type than its field has."""


def _text(value: Value) -> str:
    if not isinstance(value, str):
        raise _Odd
    return value


def _matching(pattern: re.Pattern[str]) -> Callable[[Value], str]:
    def read(value: Value) -> str:
        if not pattern.fullmatch(_text(value)):
            raise _Odd
        return _text(value)

    return read


def _worded(naming: Naming) -> Callable[[Value], str]:
    return lambda one: _text(one) if one in _OWN else naming(Kind.LABEL, _text(one))


_time = _matching(_TIME)
_digits = _matching(re.compile(r"[0-9]{0,24}"))
_flag_text = _matching(re.compile(r"(?:true|false|)"))


def objects(body: bytes, naming: Naming) -> Told:
    """FlowSchemas, PriorityLevelConfigurations, webhook configurations and APIServices as a JSON list.

    Raises ParseError where the body holds none.
    """
    items, problems = read_documents(body)
    made: list[Value] = []
    left = len(problems)
    for item in items:
        try:
            made.append(_item(item, naming))
        except (_Odd, AttributeError, TypeError):
            left += 1
    told = (f"{left} objects that are other ones or cannot be read",) if left else ()
    listed = {"kind": "List", "apiVersion": "v1", "items": made}
    if not made:
        # An empty list says of what there are none.
        kind, version = _of_list(body)
        listed = {"kind": kind, "apiVersion": version, "items": []}
    return msgspec.json.format(msgspec.json.encode(listed), indent=1) + b"\n", told


def _of_list(body: bytes) -> tuple[str, str]:
    kinds = ("FlowSchema", "PriorityLevelConfiguration", *KINDS)
    kind = next((kind for kind in kinds if f"{kind}List".encode() in body), "")
    groups = (GROUP, "admissionregistration.k8s.io", "apiregistration.k8s.io")
    group = next((group for group in groups if group.encode() in body), "")
    return (f"{kind}List", f"{group}/v1") if kind and group else ("List", "v1")


def _item(item: Item, naming: Naming) -> Value:
    group, _, version = item.api_version.rpartition("/")
    if not re.fullmatch(r"v[0-9]{1,4}(?:(?:alpha|beta)[0-9]{1,4})?", version):
        raise _Odd
    fields = item.fields
    made: dict[str, Value] = {"kind": item.kind, "apiVersion": item.api_version}
    if group == GROUP and item.kind in ("FlowSchema", "PriorityLevelConfiguration"):
        schema = item.kind == "FlowSchema"
        made["metadata"] = _meta(fields.get("metadata"), Kind.SCHEMA if schema else Kind.LEVEL, naming)
        spec, status = fields.get("spec"), fields.get("status")
        if spec is not None:
            made["spec"] = _schema(spec, naming) if schema else _level(spec, naming)
        if status is not None:
            made["status"] = _map(status, {"conditions": _each(lambda one: _condition(one, naming))})
        return made
    if group == "admissionregistration.k8s.io" and item.kind in KINDS:
        made["metadata"] = {"name": naming(Kind.WEBHOOK, _text(_get(fields.get("metadata"), "name")))}
        made["webhooks"] = _each(lambda one: _webhook(one, naming))(fields.get("webhooks") or [])
        return made
    if group == "apiregistration.k8s.io" and item.kind == "APIService":
        return made | _apiservice(fields, naming)
    raise _Odd


def _meta(value: Value, kind: Kind, naming: Naming) -> Value:
    return _map(
        value,
        {
            "name": lambda one: naming(kind, _text(one)),
            "uid": lambda one: naming(Kind.UID, _text(one)),
            "generation": _number,
            "resourceVersion": _digits,
            "creationTimestamp": _time,
            "annotations": lambda one: _map(one, dict.fromkeys(_ANNOTATIONS, _flag_text)),
            "managedFields": _each(
                lambda one: _map(
                    one,
                    {
                        "manager": lambda name: naming(Kind.MANAGER, _text(name)),
                        "operation": _worded(naming),
                        "time": _time,
                        "subresource": _worded(naming),
                        "fieldsV1": lambda fields: {"f:spec": {}} if _get(fields, "f:spec") is not None else {},
                    },
                )
            ),
        },
    )


def _schema(value: Value, naming: Naming) -> Value:
    subject = {
        "kind": _worded(naming),
        "user": _only("name", lambda one: words.user(_text(one), naming)),
        "group": _only("name", lambda one: words.group(_text(one), naming)),
        "serviceAccount": lambda one: _map(
            one,
            {
                "name": lambda name: naming(Kind.OBJECT, _text(name)),
                "namespace": lambda name: naming(Kind.NAMESPACE, _text(name)),
            },
        ),
    }
    resource_rule = {
        "verbs": _each(lambda one: words.verb(_text(one), naming)),
        "apiGroups": _each(lambda one: naming(Kind.API_GROUP, _text(one))),
        "resources": _each(lambda one: words.resource(_text(one), naming)),
        "namespaces": _each(lambda one: naming(Kind.NAMESPACE, _text(one))),
        "clusterScope": _flag,
    }
    url_rule = {
        "verbs": _each(lambda one: words.verb(_text(one), naming)),
        "nonResourceURLs": _each(lambda one: words.path_rule(_text(one), naming)),
    }
    rule = {
        "subjects": _each(lambda one: _map(one, subject)),
        "resourceRules": _each(lambda one: _map(one, resource_rule)),
        "nonResourceRules": _each(lambda one: _map(one, url_rule)),
    }
    return _map(
        value,
        {
            "priorityLevelConfiguration": _only("name", lambda one: naming(Kind.LEVEL, _text(one))),
            "matchingPrecedence": _number,
            "distinguisherMethod": _only("type", _worded(naming)),
            "rules": _each(lambda one: _map(one, rule)),
        },
    )


_QUEUING = dict.fromkeys(("queues", "handSize", "queueLengthLimit"), lambda one: _number(one))
_SHARES = ("nominalConcurrencyShares", "assuredConcurrencyShares", "lendablePercent", "borrowingLimitPercent")


def _level(value: Value, naming: Naming) -> Value:
    response = {"type": _worded(naming), "queuing": lambda one: _map(one, _QUEUING)}
    limited = {**dict.fromkeys(_SHARES, _number), "limitResponse": lambda one: _map(one, response)}
    return _map(
        value,
        {
            "type": _worded(naming),
            "limited": lambda one: _map(one, limited),
            "exempt": lambda one: _map(one, limited),
        },
    )


def _condition(value: Value, naming: Naming) -> Value:
    def message(one: Value) -> str:
        found = _REFERS.fullmatch(_text(one))
        return f'{found[1]}"{naming(Kind.LEVEL, found[2])}"{found[3]}' if found else ""

    known = dict.fromkeys(("type", "status", "reason"), _worded(naming))
    return _map(value, {**known, "message": message, "lastTransitionTime": _time})


def _webhook(value: Value, naming: Naming) -> Value:
    rule = {
        "operations": _each(_worded(naming)),
        "apiGroups": _each(lambda one: naming(Kind.API_GROUP, _text(one))),
        "resources": _each(lambda one: words.resource(_text(one), naming)),
    }
    return _map(
        value,
        {
            "name": lambda one: naming(Kind.WEBHOOK, _text(one)),
            "clientConfig": lambda one: _map(one, {"service": lambda inner: _service(inner, naming)}),
            "timeoutSeconds": _number,
            "failurePolicy": _worded(naming),
            "rules": _each(lambda one: _map(one, rule)),
        },
    )


def _service(value: Value, naming: Naming) -> Value:
    return _map(
        value,
        {
            "namespace": lambda one: naming(Kind.NAMESPACE, _text(one)),
            "name": lambda one: naming(Kind.OBJECT, _text(one)),
        },
    )


def _apiservice(fields: Mapping[Any, Any], naming: Naming) -> dict[str, Value]:
    version, _, group = _text(_get(fields.get("metadata"), "name")).partition(".")
    name = words.version(f"{group}/{version}", naming).split("/")
    spec = _map(
        fields.get("spec") or {},
        {
            "group": lambda one: naming(Kind.API_GROUP, _text(one)),
            "version": lambda one: words.version(_text(one), naming),
            "service": lambda one: _service(one, naming),
        },
    )
    return {"metadata": {"name": f"{name[1]}.{name[0]}"}, "spec": spec}


def _map(value: Value, known: Mapping[str, Callable[[Value], Value]]) -> dict[str, Value]:
    """The known fields of a mapping; null stays null."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _Odd
    return {name: None if value[name] is None else read(value[name]) for name, read in known.items() if name in value}


def _only(name: str, read: Callable[[Value], Value]) -> Callable[[Value], Value]:
    return lambda value: _map(value, {name: read})


def _each(read: Callable[[Value], Value]) -> Callable[[Value], list[Value]]:
    def every(value: Value) -> list[Value]:
        if not isinstance(value, list):
            raise _Odd
        return [read(one) for one in value]

    return every


def _get(value: Value, name: str) -> Value:
    return value.get(name) if isinstance(value, Mapping) else None


def _number(value: Value) -> int | float:
    if not isinstance(value, (int, float)):
        raise _Odd
    return value


def _flag(value: Value) -> bool:
    if not isinstance(value, bool):
        raise _Odd
    return value
