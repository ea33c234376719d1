"""One finding in words: the same for the screen, the text report and Markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from apftop.present import plain
from apftop.records.findings import RISKS, SEVERITIES, Alert, Change, Finding, Findings, Risk, Severity, Whole
from apftop.sheets.sheet import Mark

MARKS: Mapping[Severity, Mark] = {"critical": "bad", "warning": "warn", "info": "dim"}
SIGNS: Mapping[Severity, str] = {"critical": "!!", "warning": "!", "info": "i"}

VERDICTS: Mapping[Whole, str] = {
    "apf": "requests wait or are refused by API Priority and Fairness",
    "backend-slow": "the servers or what lies behind them are slow",
    "client-side": "the clients make their requests wait themselves",
    "not-apf": "requests fail, and API Priority and Fairness is not why",
    "quiet": "nothing waits and nothing is refused",
    "unknown": "too little is known to tell",
}
# A command is the rest of its line, and is copied: it is neither folded nor escaped.
_COMMAND = re.compile(r"(?<=: )kubectl [a-z].*$")
RISK_WORDS: Mapping[Risk, str] = {"ok": "ok", "at-risk": "AT RISK", "unknown": "unknown"}


@dataclass(frozen=True, slots=True)
class Part:
    """What is said of a finding under one name, in lines; `commands` are to be taken as they are."""

    name: str
    lines: tuple[str, ...]
    commands: bool = False


def parts(finding: Finding) -> tuple[Part, ...]:
    """All that a finding says besides its title, in the order in which it is read; empty parts are left out."""
    change = finding.change
    found = (
        Part("evidence", finding.evidence),
        Part("advice", finding.advice),
        Part("change", (plain(change.text),) if change else ()),
        Part("command, which apftop does not run", commands(change, back=False), commands=True),
        Part("to roll back, with today's values", commands(change, back=True), commands=True),
    )
    return tuple(part for part in found if part.lines)


def commands(change: Change | None, *, back: bool) -> tuple[str, ...]:
    """The lines of a change, or of its way back, safe for a terminal."""
    if change is None:
        return ()
    return tuple(plain(line) for line in (change.rollback if back else change.command).splitlines())


def script(change: Change) -> str:
    """A change and its way back as text to be pasted: the way back is a comment, so that nothing undoes itself."""
    back = (f"#   {line}" for line in commands(change, back=True))
    return "\n".join((*commands(change, back=False), "# to roll back:", *back, ""))


def ends_in_command(line: str) -> tuple[str, str]:
    """A line of evidence or advice, and the command that it ends with: empty where it ends with none."""
    found = _COMMAND.search(line)
    return (line[: found.start()], line[found.start() :]) if found else (line, "")


def headline(finding: Finding) -> str:
    """What it is, how bad, and its code."""
    return f"{finding.severity}: {finding.title} [{finding.code}]"


def where(finding: Finding) -> str:
    """Level, schema and servers, as far as it is about some."""
    named = [f"{kind} {plain(name)}" for kind, name in (("level", finding.level), ("schema", finding.schema)) if name]
    on = f"on {', '.join(map(plain, finding.replicas))}" if finding.replicas else ""
    return " ".join(filter(None, (", ".join(named), on))) or plain(finding.subject)


def verdict(found: Findings) -> str:
    """The verdict in its word and in a sentence."""
    return f"{found.verdict}: {VERDICTS[found.verdict]}"


def risks(found: Findings) -> str:
    """What a cluster dies of, each with how it stands; those at risk first."""
    order: tuple[Risk, ...] = ("at-risk", "unknown", "ok")
    known = sorted(((found.at_risk.get(name, "unknown"), name) for name in RISKS), key=lambda one: order.index(one[0]))
    return ", ".join(f"{name.replace('_', ' ')} {RISK_WORDS[risk]}" for risk, name in known)


def counted(found: Iterable[Finding]) -> str:
    """How many there are of each severity."""
    numbers = Counter(one.severity for one in found)
    return ", ".join(f"{numbers[severity]} {severity}" for severity in SEVERITIES if numbers[severity]) or "none"


def held(found: Findings) -> tuple[str, ...]:
    """The alerts whose condition holds now, a line each."""
    return tuple(alert_line(one) for one in found.alerts if one.condition)


def alert_line(alert: Alert) -> str:
    """One alert, what of, and for how long its condition must hold."""
    on = f" on {plain(alert.replica)}" if alert.replica and alert.replica != alert.subject else ""
    return f"{alert.name} of {plain(alert.subject)}{on} ({alert.needs})"
