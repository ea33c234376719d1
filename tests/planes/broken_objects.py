"""Flow schemas and priority levels that are broken in one or two ways, with some that only look so."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator

from tests.planes.client import Json
from tests.planes.flow import flow_schema, priority_level

Way = tuple[str, object]
"""The place of a field, with numbers for elements of lists, and what it is to be; `LEFT_OUT` takes it away."""

LEFT_OUT = object()
GROUP = "flowcontrol.apiserver.k8s.io"
ACCOUNT = {"kind": "ServiceAccount", "serviceAccount": {"namespace": "shop", "name": "runner"}}
JANE = {"kind": "User", "user": {"name": "jane"}}
WIDE = 1 << 31
PRESERVE_ZERO = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"

METADATA: tuple[Way, ...] = (
    *(("metadata.name", name) for name in ("Mine", "a_b", "-a", "a.", "a/b", "", "0", "a.b-c", "a" * 253, "a" * 254)),
    *(("metadata.name", name) for name in (LEFT_OUT, 5, None, ["a"], True)),
    *(("metadata.labels", labels) for labels in ({"a": "b"}, {"a": ""}, {"a": "b c"}, {"a": 5}, {"a b": "c"}, ["a"])),
    *(("metadata.labels", labels) for labels in ({"a": "b" * 64}, {"shop.eu/A": "b"}, {"Shop/a": "b"}, {"a": None})),
    *(("metadata.annotations", one) for one in ({"a": "b c"}, {"a b": "c"}, {"a": 5}, {"Shop/a": ""}, {"a/b/c": ""})),
    ("metadata.annotations", {PRESERVE_ZERO: ""}),
    ("metadata.namespace", "shop"),
    ("metadata.generation", 7),
    ("metadata.label", {"a": "b"}),
    ("metadata", LEFT_OUT),
    ("spec", LEFT_OUT),
    ("spec", []),
    ("spec", None),
    ("specs", {}),
    ("data", {"a": "b"}),
    *(("apiVersion", f"{GROUP}/{version}") for version in ("v1beta1", "v1beta2", "v1beta3", "v2", "v1Beta3")),
)
SUBJECT, TARGET, URLS = "spec.rules.0.subjects.0", "spec.rules.0.resourceRules.0", "spec.rules.0.nonResourceRules.0"
SCHEMA: tuple[Way, ...] = (
    *(("spec.matchingPrecedence", one) for one in (-1, 0, 1, 2, 10_000, 10_001, WIDE, "5", 5.5, True, None, LEFT_OUT)),
    *(("spec.priorityLevelConfiguration", one) for one in (LEFT_OUT, {}, "low", {"name": ""}, {"name": "Low"})),
    *(("spec.priorityLevelConfiguration", one) for one in ({"name": "a.b"}, {"name": 5}, {"name": "l", "uid": "x"})),
    *(("spec.distinguisherMethod", one) for one in (LEFT_OUT, None, {}, "ByUser", {"type": "ByNamespace"})),
    *(("spec.distinguisherMethod", one) for one in ({"type": ""}, {"type": "byUser"}, {"type": "ByUser", "name": "x"})),
    *(("spec.rules", one) for one in (LEFT_OUT, None, [], {}, [{}], [None], "all")),
    *(("spec.rules.0.subjects", one) for one in (LEFT_OUT, None, [], [{}], [ACCOUNT], [JANE, ACCOUNT], [JANE, JANE])),
    *((f"{SUBJECT}.kind", one) for one in ("Group", "ServiceAccount", "user", "Robot", "", LEFT_OUT)),
    *((f"{SUBJECT}.name", one) for one in ("", "*", LEFT_OUT, 5)),
    *((f"{SUBJECT}.user", one) for one in (LEFT_OUT, None, {}, {"name": ""}, {"name": "*"}, {"name": "J D:e/f"})),
    (f"{SUBJECT}.user.namespace", "shop"),
    (f"{SUBJECT}.group", {"name": "admins"}),
    (f"{SUBJECT}.group", None),
    (f"{SUBJECT}.serviceAccount", {"namespace": "shop", "name": "runner"}),
    *(
        (SUBJECT, {"kind": "ServiceAccount", "serviceAccount": account})
        for account in (
            *({"namespace": one, "name": "runner"} for one in ("", "*", "Shop", "shop.eu", "s" * 63, "s" * 64)),
            *({"namespace": "shop", "name": one} for one in ("", "*", "Run", "run.ner", "r_", "r" * 253, "r" * 254)),
            {"namespace": "shop"},
            {"name": "runner"},
            {},
            None,
        )
    ),
    (SUBJECT, {**ACCOUNT, "user": {"name": "jane"}}),
    ("spec.rules.0.resourceRules", LEFT_OUT),
    ("spec.rules.0.resourceRules", []),
    ("spec.rules.0.resourceRules", [{}]),
    *(
        (f"{TARGET}.{name}", one)
        for name in ("verbs", "apiGroups", "resources", "namespaces")
        for one in (LEFT_OUT, None, [], "*", ["*", "a"], ["get", "*"], ["get"], ["get", "get"], ["A b"], [""], [5])
    ),
    (f"{TARGET}.verbs", ["get", "list", "create", "update", "delete", "deletecollection", "patch", "watch", "proxy"]),
    (f"{TARGET}.verbs", ["GET"]),
    (f"{TARGET}.verbs", ["connect"]),
    *((f"{TARGET}.clusterScope", one) for one in (False, LEFT_OUT, "true", 1)),
    (f"{TARGET}.resourceNames", ["a"]),
    *(
        (f"{URLS}.nonResourceURLs", one)
        for one in (LEFT_OUT, [], ["*", "/a"], ["/"], ["/a", "/b/*"], ["a"], ["/a b"], ["/a//b"], ["/a*"], ["/*/a"])
    ),
    *((f"{URLS}.nonResourceURLs", one) for one in (["/*"], [""], ["/a\tb"], ["*/a"], ["/a/*/*"], [5])),
    *((f"{URLS}.verbs", one) for one in (LEFT_OUT, [], ["*", "get"], ["post"], ["get"])),
    ("spec.rule", []),
    ("spec.precedence", 5),
    ("metadata.name", "catch-all"),
)
LIMITED, QUEUING = "spec.limited", "spec.limited.limitResponse.queuing"
LEVEL: tuple[Way, ...] = (
    *(("spec.type", one) for one in ("Exempt", "limited", "", LEFT_OUT, None, 5)),
    *((LIMITED, one) for one in (LEFT_OUT, None, {}, [])),
    *(("spec.exempt", one) for one in ({}, None, {"nominalConcurrencyShares": 1})),
    *((f"{LIMITED}.nominalConcurrencyShares", one) for one in (-1, 0, 1, None, LEFT_OUT, "5", 5.5, WIDE - 1, WIDE)),
    *((f"{LIMITED}.lendablePercent", one) for one in (-1, 0, 100, 101, None, LEFT_OUT, "5%", WIDE)),
    *((f"{LIMITED}.borrowingLimitPercent", one) for one in (-1, 0, 100, 1000, None, LEFT_OUT, "none", -WIDE - 1)),
    (f"{LIMITED}.nominalConcurencyShares", 5),
    (f"{LIMITED}.assuredConcurrencyShares", 5),
    *(
        (f"{LIMITED}.limitResponse", one)
        for one in (LEFT_OUT, None, {}, {"type": "Reject"}, {"type": "Queue"}, "Reject")
    ),
    *((f"{LIMITED}.limitResponse.type", one) for one in ("Reject", "queue", "", LEFT_OUT)),
    *((QUEUING, one) for one in (None, {}, LEFT_OUT)),
    *((f"{QUEUING}.queues", one) for one in (-1, 0, 1, 3, 4, 10_000_000, 10_000_001, LEFT_OUT, "8")),
    *((f"{QUEUING}.handSize", one) for one in (-1, 0, 1, 15, 16, 17, LEFT_OUT, WIDE)),
    *((f"{QUEUING}.queueLengthLimit", one) for one in (-1, 0, 1, LEFT_OUT, WIDE - 1, WIDE)),
    *((QUEUING, {"queues": queues, "handSize": hand}) for queues in (64, 128, 4096) for hand in (5, 6, 8, 9, 10, 11)),
    (f"{QUEUING}.handsize", 4),
    ("metadata.name", "exempt"),
    ("metadata.name", "catch-all"),
    ("spec.limit", {}),
)
PAIRS = 120


def broken_objects(seed: int) -> Iterator[tuple[str, Json]]:
    """Objects of both kinds, each with what was done to it: all single ways, and random pairs of them."""
    choose = random.Random(seed)
    for base, ways in (
        (_schema(), (*METADATA, *SCHEMA)),
        (priority_level("mine", shares=5), (*METADATA, *LEVEL)),
    ):
        pairs = [tuple(choose.sample(ways, 2)) for _ in range(PAIRS)]
        for done in [(), *((way,) for way in ways), *pairs]:
            item = copy.deepcopy(base)
            for place, value in done:
                _put(item, place, value)
            yield f"{base['kind']} {_told(done)}", item


def _schema() -> Json:
    return flow_schema("mine", "workload-low", users=["jane"])


def _put(item: Json, place: str, value: object) -> None:
    """Puts a value at a place; nowhere, if the place is gone by now."""
    *above, last = place.split(".")
    found: object = item
    for key in above:
        if isinstance(found, list):
            found = found[int(key)] if int(key) < len(found) else None
        else:
            found = found.get(key) if isinstance(found, dict) else None
    if isinstance(found, list) and int(last) < len(found):
        found[int(last)] = copy.deepcopy(value)
    elif isinstance(found, dict):
        if value is LEFT_OUT:
            found.pop(last, None)
        else:
            found[last] = copy.deepcopy(value)


def _told(done: tuple[Way, ...]) -> str:
    parts = (f"{place} left out" if value is LEFT_OUT else f"{place}={str(value)[:40]!r}" for place, value in done)
    return " and ".join(parts) or "as it is"
