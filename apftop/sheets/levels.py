"""View 1: priority levels, on each replica or summed over them."""

from __future__ import annotations

from dataclasses import replace

from apftop import present
from apftop.records.moment import Moment
from apftop.sheets import columns
from apftop.sheets.bands import beside, in_band
from apftop.sheets.figures import (
    BLANK,
    STALE,
    UNKNOWN,
    count,
    interval,
    marked,
    number,
    rate,
    rejections,
    seconds,
    words,
)
from apftop.sheets.findings import SIGN, sign
from apftop.sheets.level_lines import Line, lines
from apftop.sheets.look import SUM, Look, View
from apftop.sheets.scope import nobody, tells_apart, title
from apftop.sheets.sheet import Cell, Column, Mark, Row
from apftop.sheets.spark import trend_cell
from apftop.sheets.table import Shown, Table, cells_of, columns_of
from apftop.sheets.trouble import MARKS, TROUBLE
from apftop.sheets.verdicts import verdict_cell

DUMPS_OR_METRICS = "two dumps of priority levels, else two answers of metrics; without apftop's own requests"
QUIET = frozenset({"idle", "stale"})

LEAST_WAIT_S = 0.001
"""What waits for less does not wait in a queue: so long is the way through an empty one."""


def table(moment: Moment, look: Look) -> Table:
    """The levels in scope, the worst first."""
    shown = (FOUND, LEVEL, *_where(moment, look), *REST)
    found = lines(moment, look)
    rows = tuple(
        Row(line.key, cells_of(shown, line), _mark(line), {"view": View.SCHEMAS.value} | about, about)
        for line in found
        for about in (_about(line, look),)
    )
    return Table(
        title=title(look, look.scope),
        columns=columns_of(shown, totals=look.totals),
        rows=rows,
        idle=frozenset(line.key for line in found if line.state in QUIET and not line.waiting and not line.rejected),
        empty=nobody(moment, look) or "no priority level is known yet",
    )


def _where(moment: Moment, look: Look) -> tuple[Shown[Line], ...]:
    if look.scope == SUM:
        return WORST, SKEW
    return (REPLICA,) if tells_apart(moment, look) else ()


def _mark(line: Line) -> Mark:
    return "dim" if line.state in QUIET else ""


def _about(line: Line, look: Look) -> dict[str, str]:
    about = {"level": line.level}
    return about if look.scope == SUM else about | {"replica": line.replica}


def _state(line: Line) -> Cell:
    """The state; an old one where all that it follows from is old."""
    stale = line.waiting_stale and line.metrics_stale and line.state not in ("stale", "unknown")
    return Cell(line.state + STALE if stale else line.state, line.state, MARKS.get(line.state, ""))


def _seats(line: Line) -> Cell:
    """Seats in use over the current limit; that of the exempt level is not enforced."""
    limit = None if line.exempt else line.current
    text = f"{present.whole(line.seats)}/{present.whole(limit)}"
    if line.seats is None:
        return Cell(text, None, "dim")
    full = bool(line.seats and limit and line.seats >= limit)
    stale = line.seats_stale or line.metrics_stale
    return number(line.seats, lambda _: text, stale=stale, mark="warn" if full else "")


def _reasons(line: Line) -> Cell:
    """One reason needs no number: it has all that was rejected."""
    if line.reasons is None:
        return UNKNOWN
    if len(line.reasons) == 1:
        return words(next(iter(line.reasons)))
    text = present.whole if line.counts else present.rate
    parts = [f"{present.plain(reason)} {text(value)}" for reason, value in line.reasons.items()]
    return Cell(", ".join(parts), ", ".join(line.reasons)) if parts else BLANK


def _full(line: Line) -> Cell:
    stale = "full" in line.partial or line.metrics_stale
    if line.full_of_life:
        return number(line.full, lambda share: f"{present.percent(share)} life", stale=stale)
    return number(line.full, present.percent, stale=stale)


def _oldest(line: Line) -> Cell:
    if line.nobody_waits:
        return BLANK
    return seconds(line.oldest_s, stale="oldest" in line.partial)


def _predicted(line: Line) -> Cell:
    """The mean wait, and what it is held against: the band of the model, else the time that requests spent waiting."""
    checks = line.checks
    if checks is not None and (band := checks.prediction) is not None:
        mark: Mark = "" if band.inside else "warn"
        return Cell(in_band(band, stale=line.metrics_stale), band.observed, mark)
    if checks is None or checks.observed_wait_s is None:
        return BLANK if line.nobody_waits else UNKNOWN
    observed, due = checks.observed_wait_s, checks.little_s
    if max(observed, due or 0.0) < LEAST_WAIT_S:
        return BLANK
    text = f"{present.seconds(observed)} vs -" if due is None else beside(observed, "vs", due)
    off = any(one.law == "waiting-time" and one.verdict == "off" for one in checks.checks)
    return Cell(text + STALE if line.metrics_stale else text, observed, "warn" if off else "")


def _worst(line: Line) -> Cell:
    """How many replicas are in the state shown, and the worst one by name where they differ or are in trouble."""
    alike = f"{line.in_state}/{line.replicas}"
    if line.in_state == line.replicas and line.state not in TROUBLE:
        return Cell(alike, "", MARKS.get(line.state, ""))
    return Cell(f"{alike} {present.plain(line.replica, 40)}", line.replica, MARKS.get(line.state, ""))


def _skew(line: Line) -> Cell:
    return number(line.skew, lambda skew: f"{skew:.2f} {present.plain(line.skewed_to, 40)}")


DISPATCHED, REJECTED = (replace(one, source=DUMPS_OR_METRICS) for one in (columns.DISPATCHED, columns.REJECTED))

FOUND: Shown[Line] = Shown(SIGN, lambda line: sign(line.found))
LEVEL: Shown[Line] = Shown(columns.LEVEL, lambda line: words(line.level))
REPLICA: Shown[Line] = Shown(columns.REPLICA, lambda line: words(line.replica))
WORST: Shown[Line] = Shown(
    Column(
        "worst",
        "WORST REPLICA",
        15,
        "how many of the replicas that have this level are in the state shown, and the one that is worst off, whose "
        "state it is",
        "the rows of the replicas",
        "text",
        most=50,
    ),
    _worst,
)
SKEW: Shown[Line] = Shown(
    Column(
        "skew",
        "SKEW",
        6,
        "greatest over mean dispatched requests of the replicas, and who has the greatest: 1 is even",
        "two answers of metrics of each replica",
        rank=6,
    ),
    _skew,
)
REST: tuple[Shown[Line], ...] = (
    Shown(
        Column(
            "state",
            "STATE",
            10,
            "what the level does: blocked can never dispatch; saturated has requests waiting or refused, or all seats "
            "in use now or for half of the window; leaking serves with a limit of 0; quiescing is deleted and drains; "
            "stale is a level that only old metrics name",
            "seats, limits, waiting and rejected requests, and objects",
            "text",
        ),
        _state,
    ),
    Shown(
        Column(
            "seats",
            "SEATS",
            8,
            "seats in use, lingering ones among them, over the current limit in seats; sorts and filters by those in "
            "use; the limit of the exempt level is not enforced, and is not shown",
            "current_executing_seats and current_limit_seats; without metrics, dump_queues or dump_requests",
        ),
        _seats,
    ),
    Shown(columns.WAITING, lambda line: marked(line.waiting, present.whole, "warn", stale=line.waiting_stale)),
    Shown(DISPATCHED, lambda line: rate(line.dispatched, counts=line.counts, stale=line.pace_stale)),
    Shown(REJECTED, lambda line: rejections(line.rejected, counts=line.counts, stale=line.pace_stale)),
    Shown(
        Column(
            "reasons",
            "REASON",
            10,
            "why requests were rejected, with the part of each reason a second where there are several; time-out is "
            "also said of clients that went away, since 1.28.5",
            "rejected_requests_total in two answers of metrics; without metrics, two dumps of priority levels",
            "text",
            most=40,
            rank=4,
        ),
        _reasons,
    ),
    Shown(
        columns.WAIT_P95,
        lambda line: interval(line.wait_p95, stale="wait_p95" in line.partial or line.metrics_stale),
    ),
    Shown(
        Column(
            "predicted",
            "PREDICTED",
            15,
            "mean wait over the last window, time-outs among it, and what it is held against: `0.2 in 0.1-0.6s` is the "
            "band of waits that the model of APF gives for this load on these seats, `not in` if it gives others; "
            "`0.8 vs 0.8s` is what the time that requests spent waiting makes it, where there is no simulation; blank "
            "where nobody waited; of a sum, the replica whose wait is least like its band",
            "request_wait_duration_seconds, request_utilization and the model",
            "seconds",
            rank=5,
        ),
        _predicted,
    ),
    Shown(
        Column(
            "model",
            "MODEL",
            5,
            "whether the numbers of the level agree with each other and with what APF would do: off where any check "
            "is, else ok; ? where none could be made, - before the first; of a sum, the worst replica; m shows the "
            "checks",
            "all answers, and the model of APF",
            "text",
            rank=2,
        ),
        lambda line: verdict_cell(line.verdict, stale="model" in line.partial or line.metrics_stale),
    ),
    Shown(
        Column(
            "full",
            "FULL",
            6,
            "share of the time in which over 99% of the current limit was in use; `life` is over the level's life; of "
            "a sum, that of the worst replica",
            "priority_level_seat_utilization in two answers of metrics: exact, it counts nanoseconds",
            "share",
            rank=4,
        ),
        _full,
    ),
    Shown(columns.OLDEST, _oldest),
    Shown(
        Column(
            "nominal",
            "NOMINAL",
            7,
            "nominal limit in seats: the level's shares of the server, before lending and borrowing",
            "nominal_limit_seats",
            rank=5,
        ),
        lambda line: count(line.nominal, stale=line.metrics_stale),
    ),
    Shown(
        Column(
            "borrowed",
            "BORR",
            4,
            "borrowed seats in use: seats in use above the nominal limit",
            "current_executing_seats and nominal_limit_seats",
            rank=7,
        ),
        lambda line: count(line.borrowed, stale=line.metrics_stale or line.seats_stale),
    ),
    Shown(
        Column(
            "trend",
            "TREND",
            8,
            "the latest points up to now: waiting requests (w, up to the most of them) if any waited, else seats in "
            "use (s, up to the current limit); the lowest bar is 0, a dot is unknown",
            "the samples of this run",
            "trend",
            most=62,
            rank=3,
        ),
        lambda line: trend_cell(line.trend, None if line.exempt else line.current),
    ),
)
