"""The last two dumps of priority levels, if they are of one process: what they count rose in the time between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from apftop.derive.deltas import Step
from apftop.derive.pairing import agree, told_apart
from apftop.records.parsed import Dump, LevelRow, Metrics
from apftop.records.state import Read
from apftop.rules import rules

COUNTS = ("dispatched", "rejected", "timed_out", "cancelled")


@dataclass(frozen=True, slots=True)
class DumpStep:
    """The earlier rows by level, and the times of both dumps in Unix seconds by the taker's clock."""

    before: Mapping[str, LevelRow]
    t0: float
    t1: float


def pair_dumps(
    dumps: tuple[Read[Dump[LevelRow]], ...], metrics: tuple[Read[Metrics], ...], step: Step | None
) -> DumpStep | None:
    """Pair the last two dumps; None where they may be of two processes, or the time between them is not known.

    A dump says nothing of its server. Where the last two metrics answers (`step`) are not of one process, dumps are
    taken only that came after both.
    """
    if len(dumps) < 2:
        return None
    before, after = dumps
    if before.given is None or after.given is None or after.given <= before.given:
        return None
    if told_apart(before, after) or _fell(before.data, after.data) or _clock_was_set(before, after):
        return None
    one_process = len(metrics) < 2 or (step is not None and not step.anew)
    if not one_process and not _after(before, metrics[-1]):
        return None
    return DumpStep({row.name: row for row in before.data.rows}, before.given, after.given)


def _clock_was_set(before: Read[Dump[LevelRow]], after: Read[Dump[LevelRow]]) -> bool:
    """Whether much more or less time lies between them by this machine's clock than by the server's `Date`."""
    if before.server_date is None or after.server_date is None or before.given is None or after.given is None:
        return False
    dated = after.server_date - before.server_date
    return not agree(after.given - before.given, dated, rules().clock.date_tolerance_s)


def _fell(before: Dump[LevelRow], after: Dump[LevelRow]) -> bool:
    """Whether a count of a level fell: after a restart, on another server, or where the level was made anew."""
    earlier = {row.name: row for row in before.rows}
    return any(
        (getattr(row, count) or 0) < (getattr(earlier[row.name], count) or 0)
        for row in after.rows
        if row.name in earlier
        for count in COUNTS
    )


def _after(dump: Read[Dump[LevelRow]], metrics: Read[Metrics]) -> bool:
    return dump.time is not None and metrics.time is not None and dump.time > metrics.time
