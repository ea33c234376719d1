"""Sheets as plain text: goldens of a few cases, and what other text must not do to them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from apftop.present import cells
from apftop.records.moment import Moment
from apftop.sheets.header import header
from apftop.sheets.look import EACH, SUM, Look, Sort, View
from apftop.sheets.plain import lines
from apftop.sheets.views import sheet
from tests.sheets.moments import a_request, busy, case, cell, moment_of, seen, with_replicas, with_requests

GOLDENS = Path(__file__).parent / "goldens"
MOST_ROWS = 8

HOSTILE = [
    "\x1b[31mred\x1b[0m",
    "\x1b]52;c;aGk=\x07",
    "a\r\nb\tc",
    "\u202egnp.exe",
    "[/bold][link=x]",
    "日本語のユーザー",
    "e\u0301cole",
    "\u200d\ufeffzero",
    "\ud800",
    "x" * 300,
]


def screen(moment: Moment, look: Look, width: int) -> list[str]:
    """Header and view, the first rows of it."""
    found = sheet(moment, look)
    top = ["".join(one.text for one in line) for line in header(moment, look, moment.now + 1, width)]
    return [*top, *lines(replace(found, rows=found.rows[:MOST_ROWS]), width)]


@pytest.mark.parametrize(
    ("name", "view", "scope", "width"),
    [
        ("C03", View.LEVELS, EACH, 80),
        ("C03", View.LEVELS, EACH, 120),
        ("C03", View.SCHEMAS, EACH, 120),
        ("C03", View.QUEUES, EACH, 80),
        ("C03", View.REQUESTS, EACH, 200),
        ("C03", View.CLIENTS, EACH, 120),
        ("C23", View.LEVELS, EACH, 120),
        ("C23", View.LEVELS, SUM, 80),
        ("C23", View.LEVELS, SUM, 200),
        ("C33", View.REPLICAS, EACH, 80),
        ("C33", View.REPLICAS, EACH, 200),
    ],
)
def test_the_screen_is_as_it_was(name: str, view: View, scope: str, width: int) -> None:
    """To renew the goldens after a change that is meant, run with APFTOP_GOLDENS=write and read the difference."""
    golden = GOLDENS / f"{name}-{view.value}{'-sum' if scope == SUM else ''}-{width}.txt"
    text = "\n".join(screen(case(name), Look(view=view, scope=scope), width)) + "\n"
    if os.environ.get("APFTOP_GOLDENS") == "write":
        golden.write_text(text)

    assert text == golden.read_text()


@pytest.mark.parametrize("view", list(View))
@pytest.mark.parametrize("name", HOSTILE)
def test_foreign_text_neither_acts_on_the_terminal_nor_moves_the_columns(name: str, view: View) -> None:
    moment = moment_of(*busy())
    old = moment.frame.replicas["kas"]
    level = replace(old.levels["load"], name=name)
    schema = replace(old.schemas["load"], name=name, level=name, past_levels=(name,))
    bad = replace(
        old,
        name=name,
        version=name,
        peer=name,
        levels={name: level},
        schemas={name: schema},
        problems=(name,),
        endpoints={"metrics": name},
    )
    moment = replace(with_replicas(moment, [bad, replace(old, name="plain")]), source=name, news=(name,))
    row = a_request(level=name, schema=name, distinguisher=name, user=name, verb=name, resource=name, name=name)
    moment = with_requests(moment, [row, a_request()], name)

    for scope in (EACH, SUM, name):
        for width in (80, 200):
            shown = screen(moment, Look(view=view, scope=scope, within={"level": name}), width)
            assert all(line.isprintable() for line in shown)
            assert all(cells(line) <= width for line in shown)


def test_cells_have_no_text_that_a_terminal_acts_on_in_full_either() -> None:
    row = a_request(user="\x1b[2J" * 100)

    found = seen(with_requests(moment_of(*busy()), [row]), view=View.REQUESTS)

    assert cell(found, "user").text == "\\x1b[2J" * 100


def test_the_sorted_column_has_an_arrow_and_a_faulty_filter_is_told() -> None:
    found = lines(sheet(case("C03"), Look(sorts={View.LEVELS: Sort("waiting", True)}, filter="x>1")), 100)

    assert "WAITING▼" in found[1]
    assert found[-3].startswith("! filter: no column `x` here")


def test_an_empty_view_says_why_once() -> None:
    assert lines(sheet(case("C23"), Look(view=View.QUEUES)), 100)[2:] == [
        "! dump_queues of kas-a, kas-b, kas-c: not asked for yet"
    ]
