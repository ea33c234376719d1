"""Objects that are given more than once."""

from __future__ import annotations

import pytest

from apftop.apf.release import Release
from apftop.lint.duplicates import duplicates
from apftop.lint.files import read_file
from apftop.lint.gather import policy_of
from apftop.lint.policy import Objects
from tests.lint.policies import codes, found, level, lint, schema


@pytest.mark.fires("duplicate-object")
def test_another_spec_for_the_same_name_is_a_warning_at_the_one_that_is_lost() -> None:
    made = lint(schema("mine") + schema("mine", matchingPrecedence=500))

    (fault,) = found(made, "duplicate-object")

    assert (fault.gravity, fault.line) == ("warning", 2)
    assert fault.text.startswith("it is given again at policy.yaml:")
    assert "with another spec: that one counts here" in fault.text


@pytest.mark.fires("duplicate-object")
def test_the_same_spec_again_is_a_note() -> None:
    (fault,) = found(lint(level("batch") + level("batch")), "duplicate-object")

    assert fault.gravity == "note"


@pytest.mark.fires("duplicate-object")
def test_of_three_the_first_two_are_told() -> None:
    text = schema("mine") + schema("mine", matchingPrecedence=500) + schema("mine", matchingPrecedence=600)

    assert len(found(lint(text), "duplicate-object")) == 2


@pytest.mark.spares("duplicate-object")
def test_a_schema_and_a_level_of_one_name_are_two_objects() -> None:
    assert "duplicate-object" not in codes(schema("mine", priorityLevelConfiguration={"name": "mine"}) + level("mine"))


@pytest.mark.spares("duplicate-object")
def test_a_file_that_is_read_twice_is_given_once() -> None:
    documents = read_file("policy.yaml", schema("mine").encode())[0]

    assert not list(duplicates(policy_of((*documents, *documents), Objects(), Release(1, 37), 600)))


@pytest.mark.spares("duplicate-object")
def test_an_object_that_is_there_already_is_changed_and_not_given_twice() -> None:
    assert "duplicate-object" not in codes(schema("mine"), before=schema("mine", matchingPrecedence=500))
