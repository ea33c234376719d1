"""Row 9: classification of 1,000 different requests, in requests a CPU second."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from apftop.apf.attributes import Attributes, attributes
from apftop.apf.builtins import builtin_levels, builtin_schemas
from apftop.apf.classify import Classifier, classify
from apftop.apf.objects import FlowSchema, Meta, ResourceRule, Rule, Subject
from apftop.apf.release import Release
from tests.bench.row import Row

KINDS = ("pods", "configmaps", "secrets", "deployments")


def rows(*, short: bool) -> Iterator[Row]:
    """Few schemas and many; the first hundreds of the many are looked at in vain."""
    rounds = 2 if short else 10
    for schemas, target in ((20, 50_000), (2000, 5000)):
        yield Row(9, f"classification against {schemas} schemas", _speed(schemas, rounds), "requests/s", "", target)


def _speed(schemas: int, rounds: int) -> float:
    rng = random.Random(1)
    classifier, requests = _classifier(rng, schemas), [_request(rng, number) for number in range(1000)]
    start = time.process_time()
    for _ in range(rounds):
        for request in requests:
            classify(classifier, request)
    return rounds * len(requests) / (time.process_time() - start)


def _request(rng: random.Random, number: int) -> Attributes:
    namespace = f"ns{rng.randrange(50)}"
    path = f"/api/v1/namespaces/{namespace}/{rng.choice(KINDS)}"
    if number % 2:
        user = f"system:serviceaccount:{namespace}:bot-{number}"
        groups: tuple[str, ...] = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    else:
        user, groups = f"user-{number}", ("devs",)
    return attributes(rng.choice(("GET", "POST")), path, user=user, groups=(*groups, "system:authenticated"))


def _classifier(rng: random.Random, number: int) -> Classifier:
    schemas = list(builtin_schemas(Release(1, 37, 2)).values())
    for index in range(number - len(schemas)):
        subject = rng.choice(
            (
                Subject("User", f"user-{rng.randrange(1000)}"),
                Subject("ServiceAccount", "*", f"ns{rng.randrange(50)}"),
                Subject("Group", "system:authenticated"),
            )
        )
        target = ResourceRule(("delete",), ("", "apps"), (rng.choice(KINDS),), (f"ns{index % 50}",))
        schemas.append(
            FlowSchema(Meta(f"s-{index}"), "workload-low", 1000 + index, "ByUser", (Rule((subject,), (target,)),))
        )
    return Classifier(schemas, builtin_levels().values())
