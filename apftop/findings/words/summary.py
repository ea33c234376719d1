"""A finding in five lines, for a chat: what and where, the evidence, the cause, the change, and when that was so."""

from __future__ import annotations

import re

from apftop import __version__
from apftop.findings.book import book
from apftop.present import plain, utc
from apftop.records.findings import Finding
from apftop.records.frame import Frame

MOST_EVIDENCE = 3


def summary(finding: Finding, frame: Frame) -> str:
    """Exactly five lines of plain text."""
    return "\n".join((_what(finding), _evidence(finding), _cause(finding), _change(finding), _when(finding, frame)))


def _what(finding: Finding) -> str:
    on = f" ({', '.join(map(plain, finding.replicas))})" if finding.replicas else ""
    return f"{finding.severity.upper()} {finding.title}{on}"


def _evidence(finding: Finding) -> str:
    more = len(finding.evidence) - MOST_EVIDENCE
    told = "; ".join(finding.evidence[:MOST_EVIDENCE]) or "none"
    return f"Evidence: {told}{f'; and {more} more' if more > 0 else ''}"


def _cause(finding: Finding) -> str:
    """The page's first sentence; its code says where there is more."""
    page = book().get(finding.code)
    means = re.split(r"(?<=[.])\s", page.means, maxsplit=1)[0] if page else ""
    return f"Cause: {means or finding.code} [{finding.code}]"


def _change(finding: Finding) -> str:
    """The advice that comes first, with its command where that is one line."""
    advice = finding.advice[0] if finding.advice else "none"
    if finding.change is None:
        return f"Change: {advice}"
    lines = finding.change.command.splitlines()
    return f"Change: {advice} $ {plain(lines[0])}" if len(lines) == 1 else f"Change: {plain(finding.change.text)}"


def _when(finding: Finding, frame: Frame) -> str:
    seen = [one for name, one in frame.replicas.items() if name in finding.replicas or not finding.replicas]
    versions = sorted({one.version for one in seen if one.version})
    of = f", kube-apiserver {', '.join(map(plain, versions))}" if versions else ""
    return f"Seen {utc(frame.t1)} by apftop {__version__}{of}"
