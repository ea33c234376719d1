"""Numbers that do not agree with each other, and what a server says that this release does not know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apftop.apf.release import Release, holds, parse_release
from apftop.check.lawbook import lawbook
from apftop.findings.scene import Finder, Scene, places, servers
from apftop.findings.words.told import listed, servers_named
from apftop.parse.vocabulary import vocabulary
from apftop.present import UNKNOWN, plain, seconds
from apftop.records.checks import Check
from apftop.records.findings import Finding
from apftop.records.frame import Replica
from apftop.rules import rules

MOST = 8
"""So many laws are told of."""


@dataclass(frozen=True, slots=True)
class _Off:
    """One law that numbers of a server, or of a level on it, break."""

    replica: str
    level: str
    check: Check

    @property
    def line(self) -> str:
        """What was seen against what should be, and what that means."""
        check, law = self.check, lawbook()[self.check.law]
        where = f"{plain(self.replica)} {plain(self.level)}".strip()
        about = f" ({plain(check.about)})" if check.about else ""
        return f"{where}: {law.title}{about}: {_seen(check)}{plain(check.reason or law.off)}"


def numbers_in_doubt(scene: Scene) -> Iterator[Finding]:
    """Laws that numbers must obey and do not: which numbers are not to be trusted, and why they may be wrong."""
    terms = rules().findings.doubt
    names = {one.name for one in servers(scene)}
    off = [one for one in _off(scene) if one.replica in names and one.check.law not in terms.told_elsewhere]
    if not off:
        return
    grave = [one for one in off if one.check.law in terms.grave]
    off.sort(key=lambda one: (one.check.law not in terms.grave, one.check.law, one.replica, one.level))
    laws = list(dict.fromkeys(one.check.law for one in off))
    hit = list(dict.fromkeys(one.replica for one in off))
    mixed = "numbers of several servers or times are mixed" if grave else "numbers do not agree with each other"
    yield Finding(
        code="numbers-in-doubt",
        severity="warning" if grave else "info",
        subject="cluster",
        title=f"{mixed} on {servers_named(hit)}: {listed([lawbook()[law].title for law in laws])}",
        replicas=tuple(hit),
        evidence=(
            *(one.line for one in off[:MOST]),
            *((f"and {len(off) - MOST} more",) if len(off) > MOST else ()),
            *(f"not to be trusted: {plain(lawbook()[law].source)}" for law in laws[:3]),
        ),
        advice=(
            "ask each server by its own address, not through a load balancer"
            if grave
            else "look again: what is off for one moment may be a busy machine",
            "apftop report --output json has every check with its bounds; until they agree, draw no conclusion from"
            " the numbers named here",
        ),
        facts={
            "laws": laws,
            "where": [{"replica": one.replica, "level": one.level or None, "law": one.check.law} for one in off],
        },
    )


def _off(scene: Scene) -> Iterator[_Off]:
    for replica, found in scene.checks.items():
        yield from (_Off(replica, "", check) for check in found.checks if check.verdict == "off")
        for level, checks in found.levels.items():
            yield from (_Off(replica, level, check) for check in checks.checks if check.verdict == "off")


def _seen(check: Check) -> str:
    if check.observed is None or check.expected is None:
        return ""
    low, high = check.expected
    if low == high:
        should = _number(low)
    elif high is None:
        should = f"at least {_number(low)}"
    else:
        should = f"at most {_number(high)}" if low is None else f"{_number(low)} to {_number(high)}"
    within = f", give or take {_number(check.tolerance)}" if check.tolerance else ""
    over = f" over {seconds(check.seconds)}" if check.seconds is not None else ""
    return f"{_number(check.observed)} {plain(check.unit)}{over}, expected {should}{within}; "


def _number(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def newer_than_known(scene: Scene) -> Iterator[Finding]:
    """Releases, families, columns or reasons that came after this apftop: its rules may not hold there."""
    found = {one.name: told for one in servers(scene) if (told := _newer(scene, one))}
    if not found:
        return
    named = list(dict.fromkeys(what for told in found.values() for what in told))
    yield Finding(
        code="newer-than-known",
        severity="info",
        subject="cluster",
        title=f"{servers_named(list(found))} say what this apftop does not know: {listed(named)}",
        replicas=tuple(found),
        evidence=tuple(f"{plain(name)}: {listed(told, 8)}" for name, told in list(found.items())[:5]),
        advice=("use a newer apftop; until then hold what is said of these servers against their own metrics",),
        facts={"unknown": found},
    )


def _newer(scene: Scene, one: Replica) -> Sequence[str]:
    words = vocabulary()
    release = parse_release(one.version or "")
    told = [f"release {release}"] if release is not None and _later(release) else []
    told += [f"family {name}" for name in one.unknown_families]
    told += [f"column {name}" for name in one.unknown_columns]
    reasons = {
        reason
        for place in places(scene)
        if place.replica.name == one.name and place.level.counts is not None
        for reason in place.level.counts.rejected
        if reason not in words.reasons
    }
    return [*told, *(f"reason of rejection {reason}" for reason in sorted(reasons) if reason != "on-arrival")]


def _later(release: Release) -> bool:
    """Whether a release came after all that are known."""
    known = vocabulary().known_releases
    first = tuple(one.partition(" ")[0] for one in known)
    return holds(release, first) and not holds(release, known)


FINDERS: tuple[Finder, ...] = (numbers_in_doubt, newer_than_known)
