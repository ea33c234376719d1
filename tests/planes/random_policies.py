"""Random flow schemas and priority levels that a server takes, from words that random requests use too."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from tests.planes.client import Json
from tests.planes.flow import VERSION, priority_level

SCHEMAS = 90
LEVELS = ("random-wide", "random-one-queue", "random-rejects", "random-small")
OTHER_LEVELS = ("workload-low", "global-default", "catch-all", "exempt", "random-missing")
"""Levels that every server has, and one that none has."""

USERS = ("alice", "bob", "carol", "jörg", "system:anonymous", "system:kube-scheduler", "system:node:node-1")
GROUPS = (
    "team-a",
    "team-b",
    "system:nodes",
    "system:authenticated",
    "system:unauthenticated",
    "system:serviceaccounts",
)
ACCOUNTS = (("shop", "web"), ("shop", "worker"), ("ops", "web"), ("kube-system", "coredns"))
NAMESPACES = ("shop", "ops", "default", "kube-system")
API_GROUPS = ("", "apps", "coordination.k8s.io", "rbac.authorization.k8s.io", "none.example.com")
VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
RESOURCES = (
    "pods",
    "pods/status",
    "configmaps",
    "namespaces",
    "namespaces/status",
    "nodes",
    "nodes/status",
    "leases",
    "deployments",
    "deployments/scale",
    "clusterroles",
    "widgets",
)
URLS = (
    "/healthz",
    "/healthz/*",
    "/readyz/*",
    "/version",
    "/version/*",
    "/api",
    "/api/*",
    "/apis",
    "/apis/*",
    "/apis/apps/*",
    "/openapi/v2",
    "/openapi/*",
    "/metrics",
    "/nowhere/*",
    "/",
    "/*",
)
ENDS = ("", "-a", ".a", "0", "-0", "z")
"""Parts of names that byte order puts elsewhere than the order of words or of numbers does."""


def random_levels() -> tuple[Json, ...]:
    """The levels of LEVELS, with seats enough that nothing waits for long."""
    wide, one, rejects, small = LEVELS
    return (
        priority_level(wide, shares=20, queues=64, hand_size=6),
        priority_level(one, shares=10, queues=1, hand_size=1),
        priority_level(rejects, shares=10, reject=True),
        priority_level(small, shares=10, queues=2, hand_size=1),
    )


def random_schemas(seed: int) -> tuple[Json, ...]:
    """So many schemas: some with one precedence, some dangling, most of them narrow."""
    rng = random.Random(seed)
    ties = [rng.randint(2, 9000) for _ in range(4)]
    return tuple(
        {
            "apiVersion": VERSION,
            "kind": "FlowSchema",
            "metadata": {"name": f"random{rng.choice(ENDS)}-{number}"},
            "spec": {
                "matchingPrecedence": rng.choice(ties) if rng.random() < 0.3 else rng.randint(2, 9000),
                "priorityLevelConfiguration": {
                    "name": rng.choice(LEVELS if rng.random() < 0.75 else OTHER_LEVELS),
                },
                **_distinguisher(rng),
                "rules": [_rule(rng) for _ in range(rng.choice((0, 1, 1, 1, 2, 3)))],
            },
        }
        for number in range(SCHEMAS)
    )


def _distinguisher(rng: random.Random) -> Json:
    method = rng.choice(("ByUser", "ByNamespace", None))
    return {} if method is None else {"distinguisherMethod": {"type": method}}


def _rule(rng: random.Random) -> Json:
    resources = [_resource_rule(rng) for _ in range(rng.choice((0, 1, 1, 2)))]
    urls = [_url_rule(rng) for _ in range(rng.choice((0, 1)) if resources else 1)]
    return {
        "subjects": [_subject(rng) for _ in range(rng.choice((1, 1, 2, 3)))],
        "resourceRules": resources,
        "nonResourceRules": urls,
    }


def _subject(rng: random.Random) -> Json:
    kinds: Sequence[Callable[[random.Random], Json]] = (_user, _group, _account)
    return rng.choice(kinds)(rng)


def _user(rng: random.Random) -> Json:
    return {"kind": "User", "user": {"name": "*" if rng.random() < 0.05 else rng.choice((*USERS, _account_user(rng)))}}


def _group(rng: random.Random) -> Json:
    names = (*GROUPS, f"system:serviceaccounts:{rng.choice(ACCOUNTS)[0]}")
    return {"kind": "Group", "group": {"name": "*" if rng.random() < 0.05 else rng.choice(names)}}


def _account(rng: random.Random) -> Json:
    namespace, name = rng.choice(ACCOUNTS)
    account = {"namespace": namespace, "name": "*" if rng.random() < 0.4 else name}
    return {"kind": "ServiceAccount", "serviceAccount": account}


def _account_user(rng: random.Random) -> str:
    return "system:serviceaccount:" + ":".join(rng.choice(ACCOUNTS))


def _resource_rule(rng: random.Random) -> Json:
    rule: Json = {
        "verbs": _some(rng, VERBS, 4),
        "apiGroups": _some(rng, API_GROUPS, 2),
        "resources": _some(rng, RESOURCES, 4),
    }
    scope = rng.choice(("both", "cluster", "namespaces"))
    if scope != "namespaces":
        rule["clusterScope"] = True
    if scope != "cluster":
        rule["namespaces"] = _some(rng, NAMESPACES, 2)
    return rule


def _url_rule(rng: random.Random) -> Json:
    return {"verbs": _some(rng, VERBS[:3], 2), "nonResourceURLs": _some(rng, URLS, 3, star=0.1)}


def _some(rng: random.Random, words: Sequence[str], most: int, star: float = 0.3) -> list[str]:
    """A star, or a few of the words in any order."""
    return ["*"] if rng.random() < star else rng.sample(words, rng.randint(1, most))
