"""The columns of the levels' table of a report, each with what it means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from apftop.present import UNKNOWN, interval, percent, plain, rate, seconds, whole
from apftop.records.checks import LevelChecks, ReplicaChecks
from apftop.records.frame import Level
from apftop.sheets.verdicts import TEXTS

NAME_WIDTH = 40


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the levels table."""

    title: str
    cell: Callable[[Level], str]
    help: str
    left: bool = False


def columns_of(checks: ReplicaChecks) -> tuple[Column, ...]:
    """The columns of a replica's levels, with what its checks say."""
    meant = "whether the numbers agree with each other and with what APF would do: ok, off, or ? where nobody can tell"
    return (*LEVEL_COLUMNS, Column("MODEL", lambda level: _model(checks.levels.get(level.name)), meant))


def _signed(value: float | None) -> str:
    return UNKNOWN if value is None else "0" if value == 0 else f"{'+' if value > 0 else '-'}{whole(abs(value))}"


def _seats(level: Level) -> str:
    """Seats in use over the current limit; the exempt level's limit is not enforced."""
    return f"{whole(level.seats_in_use)}/{UNKNOWN if level.exempt else whole(level.current)}"


def _rejected(level: Level) -> str:
    if level.pace is None:
        return UNKNOWN
    window, counts = level.pace.window, level.pace.counts
    parts = [f"{plain(reason)} {rate(window.per_s(number))}" for reason, number in counts.rejected.items()]
    return ", ".join(parts) or "0"


def _model(checks: LevelChecks | None) -> str:
    return UNKNOWN if checks is None else TEXTS[checks.verdict]


def _full(level: Level) -> str:
    if level.utilization is None or level.exempt:
        return UNKNOWN
    mark = " life" if level.utilization.lifetime else ""
    return percent(level.utilization.gt_99) + mark


LEVEL_COLUMNS = (
    Column("LEVEL", lambda level: plain(level.name, NAME_WIDTH), "priority level", left=True),
    Column("STATE", lambda level: level.state, "what the level does", left=True),
    Column("SEATS", _seats, "seats in use over the current limit; that of the exempt level is not enforced"),
    Column("NOMINAL", lambda level: whole(level.nominal), "nominal limit in seats: its shares of the server"),
    Column("DELTA", lambda level: _signed(level.limit_delta), "seats borrowed (+) or lent (-): current less nominal"),
    Column("REACH", lambda level: whole(level.reachable_max), "the most seats that its limit can come to"),
    Column("CAP", lambda level: whole(level.max_seats_per_request), "the most seats that one request can take"),
    Column("WAITING", lambda level: whole(level.waiting), "requests in its queues now"),
    Column(
        "DISP/S",
        lambda level: rate(level.pace.dispatched_per_s if level.pace else None),
        "requests that began to execute, a second",
    ),
    Column("REJ/S", _rejected, "requests refused, or taken out of their queue, a second, by reason"),
    Column("FULL", _full, "share of the time in which over 99% of the limit was in use; `life` is over its life"),
    Column(
        "WAIT p50",
        lambda level: interval(level.waits.p50) if level.waits else UNKNOWN,
        "bounds between which half of the waits in the queue end; > is beyond the last bound",
    ),
    Column("WAIT p99", lambda level: interval(level.waits.p99) if level.waits else UNKNOWN, "the same of 99 in 100"),
    Column(
        "TIMED OUT",
        lambda level: str(level.waits.timed_out) if level.waits else UNKNOWN,
        "requests that left their queue unserved, over the window",
    ),
)
MORE_COLUMNS = (
    Column("EXECUTING", lambda level: whole(level.executing), "requests that execute now"),
    Column("LOWER", lambda level: whole(level.lower), "seats that it never lends"),
    Column("UPPER", lambda level: whole(level.upper), "seats beyond which it never borrows"),
    Column("BORROWED IN USE", lambda level: whole(level.borrowed_in_use), "seats in use above the nominal limit"),
    Column(
        "WAIT p95", lambda level: interval(level.waits.p95) if level.waits else UNKNOWN, "the same of 95 in 100 waits"
    ),
    Column(
        "REFUSED",
        lambda level: percent(level.pace.counts.refused_share) if level.pace else UNKNOWN,
        "refused share of all requests that were decided on",
    ),
    Column(
        "OLDEST",
        lambda level: seconds(level.inside.oldest_waiting_s) if level.inside else UNKNOWN,
        "age of the request that has waited longest",
    ),
    Column(
        "RUN p95",
        lambda level: interval(level.execution.p95) if level.execution else UNKNOWN,
        "bounds between which 95 in 100 requests have executed",
    ),
    Column("ACTIVE QUEUES", lambda level: whole(level.active_queues), "queues that have requests"),
)
"""What a page has room for besides."""
