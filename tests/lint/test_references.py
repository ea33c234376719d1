"""Schemas without a level, and levels without a schema."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lint.policies import cluster, codes, found, level, lint, schema

TO_BATCH: dict[str, Any] = {"priorityLevelConfiguration": {"name": "batch"}}


@pytest.mark.fires("dangling-schema")
def test_a_schema_whose_level_is_missing_among_all_objects_is_ignored() -> None:
    (fault,) = found(cluster(schema("mine", **TO_BATCH)), "dangling-schema")

    assert (fault.gravity, fault.name, fault.place) == ("error", "mine", "spec.priorityLevelConfiguration.name")
    assert fault.text == "its level batch does not exist, so servers ignore it"


@pytest.mark.spares("dangling-schema", "unreferenced-level", "idle-level")
def test_a_schema_with_its_level_and_one_with_a_builtin_level_are_in_order() -> None:
    given = codes(schema("mine", **TO_BATCH) + level("batch") + schema("other"))

    assert not given & {"dangling-schema", "unreferenced-level", "idle-level"}


@pytest.mark.fires("dangling-schema")
def test_a_typo_is_told_with_the_level_that_was_meant() -> None:
    (fault,) = found(lint(schema("mine", priorityLevelConfiguration={"name": "worklaod-low"})), "dangling-schema")

    assert fault.gravity == "error"
    assert fault.text.endswith("workload-low was probably meant")
    assert fault.advice == "name the level workload-low"


@pytest.mark.fires("dangling-schema")
def test_a_schema_alone_may_have_its_level_elsewhere_and_is_a_warning() -> None:
    (alone,) = found(lint(schema("mine", **TO_BATCH)), "dangling-schema")
    (beside,) = found(lint(schema("mine", **TO_BATCH) + level("other-one")), "dangling-schema")

    assert alone.text == (
        "its level batch is neither given nor built in: servers ignore it unless that is there already"
    )
    assert (alone.gravity, beside.gravity) == ("warning", "error")


@pytest.mark.spares("dangling-schema")
def test_a_level_that_is_in_the_cluster_already_need_not_be_given() -> None:
    assert "dangling-schema" not in codes(schema("mine", **TO_BATCH), before=level("batch"))


@pytest.mark.fires("dangling-schema")
def test_a_level_that_is_broken_is_named_with_its_place() -> None:
    (fault,) = found(lint(schema("mine", **TO_BATCH) + level("batch", limitResponse="Queue")), "dangling-schema")

    assert "its level batch is broken (policy.yaml:" in fault.text
    assert fault.advice == "mend the level"


@pytest.mark.spares("dangling-schema")
def test_what_dangled_before_is_not_told_of_a_change_of_something_else() -> None:
    assert "dangling-schema" not in codes(level("other-one"), before=schema("mine", **TO_BATCH))


@pytest.mark.fires("unreferenced-level")
def test_a_level_to_which_no_schema_leads_takes_seats_for_nothing() -> None:
    (fault,) = found(cluster(level("batch", nominalConcurrencyShares=30)), "unreferenced-level")

    assert fault.gravity == "warning"
    assert fault.text == "no FlowSchema leads to it, and it takes 66 of 600 nominal seats"


@pytest.mark.fires("unreferenced-level")
def test_a_level_alone_may_have_its_schema_elsewhere_and_is_a_note() -> None:
    (fault,) = found(lint(level("batch")), "unreferenced-level")

    assert fault.gravity == "note"
    assert fault.text.startswith("no FlowSchema here leads to it")


@pytest.mark.fires("unreferenced-level")
def test_a_level_whose_only_schema_is_broken_is_told_with_that() -> None:
    broken = schema("mine", rules="all", **TO_BATCH)

    (fault,) = found(lint(level("batch") + broken), "unreferenced-level")

    assert fault.text.startswith("only FlowSchema mine leads to it, which is broken (policy.yaml:")


@pytest.mark.fires("unreferenced-level")
def test_a_level_that_a_change_leaves_without_a_schema_is_told_though_it_was_not_given() -> None:
    before = schema("mine", **TO_BATCH) + level("batch")

    (fault,) = found(lint(schema("mine"), before=before), "unreferenced-level")

    assert (fault.name, fault.file) == ("batch", "")


@pytest.mark.spares("unreferenced-level")
def test_mandatory_levels_need_no_schema_and_old_ones_are_no_news() -> None:
    without = cluster(without={"FlowSchema/catch-all"})

    assert not found(without, "unreferenced-level")
    assert not found(lint(schema("mine"), before=level("batch")), "unreferenced-level")


@pytest.mark.fires("idle-level")
def test_a_level_to_which_only_an_unreached_schema_leads_is_idle() -> None:
    text = schema("aaa", matchingPrecedence=500) + schema("mine", **TO_BATCH) + level("batch")

    (fault,) = found(lint(text), "idle-level")

    assert fault.name == "batch"
    assert fault.text.startswith("only mine would lead here, and no request comes that way: it takes 12 of 600")


@pytest.mark.parametrize("target", [f"1.{minor}" for minor in range(26, 38)])
@pytest.mark.spares("dangling-schema", "unreferenced-level")
def test_the_builtin_objects_lead_to_one_another(target: str) -> None:
    made = cluster(target=target)

    assert not found(made, "dangling-schema")
    assert not found(made, "unreferenced-level")
