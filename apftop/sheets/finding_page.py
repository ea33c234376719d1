"""The page of one finding: what is found, the one change with its way back, what it means, and what to look at next."""

from __future__ import annotations

from apftop.findings.book import book
from apftop.findings.runbook import anchor, sections
from apftop.present import plain, span, utc
from apftop.records.findings import Finding
from apftop.records.moment import Moment
from apftop.sheets.finding_text import parts, where
from apftop.sheets.findings import found_by
from apftop.sheets.look import Look
from apftop.sheets.page import Entry, Page, Section
from apftop.sheets.sheet import RowKey


def page(moment: Moment, look: Look, key: RowKey) -> Page | None:
    """The page of the finding of a row; None where it is not found any more."""
    finding = found_by(moment, key)
    if finding is None:
        return None
    found = [Section(f"{finding.severity}: {finding.title}", tuple(_found(finding, moment)))]
    for part in parts(finding):
        if part.commands:
            found.append(Section(part.name.capitalize(), (), part.lines))
        else:
            found.append(Section(part.name.capitalize(), tuple(("-", line) for line in part.lines)))
    told = book().get(finding.code)
    if told is not None:
        found.append(Section(told.title, sections(told)))
    return Page(tuple(found))


def _found(finding: Finding, moment: Moment) -> list[Entry]:
    since = moment.since.get(finding.key)
    lasted = "-" if since is None else f"{span(max(0.0, moment.now - since))}, first seen {utc(since)}"
    return [
        ("where", where(finding)),
        ("for", lasted),
        ("code", f"{plain(finding.code)}, more in {anchor(finding.code)}"),
    ]
