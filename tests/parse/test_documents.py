"""Files that are small and hold much: aliases of YAML that multiply, and values that are long to show."""

from __future__ import annotations

import json

import pytest

from apftop.other_body import describe, status_text
from apftop.parse.documents import read_documents
from apftop.parse.objects import parse_objects
from apftop.records.parsed import ParseError

OBJECT = "{kind: A, apiVersion: v1}"


def multiplied(count: int, levels: int, innermost: str = "x") -> str:
    """Anchors a0 to a<levels>, each a list of `count` times the one before it."""
    lines = [f"a0: &a0 {innermost}"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * count)}]" for n in range(1, levels + 1)]
    return "\n".join(lines) + "\n"


def refused(body: str) -> str:
    with pytest.raises(ParseError) as caught:
        parse_objects(body.encode())
    assert len(str(caught.value)) < 1000
    return str(caught.value)


@pytest.mark.parametrize("key", ["reason", "code", "status"])
def test_a_status_says_only_what_is_text_or_a_number(key: str) -> None:
    body = multiplied(10, 9) + f"kind: Status\napiVersion: v1\n{key}: *a9\n"
    assert refused(body) == "a Status: without a message"
    assert status_text({"reason": "Forbidden", "code": 403, "status": ["Failure"]}) == "Forbidden 403"


def test_a_status_with_a_long_reason_is_cut() -> None:
    assert len(status_text({"reason": "x" * 5_000_000, "code": 403})) == 160
    assert len(status_text({"message": "x" * 5_000_000})) == 160


def test_lists_that_aliases_multiply_end() -> None:
    lists = multiplied(300, 2, "{kind: List, items: []}").replace("[*", "{kind: List, items: [*").replace("]\n", "]}\n")
    assert refused(lists + "kind: List\nitems: [" + ", ".join(["*a2"] * 300) + "]\n") == "more than 10,000 objects"
    assert refused(multiplied(300, 3, OBJECT) + "kind: List\nitems: *a3\n") == "more than 10,000 objects"


def test_as_many_objects_as_are_read() -> None:
    items = "kind: List\na: &a " + OBJECT + "\nitems: [" + ", ".join(["*a"] * 10_000) + "]\n"
    assert len(read_documents(items.encode())[0]) == 10_000
    assert refused(items.replace("[*a,", "[*a, *a,")) == "more than 10,000 objects"
    assert refused("---\n" + OBJECT + "\n---\n" + items) == "more than 10,000 objects"
    things = [{"kind": "A", "apiVersion": "v1"}] * 10_001
    assert refused(json.dumps(things)) == "more than 10,000 objects"


def test_values_within_an_object_that_aliases_multiply() -> None:
    rules = multiplied(3000, 2, "{kind: User, user: {name: x}}").replace("[*a1", "[{subjects: *a1}, *a1")
    schema = "kind: FlowSchema\napiVersion: flowcontrol.apiserver.k8s.io/v1\nmetadata: {name: s}\nspec: {rules: *a2}\n"
    assert refused(rules + schema) == "the objects hold more than 1,000,000 values"
    assert refused("kind: A\napiVersion: v1\na: &a {b: *a}\n") == "the objects hold more than 1,000,000 values"
    assert refused(multiplied(10, 8) + "kind: A\napiVersion: v1\nb: !!pairs [x: *a8]\n").endswith("1,000,000 values")
    assert len(read_documents((multiplied(300, 2) + "kind: A\napiVersion: v1\n").encode())[0]) == 1


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("text", "'text'"),
        ("x" * 100, f"'{'x' * 60}'"),
        ("7", "7"),
        ("7.5", "7.5"),
        ("true", "True"),
        ("null", "None"),
        ("9" * 40, "9" * 40),
        ("9" * 5000, f"'{'9' * 60}'"),
        ("0x" + "f" * 5000, f"'0x{'f' * 58}'"),
        ("!!set {a, b}", "a value of type set"),
        ("!!binary eA==", "a value of type bytes"),
    ],
)
def test_what_is_no_object_is_shown_in_a_few_characters(value: str, shown: str) -> None:
    assert refused(f"- {value}\n") == f"item 0: {shown} is not an object"


def test_what_is_no_object_is_not_unfolded() -> None:
    body = multiplied(10, 9) + "kind: List\nitems: !!pairs [x: *a9]\n"
    assert refused(body) == "item 0: a value of type tuple is not an object"


def test_the_name_of_a_kind_is_cut() -> None:
    assert refused(f"kind: {'x' * 5000}List\nitems: 3\n") == f"items of {'x' * 60} is not a list"


@pytest.mark.parametrize(
    "value", ['!!int ""', "!!float x", '!!float ""', "!!bool x", "!!timestamp x", f"1:{'00:' * 200}00.5", "!!int [1]"]
)
def test_a_value_that_its_tag_does_not_fit_is_broken_yaml(value: str) -> None:
    assert refused(f"kind: A\napiVersion: v1\na: {value}\n").startswith("broken YAML")


@pytest.mark.parametrize("form", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_yaml_but_no_dump(form: str) -> None:
    mark = "" if form == "utf-16" else "\ufeff"
    assert len(read_documents(f"{mark}{OBJECT}\n".encode(form))[0]) == 1
    assert describe(f"{mark}PriorityLevelName, x\n".encode(form)) == "UTF-16 text (save it as UTF-8)"
