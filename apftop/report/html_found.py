"""The findings of a page: each with its evidence, its commands to be copied, and what it means."""

from __future__ import annotations

from collections.abc import Iterator

from apftop.findings.book import book
from apftop.findings.runbook import anchor, sections
from apftop.records.findings import Finding, Findings
from apftop.report.causes import mixin_line
from apftop.report.html_parts import Markup, block, element, folded, joined, listed
from apftop.sheets.finding_text import ends_in_command, held, parts, where


def findings_of(found: Findings) -> Markup:
    """All findings, worst first, and the alerts that hold."""
    told = [_finding(one) for one in found.found] or [element("p", "Nothing was found.")]
    if alerts := held(found):
        told += [element("h3", "Alerts of the query library whose condition holds now"), listed(alerts)]
    if line := mixin_line(found):
        told.append(element("p", line))
    return joined(told)


def _finding(finding: Finding) -> Markup:
    return element("article", *_said(finding), class_=finding.severity)


def _said(finding: Finding) -> Iterator[Markup]:
    yield element("h3", element("span", f"{finding.severity}: ", class_="severity"), finding.title)
    yield element("p", element("code", finding.code), f", {where(finding)}", class_="dim")
    for part in parts(finding):
        yield element("h4", part.name.capitalize())
        if part.commands:
            yield block(part.lines)
        else:
            yield element("ul", *(element("li", *_told(line)) for line in part.lines))
    page = book().get(finding.code)
    if page is not None:
        meant = (piece for name, said in sections(page) for piece in (element("dt", name), element("dd", said)))
        yield folded("What it means", element("p", page.title), element("dl", *meant))
    yield element("p", "More: ", element("code", anchor(finding.code)), class_="dim")


def _told(line: str) -> Iterator[str]:
    """A line, with the command that it ends with as a block."""
    said, command = ends_in_command(line)
    yield said
    if command:
        yield block((command,))
