"""The findings of a report: as JSON, and as lines of text; the worst first, each with its evidence and its change."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from textwrap import wrap
from typing import Any

from apftop.findings.book import book
from apftop.findings.runbook import anchor
from apftop.present import percent
from apftop.records.findings import RISKS, SEVERITIES, Alert, Change, Fact, Finding, Findings, Severity
from apftop.report.numbers import number
from apftop.sheets.finding_text import counted, ends_in_command, headline, held, parts, risks, verdict

WIDTH = 120
_folded = partial(wrap, width=WIDTH, break_on_hyphens=False)
LABEL = 10

Json = dict[str, Any]


def findings_json(found: Findings) -> Json:
    """The keys of a report that say what was found."""
    return {
        "verdict": found.verdict,
        "why": list(found.why),
        "at_risk": {name: found.at_risk.get(name, "unknown") for name in RISKS},
        "findings": [_finding(one) for one in found.found],
        "alerts": [_alert(one) for one in found.alerts],
        "compare": {
            "mixin": {"ratio": number(found.mixin.ratio), "fires": found.mixin.fires} if found.mixin else None,
        },
    }


def reaches(found: Findings, severity: Severity) -> bool:
    """Whether anything was found that is as bad as that, or worse."""
    return any(SEVERITIES.index(one.severity) <= SEVERITIES.index(severity) for one in found.found)


def finding_lines(found: Findings) -> Iterator[str]:
    """The verdict, what is at risk, and all findings."""
    yield f"verdict   {verdict(found)}"
    for why in found.why:
        yield from _labelled("", why)
    yield f"at risk   {risks(found)}"
    yield f"findings  {counted(found.found)}"
    for one in found.found:
        yield ""
        yield from _folded(headline(one), subsequent_indent="  ")
        yield from _said(one)
    if lines := held(found):
        yield ""
        yield "alerts of the query library whose condition holds now"
        yield from (f"  {line}" for line in lines)
    if line := mixin_line(found):
        yield ""
        yield line


def mixin_line(found: Findings) -> str:
    """What the stock alert makes of the same window; empty where it reads nothing."""
    if found.mixin is None or not found.mixin.ratio:
        return ""
    fires = "fires" if found.mixin.fires else "stays silent"
    return f"KubeAPITerminatedRequests of kubernetes-mixin reads {percent(found.mixin.ratio)}, and {fires}"


def _said(finding: Finding) -> Iterator[str]:
    for part in parts(finding):
        if part.commands:
            yield f"  {part.name}:"
            yield from (f"    {line}" for line in part.lines)
        else:
            for at, line in enumerate(part.lines):
                yield from _labelled(part.name if at == 0 else "", line, "  ")
    yield from _labelled("more", anchor(finding.code), "  ")


def _labelled(label: str, text: str, indent: str = "") -> Iterator[str]:
    """Text behind a label, folded below itself; a command that it ends with is a line of its own then."""
    first = f"{indent}{label:<{LABEL}}"
    below = " " * len(first)
    if len(first) + len(text) > WIDTH:
        text, command = ends_in_command(text)
    else:
        command = ""
    yield from _folded(text, initial_indent=first, subsequent_indent=below) or [first]
    if command:
        yield below + command


def _finding(finding: Finding) -> Json:
    page = book().get(finding.code)
    return {
        "code": finding.code,
        "severity": finding.severity,
        "title": finding.title,
        "subject": finding.subject,
        "replicas": list(finding.replicas),
        "level": finding.level or None,
        "schema": finding.schema or None,
        "evidence": list(finding.evidence),
        "advice": list(finding.advice),
        "change": _change(finding.change),
        "facts": {key: _fact(value) for key, value in finding.facts.items()},
        "step": page.step if page else None,
        "runbook": anchor(finding.code),
    }


def _change(change: Change | None) -> Json | None:
    if change is None:
        return None
    return {"text": change.text, "command": change.command, "rollback": change.rollback}


def _alert(alert: Alert) -> Json:
    return {
        "name": alert.name,
        "subject": alert.subject,
        "condition": alert.condition,
        "needs": alert.needs,
        "replica": alert.replica or None,
        "level": alert.level or None,
        "schema": alert.schema or None,
    }


def _fact(value: Fact) -> Any:
    """A fact as JSON has it; what is not finite is null."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, (int, float)):
        return number(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _fact(one) for key, one in value.items()}
    return [_fact(one) for one in value]
