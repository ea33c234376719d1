"""What servers make of objects within a minute: by name, annotation, generation and release."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from apftop.findings.changes.patches import KEPT
from apftop.records.linting import Fate, Fault
from tests.lint.policies import codes, exempt, level, lint, resources, rule, schema

LEASES = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"]}
VERBS = {"verbs": ["get", "create", "update"], "namespaces": ["*"]}
KUBE_SYSTEM = {"kind": "ServiceAccount", "serviceAccount": {"namespace": "kube-system", "name": "*"}}
LOW = {"queuing": {"queues": 128, "handSize": 6, "queueLengthLimit": 50}, "borrowingLimitPercent": None}


def said(value: str | None, generation: int | None = None) -> dict[str, Any]:
    """Metadata with that annotation, None for none."""
    metadata: dict[str, Any] = {} if value is None else {"annotations": {KEPT: value}}
    return metadata if generation is None else {**metadata, "generation": generation}


def workload_low(metadata: dict[str, Any] | None = None, shares: int = 50) -> str:
    """The built-in level `workload-low`; its own shares are 100."""
    fields: dict[str, Any] = {"nominalConcurrencyShares": shares, "lendablePercent": 90, **LOW}
    return level("workload-low", metadata=metadata, **fields)


def workload_leader_election(metadata: dict[str, Any] | None = None, version: str = "v1", **spec: Any) -> str:
    """A schema that 1.33 brings and 1.34 does not."""
    core = {"apiGroups": [""], "resources": ["endpoints", "configmaps"]}
    rules = [rule(subjects=[KUBE_SYSTEM], resourceRules=[resources(**VERBS, **core), resources(**VERBS, **LEASES)])]
    whole = {"priorityLevelConfiguration": {"name": "leader-election"}, "matchingPrecedence": 200, "rules": rules}
    return schema("workload-leader-election", version, metadata, **{**whole, **spec})


def fate(text: str, target: str = "1.34", *, before: str = "", whole: bool = False) -> Fate:
    """What becomes of the one object of a file."""
    (name,) = [f"{one['kind']}/{one['metadata']['name']}" for one in yaml.safe_load_all(text) if one]
    return lint(text, target, before=before, whole=whole).fates[name]


def found(text: str, code: str, target: str = "1.34", *, before: str = "") -> Fault:
    (fault,) = (one for one in lint(text, target, before=before).faults if one.code == code)
    return fault


@pytest.mark.fires("refused-fixed-value")
@pytest.mark.parametrize(
    "text",
    [
        level("catch-all", nominalConcurrencyShares=5),
        level("catch-all", limitResponse={"type": "Reject"}),
        schema("catch-all", matchingPrecedence=10_000),
        schema("exempt", matchingPrecedence=1),
    ],
)
def test_a_mandatory_object_keeps_its_spec(text: str) -> None:
    assert "refused-fixed-value" in codes(text)
    assert fate(text).outcome == "refused"


@pytest.mark.spares("refused-fixed-value")
def test_the_fixed_spec_itself_is_taken_with_all_that_defaults_fill_in() -> None:
    text = level(
        "catch-all",
        nominalConcurrencyShares=5,
        lendablePercent=None,
        borrowingLimitPercent=None,
        limitResponse={"type": "Reject"},
    )

    assert "refused-fixed-value" not in codes(text)
    assert fate(text).outcome == "kept"


@pytest.mark.fires("will-be-reverted")
@pytest.mark.parametrize("value", ["true", "1", "T", "True"])
def test_an_edit_of_what_servers_look_after_is_set_back(value: str) -> None:
    text = workload_low(said(value))

    assert found(text, "will-be-reverted").gravity == "error"
    assert fate(text).outcome == "reverted"


@pytest.mark.fires("will-be-reverted")
def test_an_annotation_that_a_file_leaves_out_stays_as_it_is_in_the_cluster() -> None:
    assert fate(workload_low(), before=workload_low(said("true", 3), 100)).outcome == "reverted"
    assert fate(workload_low(), before=workload_low(said("false", 3), 100)).outcome == "kept"
    assert fate(workload_low(), before=workload_low(said(None, 1), 100)).outcome == "kept"


@pytest.mark.spares("will-be-reverted")
@pytest.mark.parametrize("value", ["false", "0", "F", "False"])
def test_an_edit_with_the_annotation_false_is_kept(value: str) -> None:
    text = workload_low(said(value))

    assert not codes(text) & {"will-be-reverted", "unsaid-autoupdate"}
    assert fate(text).outcome == "kept"


@pytest.mark.spares("will-be-reverted")
def test_the_built_in_spec_cannot_be_set_back() -> None:
    assert fate(workload_low(said("true"), 100)).outcome == "kept"
    assert "will-be-reverted" not in codes(workload_low(said("true"), 100))


@pytest.mark.fires("unsaid-autoupdate")
@pytest.mark.parametrize("value", ["maybe", "yes", "", "TrUe"])
def test_an_annotation_that_is_no_boolean_says_nothing(value: str) -> None:
    text = workload_low(said(value))

    # The edit raises the generation above 1.
    assert found(text, "unsaid-autoupdate").gravity == "warning"
    assert fate(text).outcome == "kept"


@pytest.mark.fires("will-be-reverted")
@pytest.mark.parametrize("value", [None, "maybe"])
def test_a_new_object_of_a_built_in_name_has_generation_1_and_is_set_back(value: str | None) -> None:
    before = "".join(schema(name, metadata={"uid": "0a"}) for name in ("exempt", "catch-all"))
    before += "".join(level(name, metadata={"uid": "0a"}) for name in ("exempt", "catch-all"))

    # No level `workload-low` is there.
    assert fate(workload_low(said(value)), before=before).outcome == "reverted"


@pytest.mark.spares("unsaid-autoupdate")
def test_an_annotation_in_the_cluster_says_who_looks_after_it() -> None:
    assert "unsaid-autoupdate" not in codes(workload_low(), before=workload_low(said("false", 3), 100))


@pytest.mark.spares("will-be-reverted")
def test_the_objects_of_a_cluster_go_by_their_own_generation() -> None:
    assert fate(workload_low(said(None, 2)), whole=True).outcome == "kept"
    assert fate(workload_low(said(None, 1)), whole=True).outcome == "reverted"


@pytest.mark.fires("will-be-deleted")
def test_a_copy_of_a_built_in_object_with_its_annotation_is_deleted() -> None:
    copies = level("copy", metadata=said("true")), schema("copy", metadata=said("1"))

    assert [fate(text).outcome for text in copies] == ["deleted", "deleted"]
    assert [found(text, "will-be-deleted").gravity for text in copies] == ["error", "error"]


@pytest.mark.fires("will-be-deleted")
def test_an_object_of_ones_own_is_deleted_by_an_annotation_that_is_in_the_cluster_only() -> None:
    assert fate(level("copy"), before=level("copy", metadata=said("true", 1))).outcome == "deleted"


@pytest.mark.spares("will-be-deleted")
@pytest.mark.parametrize("value", [None, "false", "maybe"])
def test_an_object_of_ones_own_is_kept_without_the_annotation(value: str | None) -> None:
    assert fate(level("copy", metadata=said(value))).outcome == "kept"
    assert "will-be-deleted" not in codes(level("copy", metadata=said(value)))


@pytest.mark.fires("builtin-of-other-release")
@pytest.mark.parametrize("minor", range(26, 38))
def test_a_built_in_schema_of_an_older_release_is_deleted_as_meant(minor: int) -> None:
    text = workload_leader_election(said("true"), "v1" if minor >= 29 else "v1beta3")
    release = f"1.{minor}"

    assert fate(text, release).outcome == ("kept" if minor <= 33 else "deleted")
    assert ("builtin-of-other-release" in codes(text, release)) is (minor > 33)
    assert "will-be-deleted" not in codes(text, release)


@pytest.mark.fires("builtin-of-other-release")
def test_an_edit_of_it_is_lost() -> None:
    untouched = found(workload_leader_election(said("true")), "builtin-of-other-release")
    edited = found(workload_leader_election(said("true"), matchingPrecedence=300), "builtin-of-other-release")

    assert (untouched.gravity, edited.gravity) == ("note", "warning")
    assert "changed" in edited.text


@pytest.mark.spares("builtin-of-other-release")
def test_a_built_in_schema_of_an_older_release_that_was_taken_over_is_kept() -> None:
    assert fate(workload_leader_election(said("false"))).outcome == "kept"
    assert "builtin-of-other-release" not in codes(workload_leader_election(said("false")))


@pytest.mark.fires("kept-since-1.28")
@pytest.mark.spares("kept-since-1.28")
@pytest.mark.parametrize("minor", range(26, 38))
def test_shares_of_exempt_are_kept_since_1_28(minor: int) -> None:
    text = exempt("v1" if minor >= 29 else "v1beta3", nominalConcurrencyShares=20)
    release = f"1.{minor}"

    assert fate(text, release).outcome == ("kept" if minor >= 28 else "ignored")
    assert ("kept-since-1.28" in codes(text, release)) is (minor >= 28)


@pytest.mark.spares("kept-since-1.28")
def test_exempt_as_it_is_built_in_says_nothing() -> None:
    assert "kept-since-1.28" not in codes(exempt(nominalConcurrencyShares=0))


@pytest.mark.parametrize(
    "text",
    [
        workload_low(said("true"), shares=-1),
        schema(matchingPrecedence=1),
        schema(version="v1beta3"),
        schema(metadata={"labels": {"stable": True}}),
    ],
)
def test_what_is_refused_is_not_set_back(text: str) -> None:
    assert fate(text).outcome == "refused"
    assert "will-be-reverted" not in codes(text)


def test_of_all_objects_of_a_cluster_a_built_in_one_that_is_missing_is_made_again() -> None:
    fates = lint(workload_low(said("true", 1), 100), whole=True).fates

    assert fates["PriorityLevelConfiguration/workload-low"].outcome == "kept"
    assert fates["PriorityLevelConfiguration/global-default"].outcome == "recreated"
    assert "FlowSchema/probes" not in fates
