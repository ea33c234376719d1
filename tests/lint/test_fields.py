"""Fields that servers do not know, numbers that none holds, and labels that none takes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lint.policies import codes, level, lint, resources, rule, schema

REFUSED = {"broken", "unknown-field", "wrong-field"}


def refused(text: str) -> set[str]:
    """The codes of what servers refuse, and of fields that strict clients refuse."""
    return {code for code in codes(text) if code.startswith("invalid-") or code in REFUSED}


@pytest.mark.fires("unknown-field")
def test_a_field_that_no_version_has_is_named_with_the_one_that_was_meant() -> None:
    text = level().replace("nominalConcurrencyShares", "nominalConcurencyShares")
    (fault,) = (one for one in lint(text).faults if one.code == "unknown-field")

    assert fault.place == "spec.limited.nominalConcurencyShares"
    assert fault.advice == "call it nominalConcurrencyShares"
    assert text.splitlines()[(fault.line or 0) - 1] == "    nominalConcurencyShares: 5"


@pytest.mark.fires("unknown-field")
@pytest.mark.parametrize(
    "text",
    [
        schema(precedence=5),
        schema(rules=[rule(subject=[])]),
        schema(rules=[rule(subjects=[{"kind": "User", "user": {"name": "jane", "namespace": "shop"}}])]),
        schema(rules=[rule(resourceRules=[resources(apiVersions=["v1"])])]),
        level(queuing={"handsize": 4}),
        level(assuredConcurrencyShare=5),
        level(metadata={"label": {}}),
    ],
)
def test_a_field_is_unknown_wherever_it_stands(text: str) -> None:
    assert refused(text) == {"unknown-field"}


@pytest.mark.spares("unknown-field")
def test_all_fields_that_servers_give_out_are_known() -> None:
    metadata = {
        "uid": "0a",
        "resourceVersion": "1",
        "generation": 1,
        "creationTimestamp": "2026-04-12T10:03:00Z",
        "managedFields": [{"manager": "kubectl", "operation": "Update", "fieldsV1": {"f:spec": {}}}],
    }

    assert refused(schema(metadata=metadata) + level(metadata=metadata)) == set()


@pytest.mark.spares("unknown-field")
def test_a_field_that_a_server_gave_out_is_known_to_it() -> None:
    assert "unknown-field" not in codes(level(newerField=1), whole=True)


@pytest.mark.fires("invalid-number")
def test_a_number_of_more_than_32_bits_is_refused() -> None:
    assert refused(level(nominalConcurrencyShares=1 << 31)) == {"invalid-number"}


@pytest.mark.spares("invalid-number")
def test_the_largest_number_of_32_bits_is_taken() -> None:
    assert refused(level(nominalConcurrencyShares=(1 << 31) - 1)) == set()


@pytest.mark.fires("invalid-label")
@pytest.mark.parametrize(
    "metadata",
    [
        {"labels": {"app": "a b"}},
        {"labels": {"app": "a" * 64}},
        {"labels": {"a b": "c"}},
        {"labels": {"Shop.example/app": "a"}},
        {"labels": {"stable": True}},
        {"labels": {"since": 1.3}},
        {"labels": ["app"]},
        {"annotations": {"a b": "c"}},
    ],
)
def test_a_label_or_annotation_of_another_form_is_refused(metadata: dict[str, Any]) -> None:
    assert refused(schema(metadata=metadata)) == {"invalid-label"}


@pytest.mark.spares("invalid-label")
@pytest.mark.parametrize(
    "metadata",
    [
        {"labels": {"shop.example/App_1": "a.b-C"}},
        {"labels": {"app": "", "none": None}},
        {"annotations": {"Shop.Example/a": "b c"}},
    ],
)
def test_labels_with_a_prefix_and_annotations_of_any_text_are_taken(metadata: dict[str, Any]) -> None:
    assert refused(schema(metadata=metadata)) == set()
