"""Lines of audit and access logs as API servers write them."""

from __future__ import annotations

import json
from typing import Any

ARGO = "system:serviceaccount:argo:workflow-controller"
AGENT = "argo-workflows-controller/v3.5 (linux/amd64)"


def event(number: int = 1, **other: Any) -> dict[str, Any]:
    """One audit event at level Metadata; `other` replaces fields, and takes away those that are None."""
    made = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": f"7d3a1c52-0000-4000-8000-{number:012d}",
        "stage": "ResponseComplete",
        "requestURI": "/api/v1/namespaces/argo/pods?labelSelector=a%3Db&limit=500",
        "verb": "list",
        "user": {"username": ARGO, "uid": "1", "groups": ["system:serviceaccounts", "system:authenticated"]},
        "sourceIPs": ["10.0.3.17"],
        "userAgent": AGENT,
        "objectRef": {"resource": "pods", "namespace": "argo", "apiVersion": "v1"},
        "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": "2024-04-12T10:03:02.015838Z",
        "stageTimestamp": "2024-04-12T10:03:02.125838Z",
        "annotations": {"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": ""},
    } | other
    return {key: value for key, value in made.items() if value is not None}


def line(number: int = 1, **other: Any) -> bytes:
    """The same as a line of the log."""
    return json.dumps(event(number, **other)).encode() + b"\n"


def access(
    verb: str = "LIST",
    uri: str = "/api/v1/namespaces/argo/pods?limit=500",
    agent: str = AGENT,
    source: str = "10.0.3.17:52814",
    resp: int | None = 200,
    at: str = "0412 10:03:02.015838",
    more: str = 'apf_execution_time="10.9ms" ',
) -> bytes:
    """A line of the access log, as klog writes it."""
    quoted = json.dumps(agent)
    ends = "hijacked=true" if resp is None else f"resp={resp}"
    return (
        f'I{at}       1 httplog.go:134] "HTTP" verb="{verb}" URI="{uri}" latency="11.586316ms" userAgent={quoted} '
        f'audit-ID="33e27fd2-d22d-4c4d-9b46-d4efeca06f05" srcIP="{source}" apf_pl="workload-low" '
        f'apf_fs="service-accounts" apf_iseats=1 apf_fseats=0 apf_additionalLatency="0s" {more}{ends}\n'
    ).encode()
