"""Files as people have them: each fault has the line where it stands, and what cannot be judged is said."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
import yaml

from apftop.lint.files import read_file
from apftop.records.linting import Fault
from apftop.records.parsed import ParseError
from tests.lint.written import LEVEL, SCHEMA

PRECEDENCE = "spec.matchingPrecedence"
VERBS = "spec.rules[0].resourceRules[0].verbs"


def lines(text: str | bytes, at: int = 0) -> Mapping[str, int]:
    """The lines of one object of a file that has no faults."""
    documents, faults = read_file("x.yaml", text if isinstance(text, bytes) else text.encode())
    assert faults == ()
    return documents[at].lines


def only(text: str | bytes) -> Fault:
    _, faults = read_file("x.yaml", text if isinstance(text, bytes) else text.encode())
    assert len(faults) == 1
    return faults[0]


@pytest.mark.spares("broken")
def test_each_field_of_a_block_has_its_line() -> None:
    found = lines(SCHEMA)

    assert (found[""], found["kind"], found["metadata.name"], found[PRECEDENCE]) == (1, 2, 4, 8)
    assert found["spec.rules[0].subjects[0]"] == 13
    assert found[VERBS] == 18


def test_flow_style_has_lines_too() -> None:
    head, limited = LEVEL.split("  limited:\n")
    flow = json.dumps(yaml.safe_load(limited)).replace(", ", ",\n    ")

    assert lines(f"{head}  limited: {flow}\n")["spec.limited.borrowingLimitPercent"] == 9


def test_comments_blank_lines_and_empty_documents_come_before() -> None:
    found = lines(f"---\n# nothing here\n---\n\n# the level\n\n{LEVEL}---\n---\n{SCHEMA}", at=1)

    assert (found[""], found[PRECEDENCE]) == (22, 29)


@pytest.mark.parametrize("kind", ["List", "FlowSchemaList"])
def test_objects_of_lists_have_their_own_lines(kind: str) -> None:
    one = SCHEMA if kind == "List" else "".join(SCHEMA.splitlines(keepends=True)[2:])
    items = "".join(f"  {line}\n" for line in one.splitlines()).replace("  ", "- ", 1)
    text = f"apiVersion: {'v1' if kind == 'List' else 'flowcontrol.apiserver.k8s.io/v1'}\nkind: {kind}\nitems:\n{items}"

    assert lines(text)[PRECEDENCE] == (11 if kind == "List" else 9)


def test_json_has_lines() -> None:
    one = yaml.safe_load(SCHEMA)
    listed = {"kind": "List", "apiVersion": "v1", "items": [yaml.safe_load(LEVEL), one]}

    for text in (json.dumps(one, indent=2), json.dumps(listed, indent="\t"), json.dumps([one], indent=1)):
        found = lines(text, at=-1)
        assert '"matchingPrecedence"' in text.splitlines()[found[PRECEDENCE] - 1]


def test_what_an_alias_or_a_merge_key_brings_stands_at_its_anchor() -> None:
    text = SCHEMA.replace("    type: ByNamespace", "    <<: *by").replace(
        "metadata:", "status: &by\n  type: ByUser\nmetadata:"
    )
    text = (
        text.replace("verbs: [list]", "verbs: &verbs [list]")
        + "    - {<<: &r {apiGroups: [a], resources: [b]}, verbs: *verbs}\n"
    )
    found = lines(text)

    assert found["spec.distinguisherMethod.type"] == 4
    assert found["spec.rules[0].resourceRules[1].verbs"] == found["spec.rules[0].resourceRules[1].apiGroups"] == 24


def test_ends_of_lines_and_byte_order_marks_move_nothing() -> None:
    assert lines(SCHEMA.replace("\n", "\r\n"))[PRECEDENCE] == 8
    assert lines(b"\xef\xbb\xbf" + SCHEMA.encode())[PRECEDENCE] == 8
    assert lines(SCHEMA.encode("utf-16"))[PRECEDENCE] == 8


def test_tabs_are_named_with_their_line() -> None:
    with pytest.raises(ParseError, match="line 4"):
        read_file("x.yaml", SCHEMA.replace("  name: batch\nspec", "\tname: batch\nspec").encode())


@pytest.mark.fires("unreadable")
@pytest.mark.fires("broken")
def test_an_object_among_others_keeps_its_line_though_some_are_none() -> None:
    text = f"just: words\n---\n- 7\n---\nkind: List\nitems:\n---\n{SCHEMA.replace('ByNamespace', 'ByName')}"
    _, faults = read_file("x.yaml", text.encode())

    assert [(one.code, one.line) for one in faults] == [
        ("unreadable", 1), ("unreadable", 3), ("broken", 17)
    ]  # fmt: skip


@pytest.mark.fires("given-twice")
def test_a_key_that_is_given_twice_is_a_fault() -> None:
    fault = only(SCHEMA.replace("  distinguisherMethod", "  matchingPrecedence: 900\n  distinguisherMethod"))

    assert (fault.code, fault.gravity, fault.line, fault.place) == ("given-twice", "error", 9, PRECEDENCE)
    assert "lines 8 and 9" in fault.text


def test_a_key_that_is_given_twice_in_json_is_a_fault() -> None:
    text = json.dumps(yaml.safe_load(SCHEMA), indent=1).replace(
        '"matchingPrecedence"', '"rules": [],\n"matchingPrecedence"'
    )

    assert only(text).code == "given-twice"


@pytest.mark.spares("given-twice")
def test_a_field_beside_a_merge_key_is_given_once() -> None:
    text = SCHEMA.replace("metadata:", "status: &b\n  type: ByUser\nmetadata:").replace(
        "    type:", "    <<: *b\n    type:"
    )

    documents, faults = read_file("x.yaml", text.encode())
    assert not faults
    assert documents[0].lines["spec.distinguisherMethod.type"] == 13


@pytest.mark.fires("not-rendered")
@pytest.mark.parametrize(
    ("template", "line"),
    [
        (SCHEMA.replace("name: batch\nspec", "name: {{ .Values.name }}\nspec"), 4),
        (SCHEMA.replace("name: batch\nspec", 'name: "{{ .Values.name }}"\nspec'), 4),
        ("{{- if .Values.apf }}\n" + SCHEMA + "{{- end }}\n", 1),
        (SCHEMA.replace("1000", '"{{ .Values.precedence }}"'), 8),
        (SCHEMA.replace("  rules:\n", "  rules:\n{{ toYaml .Values.rules | indent 2 }}\n"), 12),
    ],
)
def test_a_template_is_not_judged_and_says_so(template: str, line: int) -> None:
    documents, _ = read_file("x.yaml", template.encode())

    fault = only(template)
    assert (fault.code, fault.gravity, fault.line) == ("not-rendered", "error", line)
    assert "helm template" in fault.advice
    assert documents == ()


@pytest.mark.spares("not-rendered")
@pytest.mark.spares("unreadable")
def test_other_kinds_and_other_groups_are_left_alone() -> None:
    other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: '{{ b }}', a: c}\n"
    namesake = "apiVersion: example.com/v1\nkind: FlowSchema\nmetadata: {name: x}\n"

    assert lines(f"{other}---\n{namesake}---\n{SCHEMA}")[""] == 10


@pytest.mark.fires("unknown-kind")
@pytest.mark.parametrize("kind", ["Flowschema", "flowschemas", "PriorityLevel"])
def test_a_kind_that_our_group_does_not_have_is_a_fault(kind: str) -> None:
    fault = only(f"{LEVEL}---\n{SCHEMA.replace('kind: FlowSchema', f'kind: {kind}')}")

    assert (fault.code, fault.gravity, fault.line) == ("unknown-kind", "error", 16)
    assert kind in fault.text


@pytest.mark.fires("unknown-kind")
@pytest.mark.parametrize("group", ["apiserver.config.k8s.io", "flowcontrol.apiserver.k8s.oi"])
def test_a_schema_in_another_group_of_kubernetes_is_a_fault(group: str) -> None:
    fault = only(f"{LEVEL}---\n{SCHEMA.replace('flowcontrol.apiserver.k8s.io', group)}")

    assert (fault.code, fault.gravity, fault.name, fault.line) == ("unknown-kind", "error", "batch", 15)
    assert fault.text == f"there is no kind FlowSchema in {group}"


@pytest.mark.spares("unknown-kind")
def test_lists_of_the_kinds_are_no_other_kind() -> None:
    _, faults = read_file("x.yaml", b"apiVersion: flowcontrol.apiserver.k8s.io/v1\nkind: FlowSchemaList\nitems: []\n")

    assert not faults


def test_an_object_without_a_version_has_its_line() -> None:
    fault = only(f"{LEVEL}---\n{SCHEMA.partition(chr(10))[2]}")

    assert (fault.code, fault.name, fault.line) == ("unreadable", "batch", 15)


@pytest.mark.parametrize(
    "body", [b"kind: FlowSchema\nname: \xfcber\n", bytes(range(256)), b"\x1f\x8b\x08\x00abc", b"", b"# only words\n"]
)
def test_what_is_no_text_raises(body: bytes) -> None:
    with pytest.raises(ParseError):
        read_file("x.yaml", body)


def test_deep_nesting_is_no_crash() -> None:
    deep = "[" * 5000 + "]" * 5000
    with pytest.raises(ParseError, match=r"deep|depth"):
        read_file("x.yaml", (SCHEMA + f"status: {deep}\n").encode())


def test_an_answer_of_a_server_has_no_lines() -> None:
    documents, _ = read_file("", SCHEMA.encode())

    assert documents[0].lines == {}
