"""Verdicts, findings and checks compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from apftop.diff.bounds import Spot, told
from apftop.diff.change import Change, How
from apftop.records.checks import WORST_FIRST, Checks
from apftop.records.findings import Fact, Finding, Findings
from apftop.records.logs import NO_LOGS
from apftop.report.look import Look


def verdict_changes(old: Findings, new: Findings) -> Iterator[Change]:
    """What it is all about, and what is at risk."""
    yield told(Spot("verdict"), "verdict", _known(old.verdict), _known(new.verdict))
    for name in sorted({*old.at_risk, *new.at_risk}):
        was, now = _known(old.at_risk.get(name)), _known(new.at_risk.get(name))
        yield told(Spot("verdict"), f"at_risk.{name}", was, now)


def _known(word: str | None) -> str | None:
    return None if word == "unknown" else word


def finding_changes(old: Look, new: Look) -> Iterator[Change]:
    """Findings by code and subject: one that is not there is gone only where all servers could be read."""
    was, now = ({one.key: one for one in look.found.found} for look in (old, new))
    for key in sorted({*was, *now}):
        before, after = was.get(key), now.get(key)
        if before is not None and after is not None:
            yield _kept(before, after)
        elif after is not None:
            yield _alone(after, added=True, why=_hidden(new, old))
        elif before is not None:
            yield _alone(before, added=False, why=_hidden(old, new))


def _hidden(there: Look, other: Look) -> str:
    """Why a finding of one look may be true of the other one and not be seen there; empty where it would be."""
    servers = other.frame.servers
    if not servers or any(one.failed for one in servers):
        return "not everything could be read"
    if there.logs != NO_LOGS and other.logs == NO_LOGS:
        return "no logs were read"
    # Quiet servers are not asked for every dump: what no server tells was not read, or not allowed.
    told, known = ({name for one in look.frame.servers for name in one.samples} for look in (there, other))
    if lacking := sorted(told - known):
        return f"no {', '.join(lacking)}"
    if any(one.window is not None for one in there.frame.servers) and any(one.window is None for one in servers):
        return "no rates are known"
    return ""


def _alone(finding: Finding, *, added: bool, why: str) -> Change:
    side = "before" if added else "after"
    was, now = (None, finding.severity) if added else (finding.severity, None)
    note = f"{why} {side}: {finding.title}" if why else finding.title
    how: How = "unknown" if why else "added" if added else "removed"
    return Change("findings", finding.code, how, was, now, name=finding.subject, note=note)


def _kept(old: Finding, new: Finding) -> Change:
    """The same finding: other words among its facts are a change, other numbers are not."""
    how: How
    if old.severity != new.severity:
        how, note = "changed", new.title
    else:
        names = sorted({*old.facts, *new.facts})
        words = [name for name in names if _words(old.facts.get(name)) != _words(new.facts.get(name))]
        other = old.facts != new.facts
        how = "changed" if words else "within" if other else "equal"
        told_of = [f"{name} {old.facts.get(name)} -> {new.facts.get(name)}" for name in words]
        note = "; ".join(told_of) if words else "the same with other numbers" if other else ""
    return Change("findings", new.code, how, old.severity, new.severity, name=new.subject, note=note)


def _words(fact: Fact) -> str | None:
    return fact if isinstance(fact, str) else None


def check_changes(old: Checks, new: Checks) -> Iterator[Change]:
    """Laws by server and level: a check that is not there is unknown."""
    was, now = _verdicts(old), _verdicts(new)
    for key in sorted({*was, *now}):
        replica, level, law = key
        yield told(Spot("checks", replica, level), law, _known(was.get(key)), _known(now.get(key)))


def _verdicts(checks: Checks) -> Mapping[tuple[str, str, str], str]:
    """The worst verdict on each law."""
    found: dict[tuple[str, str, str], str] = {}
    for replica, of in checks.items():
        named = [("", one) for one in of.checks]
        named += [(level, one) for level, levels in of.levels.items() for one in levels.checks]
        for level, one in named:
            key = replica, level, one.law
            known = (one.verdict, found[key]) if key in found else (one.verdict,)
            found[key] = min(known, key=lambda verdict: [*map(str, WORST_FIRST)].index(verdict))
    return found
