"""What checks come to, as cells; and whose checks there are."""

from __future__ import annotations

from collections.abc import Iterable

from apftop.records.checks import WORST_FIRST, LevelChecks, ReplicaChecks, Verdict
from apftop.records.moment import Moment
from apftop.sheets.figures import STALE, UNKNOWN
from apftop.sheets.sheet import Cell, Mark

TEXTS: dict[Verdict, str] = {"off": "off", "ok": "ok", "unknown": "?"}
MARKS: dict[Verdict, Mark] = {"off": "bad", "ok": "", "unknown": "dim"}


def level_checks(moment: Moment, replica: str, level: str) -> LevelChecks | None:
    """What was checked on a level of a replica; None where nothing was."""
    of_replica = moment.checks.get(replica)
    found = of_replica.levels.get(level) if of_replica is not None else None
    return found if found is not None and found.checks else None


def replica_verdict(found: ReplicaChecks | None) -> Verdict | None:
    """What all checks of a server come to; None where nothing was checked."""
    if found is None or not (found.checks or any(level.checks for level in found.levels.values())):
        return None
    return found.verdict


def worst(verdicts: Iterable[Verdict | None]) -> Verdict | None:
    """Off where any is, else ok where any is; None where nothing was checked."""
    known = {one for one in verdicts if one is not None}
    return next((one for one in WORST_FIRST if one in known), None)


def verdict_cell(verdict: Verdict | None, *, stale: bool = False, more: str = "") -> Cell:
    """`ok`, `off` or `?`; `more` follows what is off. By value, `?` is unknown in words: it was looked at."""
    if verdict is None:
        return UNKNOWN
    text = TEXTS[verdict] + (STALE if stale and verdict != "unknown" else "")
    return Cell(f"{text} {more}" if more else text, verdict, MARKS[verdict])
