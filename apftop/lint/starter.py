"""A narrow policy to start from: a small level of its own for the reads of one account in one namespace."""

from __future__ import annotations

import json
from typing import Any

from apftop.findings.changes.patches import a_level, a_schema, user_subject

SHARES = 5
"""Few seats, and none of them lent or borrowed: what one batch reader needs, and what it can take from others."""

PRECEDENCE = 1000
"""Before `service-accounts` (9000), and behind all built-in schemas of the control plane (100 to 900)."""

READS = (("", "pods"), ("apps", "deployments"))


def starter(
    user: str, name: str, namespace: str, resources: tuple[tuple[str, str], ...] = READS, api_version: str = ""
) -> tuple[dict[str, Any], ...]:
    """The level and the schema. Lists of these resources (API group, plural) in that namespace alone are matched.

    A list over all namespaces is not: it stays where it is today.
    """
    version = api_version or "flowcontrol.apiserver.k8s.io/v1"
    groups: dict[str, list[str]] = {}
    for group, plural in resources:
        groups.setdefault(group, []).append(plural)
    rules = [
        {
            "verbs": ["list"],
            "apiGroups": [group],
            "resources": plurals,
            "namespaces": [namespace],
            "clusterScope": False,
        }
        for group, plurals in groups.items()
    ]
    level = a_level(name, SHARES)
    schema = a_schema(name, name, PRECEDENCE, [user_subject(user)], resource_rules=rules)
    return tuple({"apiVersion": version, **one} for one in (level, schema))


def as_yaml(objects: tuple[dict[str, Any], ...]) -> str:
    """The objects as a stream of documents."""
    import yaml

    return "---\n".join(yaml.safe_dump(json.loads(json.dumps(one)), sort_keys=False) for one in objects)
