"""Each code of a fault has an entry, and each entry is used."""

from __future__ import annotations

import re
from pathlib import Path

import apftop.lint
from apftop.findings.book import book
from apftop.lint.codes import codes

SOURCE = "\n".join(path.read_text() for path in Path(apftop.lint.__file__).parent.glob("*.py"))


def used() -> set[str]:
    """The codes that rules give, apart from those of missing objects."""
    given = set(re.findall(r'"([a-z0-9.]+(?:-[a-z0-9.]+)*)",\s*(?:gravity|"(?:error|warning|note)")', SOURCE))
    given -= {"error", "warning", "note"}
    return {*given, *re.findall(r'_refused\(\s*document,\s*"([a-z-]+)"', SOURCE)}


def test_each_code_has_an_entry_and_each_entry_is_given() -> None:
    assert {code for code in codes() if not code.startswith("missing-")} == used()


def test_entries_name_findings_that_there_are() -> None:
    assert {one.finding for one in codes().values()} - {""} <= book().keys()


def test_entries_are_whole_sentences() -> None:
    for code, one in codes().items():
        assert one.means.endswith("."), code
        assert one.do.endswith("."), code
        assert not one.title.endswith("."), code
