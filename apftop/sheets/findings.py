"""View 7: the findings: how bad, what of, where, and since when."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from apftop import present
from apftop.records.findings import SEVERITIES, Finding, Severity, worst
from apftop.records.moment import Moment
from apftop.sheets import columns
from apftop.sheets.figures import BLANK, number, words
from apftop.sheets.finding_text import MARKS, SIGNS, counted, risks, verdict
from apftop.sheets.look import EACH, SUM, Look
from apftop.sheets.scope import nobody, title
from apftop.sheets.sheet import Cell, Column, Row, RowKey
from apftop.sheets.table import Shown, Table, cells_of, columns_of

OF_PAGE = "the frame, checks and objects, as the page of the finding says"


@dataclass(frozen=True, slots=True)
class Line:
    """One finding, and for how long it has been there in seconds; None where that is not known."""

    finding: Finding
    lasted_s: float | None


def table(moment: Moment, look: Look) -> Table:
    """The findings in scope, the worst first."""
    found = tuple(lines(moment, look))
    return Table(
        title=title(look, EACH),
        columns=columns_of(SHOWN, totals=False),
        rows=tuple(
            Row(
                key_of(line.finding),
                cells_of(SHOWN, line),
                "dim" if line.finding.severity == "info" else "",
                subject=_subject(line.finding),
            )
            for line in found
        ),
        idle=frozenset(key_of(line.finding) for line in found if line.finding.severity == "info"),
        empty=nobody(moment, look) or "nothing is found",
        facts=_facts(moment),
    )


def lines(moment: Moment, look: Look) -> Iterable[Line]:
    """The findings of the replicas in scope: those that are about no server are of all of them."""
    for finding in moment.findings.found:
        if look.scope in (EACH, SUM) or not finding.replicas or look.scope in finding.replicas:
            since = moment.since.get(finding.key)
            yield Line(finding, None if since is None else max(0.0, moment.now - since))


def key_of(finding: Finding) -> RowKey:
    """The key of its row."""
    return finding.key


def found_by(moment: Moment, key: RowKey) -> Finding | None:
    """The finding of a row; None where it is gone."""
    return next((one for one in moment.findings.found if one.key == key), None)


def of_level(moment: Moment, level: str, replica: str = "") -> Severity | None:
    """The worst severity of what is found of a level, on one replica or on any."""
    return worst(
        one.severity
        for one in moment.findings.found
        if one.level == level and (not replica or not one.replicas or replica in one.replicas)
    )


def of_replica(moment: Moment, replica: str) -> Severity | None:
    """The worst severity of what is found on a replica."""
    return worst(one.severity for one in moment.findings.found if replica in one.replicas)


def sign(severity: Severity | None) -> Cell:
    """`!!`, `!` or `i`; by value the worst is the least, since columns of text begin with what is least."""
    if severity is None:
        return BLANK
    return Cell(SIGNS[severity], float(SEVERITIES.index(severity)), MARKS[severity])


def _subject(finding: Finding) -> dict[str, str] | None:
    subject = {"level": finding.level} if finding.level else {}
    if len(finding.replicas) == 1:
        subject["replica"] = finding.replicas[0]
    return subject or None


def _facts(moment: Moment) -> tuple[str, ...]:
    found = moment.findings
    if not moment.frame.replicas:
        return ()
    keys = "; enter opens its page, Y copies five lines for a chat" if found.found else ""
    return (
        f"verdict: {'; '.join((verdict(found), *found.why))}",
        f"at risk: {risks(found)}",
        f"found: {counted(found.found)}{keys}",
    )


def _severity(line: Line) -> Cell:
    severity = line.finding.severity
    return Cell(f"{SIGNS[severity]:<2} {severity}", float(SEVERITIES.index(severity)), MARKS[severity])


SIGN: Column = Column(
    "finding",
    "F",
    2,
    "the worst of what is found of it: !! critical, ! warning, i worth knowing; 7 shows all findings",
    OF_PAGE,
    "text",
    rank=1,
)
SHOWN: tuple[Shown[Line], ...] = (
    Shown(
        Column(
            "severity",
            "SEVERITY",
            11,
            "!! critical: what keeps the cluster alive is hit or will be, or nothing gets through; ! warning: "
            "clients are delayed or refused now, or with the next load; i info: worth knowing",
            OF_PAGE,
            "text",
        ),
        _severity,
    ),
    Shown(
        Column("code", "CODE", 12, "which kind of finding: enter opens its page", OF_PAGE, "text", most=32, rank=3),
        lambda line: words(line.finding.code),
    ),
    Shown(
        Column(
            "subject",
            "SUBJECT",
            12,
            "what it is about: a level, a schema, a replica, a client, or the cluster",
            OF_PAGE,
            "text",
            most=40,
            rank=5,
        ),
        lambda line: words(line.finding.subject),
    ),
    Shown(
        replace(columns.REPLICA, key="replicas", title="REPLICAS", help="API servers on which it is found", rank=4),
        lambda line: words(", ".join(line.finding.replicas)),
    ),
    Shown(
        Column("title", "FINDING", 56, "what is found, where, and how much of it", OF_PAGE, "text", most=160),
        lambda line: words(line.finding.title),
    ),
    Shown(
        Column(
            "since",
            "SINCE",
            6,
            "for how long it has been there without a gap, in seconds; it may have begun before this was watched",
            "the moments of this run",
            "seconds",
            rank=1,
        ),
        lambda line: number(line.lasted_s, present.span),
    ),
)
