"""Configuration objects as the API server gives them out."""

from __future__ import annotations

import uuid
from typing import Any

from apftop.apf.objects import FlowSchema, PriorityLevelConfiguration, ResourceRule, Rule, Subject

GROUP = "flowcontrol.apiserver.k8s.io"
API_VERSION = f"{GROUP}/v1"
Json = dict[str, Any]

_BORN = "2026-03-02T08:14:51Z"
_NAMESPACE = uuid.UUID("6f1c0a52-3f0e-4c11-9a5d-2b7c8d9e0f13")


def uid(kind: str, name: str) -> str:
    """The uid of an object: the same in every run."""
    return str(uuid.uuid5(_NAMESPACE, f"{kind}/{name}"))


def schema_json(schema: FlowSchema, built_in: bool) -> Json:
    """A FlowSchema as JSON."""
    spec: Json = {
        "priorityLevelConfiguration": {"name": schema.priority_level},
        "matchingPrecedence": schema.precedence,
        "rules": [_rule(rule) for rule in schema.rules],
    }
    if schema.distinguisher:
        spec["distinguisherMethod"] = {"type": schema.distinguisher}
    found = {
        "type": "Dangling",
        "status": "False",
        "lastTransitionTime": _BORN,
        "reason": "Found",
        "message": "This FlowSchema references the PriorityLevelConfiguration object named "
        f'"{schema.priority_level}" and it exists',
    }
    return _object("FlowSchema", schema.name, spec, built_in) | {"status": {"conditions": [found]}}


def level_json(level: PriorityLevelConfiguration, built_in: bool) -> Json:
    """A PriorityLevelConfiguration as JSON."""
    seats: Json = {"nominalConcurrencyShares": level.shares, "lendablePercent": level.lendable_percent}
    if level.borrowing_limit_percent is not None:
        seats["borrowingLimitPercent"] = level.borrowing_limit_percent
    spec: Json
    if level.exempt:
        spec = {"type": "Exempt", "exempt": seats}
    else:
        response: Json = {"type": "Queue" if level.queuing else "Reject"}
        if level.queuing:
            response["queuing"] = {
                "queues": level.queuing.queues,
                "handSize": level.queuing.hand_size,
                "queueLengthLimit": level.queuing.queue_length_limit,
            }
        spec = {"type": "Limited", "limited": seats | {"limitResponse": response}}
    return _object("PriorityLevelConfiguration", level.name, spec, built_in) | {"status": {}}


def _object(kind: str, name: str, spec: Json, built_in: bool) -> Json:
    managed: Json = {
        "manager": "api-priority-and-fairness-config-producer-v1" if built_in else "kubectl-client-side-apply",
        "operation": "Apply" if built_in else "Update",
        "apiVersion": API_VERSION,
        "time": _BORN,
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {}},
    }
    metadata: Json = {
        "name": name,
        "uid": uid(kind, name),
        "resourceVersion": "418",
        "generation": 1,
        "creationTimestamp": _BORN,
    }
    if built_in:
        metadata["annotations"] = {"apf.kubernetes.io/autoupdate-spec": "true"}
    metadata["managedFields"] = [managed]
    return {"kind": kind, "apiVersion": API_VERSION, "metadata": metadata, "spec": spec}


def _rule(rule: Rule) -> Json:
    made: Json = {"subjects": [_subject(subject) for subject in rule.subjects]}
    if rule.resource_rules:
        made["resourceRules"] = [_resource_rule(one) for one in rule.resource_rules]
    if rule.non_resource_rules:
        made["nonResourceRules"] = [
            {"verbs": list(one.verbs), "nonResourceURLs": list(one.urls)} for one in rule.non_resource_rules
        ]
    return made


def _subject(subject: Subject) -> Json:
    match subject.kind:
        case "User":
            return {"kind": "User", "user": {"name": subject.name}}
        case "Group":
            return {"kind": "Group", "group": {"name": subject.name}}
        case "ServiceAccount":
            account = {"namespace": subject.namespace, "name": subject.name}
            return {"kind": "ServiceAccount", "serviceAccount": account}


def _resource_rule(rule: ResourceRule) -> Json:
    made: Json = {
        "verbs": list(rule.verbs),
        "apiGroups": list(rule.api_groups),
        "resources": list(rule.resources),
    }
    if rule.cluster_scope:
        made["clusterScope"] = True
    if rule.namespaces:
        made["namespaces"] = list(rule.namespaces)
    return made
