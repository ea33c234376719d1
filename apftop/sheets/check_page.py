"""The page of one check: what it says, what it found, and what that means."""

from __future__ import annotations

from collections.abc import Iterator

from apftop.check.lawbook import lawbook
from apftop.present import plain, seconds
from apftop.records.checks import Check
from apftop.records.moment import Moment
from apftop.sheets.check_text import because, expected, unit, value
from apftop.sheets.checks import lines
from apftop.sheets.level_waits import waits_section
from apftop.sheets.look import Look
from apftop.sheets.page import Entry, Page, Section
from apftop.sheets.sheet import RowKey
from apftop.sheets.verdicts import level_checks


def page(moment: Moment, look: Look, key: RowKey) -> Page | None:
    """The page of the check of a row; None where it is not made any more."""
    line = next((line for line in lines(moment, look) if line.key == key), None)
    if line is None:
        return None
    law = lawbook()[line.check.law]
    where = f"level {plain(line.level)} on {plain(line.replica)}" if line.level else f"server {plain(line.replica)}"
    says = (
        ("the law", plain(law.says)),
        ("numbers from", law.source),
        ("may differ by", law.tolerance),
        ("off usually means", law.off),
    )
    sections = [
        Section(f"{law.title}: {where}", tuple(_found(line.check))),
        Section("What it says", says),
    ]
    if (checks := level_checks(moment, line.replica, line.level)) is not None:
        sections.append(waits_section(checks, moment.now))
    return Page(tuple(sections))


def _found(check: Check) -> Iterator[Entry]:
    """How it came out: both sides with their unit."""
    yield "verdict", check.verdict
    if check.about:
        yield "about", plain(check.about)
    if check.verdict == "unknown":
        yield "missing", because(check) or "-"
    if check.verdict == "off":
        yield "reason", because(check) or "-"
    of = f" {unit(check)}".rstrip()
    yield "observed", _with(value(check.observed, check.unit), of)
    yield "expected", _with(expected(check), of)
    yield "tolerance", _with(value(check.tolerance, check.unit), of)
    yield "over", "one moment" if check.seconds is None else f"{seconds(check.seconds)}, end to end"
    yield "code", check.law


def _with(text: str, of: str) -> str:
    return text if text == "-" else text + of
