"""Classification against the upstream library: schema, level, distinguisher, hash and number of queues."""

from __future__ import annotations

from typing import Any

import pytest

from apftop.apf.classify import Classifier, classify, explain
from apftop.apf.objects import PriorityLevelConfiguration
from tests.apf.objects_of import attributes_of, levels_of, schemas_of
from tests.apf.vectors import vectors

each = pytest.mark.parametrize("vector", vectors("classify"), ids=lambda one: one["scenario"]["name"])


def classifier_of(scenario: dict[str, Any]) -> Classifier:
    return Classifier(schemas_of(scenario["flow_schemas"]), levels_of(scenario["priority_levels"]))


def queues(level: PriorityLevelConfiguration) -> int:
    if level.exempt:
        return -1
    return level.queuing.queues if level.queuing else 0


@each
def test_requests_go_where_the_library_puts_them(vector: dict[str, Any]) -> None:
    classifier = classifier_of(vector["scenario"])
    for request, wanted in zip(vector["scenario"]["requests"], vector["expected"]["results"], strict=True):
        found = classify(classifier, attributes_of(request))

        assert {
            "fs": found.schema.name,
            "pl": found.level.name,
            "fd": found.distinguisher,
            "hash": found.hash,
            "nq": queues(found.level),
        } == wanted, request


@each
def test_the_explanation_ends_at_the_schema_that_was_chosen(vector: dict[str, Any]) -> None:
    classifier = classifier_of(vector["scenario"])
    for request, wanted in zip(vector["scenario"]["requests"], vector["expected"]["results"], strict=True):
        told = explain(classifier, attributes_of(request))

        assert len(told) == len(classifier.schemas) + len(classifier.dangling)
        outcomes = [one.outcome for one in told]
        if "matched" not in outcomes:
            assert wanted["fs"] == "catch-all"
            continue
        at = outcomes.index("matched")
        assert told[at].schema.name == wanted["fs"]
        assert set(outcomes[at + 1 :]) <= {"after"}
        assert all(len(one.misses) >= len(one.schema.rules) for one in told[:at] if one.outcome == "missed")
