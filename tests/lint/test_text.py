"""What a person reads: places that editors jump to, whose object it is, and seats where they change."""

from __future__ import annotations

from typing import Any

from apftop.lint.text import lines
from apftop.present import cells
from apftop.records.linting import Fault, Linted

FAULT = Fault("broken", "error", "a is b", "do c", "FlowSchema", "x", "spec.a", "dir/x.yaml", 7)


def told(*faults: Fault, elsewhere: str = "cluster", **more: Any) -> list[str]:
    return list(lines(Linted("1.34", 600, faults, **more), elsewhere))


def test_a_fault_begins_with_the_file_and_line_that_editors_jump_to() -> None:
    assert told(FAULT)[:2] == ["dir/x.yaml:7: error: FlowSchema x: a is b [broken]", "    do c"]


def test_a_fault_without_a_line_has_its_file() -> None:
    assert told(Fault("unreadable", "error", "no object", file="x.yaml"))[0] == "x.yaml: error: no object [unreadable]"


def test_whose_object_it_is_that_no_file_has() -> None:
    other = Fault("precedence-tie", "warning", "tie", kind="FlowSchema", name="x")

    assert told(other)[0].startswith("cluster: warning: FlowSchema x: tie")
    assert told(other, elsewhere="built-in")[0].startswith("built-in: warning: ")


def test_a_fault_of_the_whole_policy_says_so() -> None:
    assert told(Fault("others-shrink", "warning", "much"), elsewhere="built-in")[0] == (
        "policy: warning: much [others-shrink]"
    )


def test_standard_input_has_a_name() -> None:
    assert told(Fault("unreadable", "error", "no object", file="-", line=2))[0].startswith("stdin:2: ")


def test_names_of_files_and_objects_cannot_act_on_a_terminal() -> None:
    fault = Fault("broken", "error", "a", kind="FlowSchema", name="x\x1b]0;y\x07", file="a\n\x1b[2J.yaml", line=1)

    text = told(fault)[0]
    assert text.isprintable()
    assert text.startswith("a\\x0a\\x1b[2J.yaml:1: error: FlowSchema x\\x1b")


def test_nothing_that_is_wrong_is_one_line() -> None:
    assert told(nominal_before={"a": 1}, nominal_after={"a": 1}) == [
        "nothing is wrong, for Kubernetes 1.34 (default) and servers of 600 seats (default)"
    ]


def test_notes_that_are_many_and_alike_do_not_hide_the_rest() -> None:
    notes = [Fault("no-rules", "note", f"n{number}", file="x.yaml", line=number) for number in range(12)]
    text = told(FAULT, *notes)

    assert sum("[no-rules]" in line for line in text) == 11
    assert "and 2 more notes [no-rules]; --output json has them" in text
    assert text[-1].startswith("1 error, 12 notes, ")


def test_faults_are_counted_last() -> None:
    note = Fault("no-rules", "note", "n")

    assert told(FAULT, note, note)[-1].startswith("1 error, 2 notes, for Kubernetes 1.34")


def test_seats_are_shown_where_they_change() -> None:
    assert told(nominal_before={"a": 300, "b": 300}, nominal_after={"a": 290, "b": 300, "new": 20})[:-2] == [
        "",
        "nominal seats of one server, if the servers keep the change:",
        "       before   after  change",
        "  a       300     290     -10",
        "  b       300     300",
        "  new       -      20",
    ]


def test_the_table_fits_80_columns_whatever_the_names_are() -> None:
    names = {"a" * 253: 1, "名" * 60: 1, "b\x1b": 1}

    table = told(nominal_before={}, nominal_after=names)[2:-2]
    assert all(cells(line) <= 80 and line.isprintable() for line in table)
    assert len({cells(line) for line in table[1:]}) == 1
