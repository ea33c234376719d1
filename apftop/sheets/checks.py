"""View 8: the checks, of servers and of their levels: what each one holds against what."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from apftop import present
from apftop.check.lawbook import lawbook
from apftop.records.checks import WORST_FIRST, Check
from apftop.records.moment import Moment
from apftop.records.raw import Endpoint
from apftop.sheets import columns
from apftop.sheets.check_text import because, expected, unit, value
from apftop.sheets.figures import BLANK, STALE, UNKNOWN, seconds, words
from apftop.sheets.lacking import lacking
from apftop.sheets.level_waits import facts
from apftop.sheets.look import EACH, Look
from apftop.sheets.scope import metrics_stale, nobody, replicas_of, tells_apart, title
from apftop.sheets.sheet import Cell, Column, Row, RowKey
from apftop.sheets.table import Shown, Table, cells_of, columns_of
from apftop.sheets.verdicts import MARKS

MOST_OTHERS = 2000
"""So many checks are listed that are not off: each level has some twenty."""

OF_CHECK = "both sides of the law, as its page says"


@dataclass(frozen=True, slots=True)
class Line:
    """One check on one replica; `level` is empty where it is about the whole server."""

    key: RowKey
    replica: str
    level: str
    check: Check
    stale: bool

    @property
    def subject(self) -> dict[str, str]:
        """The level or the server that is checked."""
        return {"level": self.level, "replica": self.replica} if self.level else {"replica": self.replica}


def table(moment: Moment, look: Look) -> Table:
    """The checks in scope: those that are off first, then those that hold, then those that could not be made."""
    shown = (
        *(() if "level" in look.within else (LEVEL,)),
        *((REPLICA,) if tells_apart(moment, look) else ()),
        *REST,
    )
    found = _in_order(lines(moment, look))
    notes = lacking(moment, look, Endpoint.REQUESTS, lambda replica: replica.requests is not None)
    most = sum(line.check.verdict == "off" for line in found) + MOST_OTHERS
    if len(found) > most:
        notes = (*notes, f"{len(found) - most} more checks, none of which is off, are not listed: those of a level are")
        found = found[:most]
    return Table(
        title=title(look, EACH),
        columns=columns_of(shown, totals=False),
        rows=tuple(
            Row(
                line.key,
                cells_of(shown, line),
                "dim" if line.check.verdict == "unknown" else "",
                subject=line.subject,
            )
            for line in found
        ),
        idle=frozenset(),
        empty=nobody(moment, look) or "nothing is checked here yet: it takes answers of metrics, for most checks two",
        notes=notes,
        facts=facts(moment, look),
    )


def lines(moment: Moment, look: Look) -> Iterator[Line]:
    """The checks in scope; where the reader looks at one level, those of whole servers are left out."""
    wanted = look.within.get("level")
    for replica in replicas_of(moment, look):
        found = moment.checks.get(replica.name)
        if found is None:
            continue
        stale = metrics_stale(moment, replica)
        if wanted is None:
            yield from _of(replica.name, "", found.checks, stale=stale)
        for name, level in found.levels.items():
            if wanted in (None, name):
                yield from _of(replica.name, name, level.checks, stale=stale)


def _of(replica: str, level: str, checks: Iterable[Check], *, stale: bool) -> Iterator[Line]:
    """Those of one law go by their places: what each is about may change."""
    taken: Counter[str] = Counter()
    for check in checks:
        taken[check.law] += 1
        yield Line((level, replica, check.law, str(taken[check.law])), replica, level, check, stale)


def _in_order(found: Iterable[Line]) -> list[Line]:
    """Those of whole servers before others that came out alike, and those of a level as the law book has them."""
    laws = {law: at for at, law in enumerate(lawbook())}

    def rank(line: Line) -> tuple[int, str, str, int, RowKey]:
        return WORST_FIRST.index(line.check.verdict), line.level, line.replica, laws[line.check.law], line.key

    return sorted(found, key=rank)


def _verdict(line: Line) -> Cell:
    verdict = line.check.verdict
    return Cell(verdict + STALE if line.stale else verdict, verdict, MARKS[verdict])


def _expected(line: Line) -> Cell:
    check = line.check
    if check.expected is None or check.expected == (None, None):
        return UNKNOWN
    low, high = check.expected
    return Cell(expected(check), (-math.inf if low is None else low, math.inf if high is None else high))


def _number(line: Line, number: float | None) -> Cell:
    return UNKNOWN if number is None else Cell(value(number, line.check.unit), number)


def _what(line: Line) -> Cell:
    """What it is about, and what it means where it is off, or what is missing."""
    parts = [present.plain(line.check.about), because(line.check)]
    return words(": ".join(part for part in parts if part))


LEVEL: Shown[Line] = Shown(
    replace(columns.LEVEL, help="priority level that is checked; - is the whole server", rank=1),
    lambda line: words(line.level or None),
)
REPLICA: Shown[Line] = Shown(columns.REPLICA, lambda line: words(line.replica))
REST: tuple[Shown[Line], ...] = (
    Shown(
        Column(
            "check",
            "CHECK",
            18,
            "which law or identity; enter shows what it says; filters take its code as well",
            "the law book of apftop",
            "text",
            most=48,
        ),
        lambda line: Cell(lawbook()[line.check.law].title, line.check.law),
    ),
    Shown(
        Column(
            "verdict",
            "VERDICT",
            7,
            "ok: the numbers agree within the tolerance; off: they do not; unknown: something is missing to tell",
            OF_CHECK,
            "text",
        ),
        _verdict,
    ),
    Shown(
        Column("observed", "OBSERVED", 8, "the value that is checked, in the unit of the check", OF_CHECK),
        lambda line: _number(line, line.check.observed),
    ),
    Shown(
        Column(
            "expected",
            "EXPECTED",
            8,
            "the value that it is held against, or the ends between which it is to lie, in the unit of the check",
            OF_CHECK,
        ),
        _expected,
    ),
    Shown(
        Column(
            "tolerance",
            "TOLERANCE",
            9,
            "how far outside of these ends it may lie, in the unit of the check",
            "the thresholds of apftop, as the page of the check says",
            rank=3,
        ),
        lambda line: _number(line, line.check.tolerance),
    ),
    Shown(
        Column("unit", "UNIT", 4, "unit of the three; blank where they say it themselves", OF_CHECK, "text", rank=4),
        lambda line: words(unit(line.check)),
    ),
    Shown(
        Column(
            "over",
            "OVER",
            5,
            "seconds of the window; blank for a law about one moment",
            "the server's count of nanoseconds, else the times of the answers",
            "seconds",
            rank=5,
        ),
        lambda line: BLANK if line.check.seconds is None else seconds(line.check.seconds),
    ),
    Shown(
        Column(
            "what",
            "WHAT",
            16,
            "what of the level it is about; what it means where it is off, and what is missing where it is unknown",
            OF_CHECK,
            "text",
            most=160,
            rank=2,
        ),
        _what,
    ),
)
