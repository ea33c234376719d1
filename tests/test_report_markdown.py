"""Markdown for tickets: trackers act on nothing in it, and it fits."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from apftop.records.findings import Change
from apftop.report.markdown import MOST, escaped, markdown
from tests.sheets.found import FOUND, FULL, STORM

ACTIVE = (
    "@octocat",
    "@org/team",
    "someone@example.com",
    "#123",
    "octo/repo#12",
    "GH-12",
    "OPS-12",
    "!42",
    "&7",
    "~bug",
    '~"a label"',
    "%release",
    "$17",
    "https://evil.example/x",
    "www.evil.example",
    ":bug:",
    "system:serviceaccount:ci:runner",
    "[[page]]",
    "[vulnerability:12]",
    "0123456789abcdef0123456789abcdef01234567",
)


@pytest.mark.parametrize("name", ACTIVE)
def test_what_a_tracker_would_act_on_is_code(name: str) -> None:
    shown = escaped(f"user {name}, and others")
    first = name.split()[0]

    assert re.search(rf"`{re.escape(first)}`", shown)


@pytest.mark.parametrize("name", ["a|b", "a`b", "a\nb", "<b>", "**b**", "{code}", "a_b_c", "!image.png!", "[x](y)"])
def test_what_markdown_would_act_on_is_escaped(name: str) -> None:
    shown = escaped(f"user {name} waits")

    assert "\n" not in shown
    assert not re.search(r"(?<!\\)[|`<>*_{}\[\]]", shown)


@pytest.mark.parametrize("line", ["/close now", "# big", "- item", "+ item", "1. item", "> quote", "=====", "h1. big"])
def test_a_line_does_not_begin_anything(line: str) -> None:
    assert not re.match(r"(/|#|- |\+ |\d+\. |> |=|h1\. )", escaped(line))


def test_numbers_times_and_addresses_stay_as_they_are() -> None:
    for line in (
        "127.0.0.1:6443: 79.6% of 24 requests refused at 10:03:00, 3.8/s",
        "kas-1 and 2 more: 5ms-10ms (x1.8)",
    ):
        assert escaped(line) == line


def test_code_can_hold_backticks_and_mentions() -> None:
    assert escaped("`@you`") == r"`` `@you` ``"


def test_a_long_report_fits_and_says_what_is_left_out() -> None:
    many = tuple(replace(FULL, subject=f"level-{number}", title=f"level-{number} is full") for number in range(300))
    told = markdown(replace(FOUND, found=many), "prod", "over 30 s", "a line of numbers\n" * 5000)

    assert len(told) <= MOST
    assert "## Critical: level-0 is full" in told
    assert re.search(r"\n\d+ more findings are left out here", told)
    assert re.search(r"\n- \d+ more lines are left out\n```\n$", told)


def test_a_command_is_whole_or_left_out() -> None:
    assert FULL.change is not None
    huge = replace(FULL, change=Change("much", "kubectl " + "x" * MOST, "kubectl y"))
    told = markdown(replace(FOUND, found=(huge, STORM)), "prod", "over 30 s", "")

    assert "kubectl x" not in told
    assert "Left out here." in told
    assert STORM.evidence[0] in told


def test_a_name_of_ten_thousand_characters_is_cut() -> None:
    told = markdown(replace(FOUND, found=(replace(STORM, title="x" * 10_000),)), "p" * 10_000, "over 30 s", "")

    assert len(told) < 6000
    assert "…" in told
