"""Raw fields by their place."""

from __future__ import annotations

from apftop.lint.raw_fields import mapping_at, text_at, value_at, values_in

FIELDS = {"spec": {"rules": [{"subjects": ["a", {"name": "b"}]}, 5], "type": "Limited"}}


def test_each_value_has_its_place_in_the_order_of_the_file() -> None:
    found = [(place, value) for place, value in values_in("spec", FIELDS["spec"]) if not isinstance(value, dict | list)]

    assert found == [
        ("spec.rules[0].subjects[0]", "a"),
        ("spec.rules[0].subjects[1].name", "b"),
        ("spec.rules[1]", 5),
        ("spec.type", "Limited"),
    ]


def test_what_is_nested_deeper_than_the_stack_is_read() -> None:
    deep: object = "end"
    for _ in range(5000):
        deep = [deep]

    assert [value for _, value in values_in("spec", deep)][-1] == "end"


def test_what_is_not_there_or_something_else_is_none() -> None:
    assert value_at(FIELDS, "spec", "type") == text_at(FIELDS, "spec", "type") == "Limited"
    assert value_at(FIELDS, "spec", "type", "name") is None
    assert text_at(FIELDS, "spec", "rules") == text_at(FIELDS, "status") == ""
    assert mapping_at(FIELDS, "spec") is FIELDS["spec"]
    assert mapping_at(FIELDS, "spec", "type") is None
