"""What is denied and would be of use: the RBAC objects that grant it, and nothing more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from apftop.derive.access import GRANTS
from apftop.doctor.examination import ANONYMOUS, Answer, Examination
from apftop.records.raw import CALLBACKS, DUMPS, OBJECTS, Endpoint

RBAC = "rbac.authorization.k8s.io"
NAME = "apftop-missing"
"""Not `apftop`: a role of that name may be there already, and would lose what it grants."""

NAMESPACED = {
    "the leases": ("kube-system", 'apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "list"]'),
    "the EndpointSlices": (
        "default",
        'apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["get", "list"]',
    ),
}
SERVICE_ACCOUNT = "system:serviceaccount:"
READERS = "apftop-readers"
"""The group that is written where nobody said who asks."""

Json = dict[str, Any]


def missing(found: Examination) -> tuple[str, ...]:
    """What is denied to somebody whose name the servers know, in words."""
    names = {_group(answer.endpoint) for server in found.servers for answer in server.answers if answer.status == 403}
    names |= {name for name, answer in zip(NAMESPACED, (found.leases, found.slices), strict=True) if _denied(answer)}
    return tuple(name for name in (*GRANTS, *NAMESPACED) if name in names)


def _denied(answer: Answer | None) -> bool:
    return answer is not None and answer.status == 403


def _group(endpoint: Endpoint) -> str:
    if endpoint in DUMPS:
        return "the dumps"
    if endpoint in CALLBACKS:
        return "the APIServices" if endpoint is Endpoint.APISERVICES else "the webhooks"
    return "the APF objects" if endpoint in OBJECTS else "/metrics"


def grant(found: Examination) -> str:
    """YAML that grants what is denied, for whom the servers say is asking; empty where nothing is.

    Who is anonymous needs credentials, not rights.
    """
    import yaml

    users = {server.user for server in found.servers if server.user}
    if ANONYMOUS in users:
        return ""
    subject = _subject(users.pop() if len(users) == 1 else None)
    return str(yaml.safe_dump_all(_objects(missing(found), subject), sort_keys=False)) if missing(found) else ""


def _objects(names: tuple[str, ...], subject: Json) -> Iterator[Json]:
    rules = [_rule(GRANTS[name]) for name in names if name in GRANTS]
    if rules:
        yield from _role_and_binding("ClusterRole", rules, subject, {})
    for name in names:
        if name in NAMESPACED:
            namespace, rule = NAMESPACED[name]
            yield from _role_and_binding("Role", [_rule(rule)], subject, {"namespace": namespace})


def _rule(text: str) -> Json:
    """The rule as an object of its own, so that YAML needs no references."""
    import yaml

    rule: Json = yaml.safe_load(f"{{{text}}}")
    return rule


def _role_and_binding(kind: str, rules: list[Json], subject: Json, where: Json) -> Iterator[Json]:
    head = {"apiVersion": f"{RBAC}/v1"}
    yield {**head, "kind": kind, "metadata": {"name": NAME, **where}, "rules": rules}
    yield {
        **head,
        "kind": f"{kind}Binding",
        "metadata": {"name": NAME, **where},
        "roleRef": {"apiGroup": RBAC, "kind": kind, "name": NAME},
        "subjects": [dict(subject)],
    }


def _subject(user: str | None) -> Json:
    if user is None:
        return {"apiGroup": RBAC, "kind": "Group", "name": READERS}
    if user.startswith(SERVICE_ACCOUNT) and user.count(":") == 3:
        namespace, name = user.removeprefix(SERVICE_ACCOUNT).split(":")
        return {"kind": "ServiceAccount", "namespace": namespace, "name": name}
    return {"apiGroup": RBAC, "kind": "User", "name": user}
