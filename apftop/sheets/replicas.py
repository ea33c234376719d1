"""View 6: the API servers themselves, and what asking them costs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from apftop import present
from apftop.records.asking import Plan
from apftop.records.checks import ReplicaChecks
from apftop.records.findings import Severity
from apftop.records.frame import Replica
from apftop.records.moment import Moment
from apftop.records.raw import Endpoint
from apftop.sheets import columns
from apftop.sheets.answering import Reach, left_out, problems, reach, reach_text
from apftop.sheets.figures import BLANK, STALE, UNKNOWN, add, count, marked, number, rejections, words
from apftop.sheets.findings import SIGN, of_replica, sign
from apftop.sheets.look import Look, View
from apftop.sheets.scope import is_stale, metrics_stale, nobody, replicas_of, title
from apftop.sheets.sheet import Cell, Column, Mark, Row
from apftop.sheets.table import Shown, Table, cells_of, columns_of
from apftop.sheets.trouble import MARKS, TROUBLE, places, rank, worst
from apftop.sheets.verdicts import replica_verdict, verdict_cell

REACH_MARKS: dict[Reach, Mark] = {"partly": "warn", "denied": "bad", "silent": "bad", "unasked": "dim"}
LANES = {Endpoint.LEVELS: "dumps", Endpoint.METRICS: "metrics"}
SHORT_ID = 8


@dataclass(frozen=True, slots=True)
class Line:
    """One replica and its plan; `stale` and `old` say that its metrics, and its dumps of levels, were not renewed."""

    replica: Replica
    reach: Reach
    reach_text: str
    plan: Plan | None
    now: float
    counts: bool
    stale: bool
    old: bool
    checks: ReplicaChecks | None
    found: Severity | None


def table(moment: Moment, look: Look) -> Table:
    """The replicas in scope: those that do not answer first, then those whose levels are worst off."""
    found = sorted((_line(replica, moment, look) for replica in replicas_of(moment, look)), key=_rank)
    return Table(
        title=title(look, ""),
        columns=columns_of(SHOWN, totals=look.totals),
        rows=tuple(
            Row((line.replica.name,), cells_of(SHOWN, line), "", {"view": View.LEVELS.value} | subject, subject)
            for line in found
            for subject in ({"replica": line.replica.name},)
        ),
        idle=frozenset(),
        empty=nobody(moment, look),
        notes=(*problems(moment), *(f"left out for now: {line}" for line in left_out(moment))),
    )


def _line(replica: Replica, moment: Moment, look: Look) -> Line:
    return Line(
        replica=replica,
        reach=reach(moment, replica),
        reach_text=reach_text(moment, replica),
        plan=moment.plans.get(replica.name),
        now=moment.now,
        counts=look.totals,
        stale=metrics_stale(moment, replica),
        old=is_stale(moment, replica, Endpoint.LEVELS.value),
        checks=moment.checks.get(replica.name),
        found=of_replica(moment, replica.name),
    )


def _rank(line: Line) -> tuple[bool, bool, tuple[object, ...], str]:
    """Where no level is in trouble replicas go by their names: how busy they are changes all the time."""
    hurt = [place for place in places([line.replica]) if place.level.state in TROUBLE]
    return line.reach in ("ok", "partly"), not hurt, rank(worst(hurt).level) if hurt else (), line.replica.name


def _worst(line: Line) -> Cell:
    found = places([line.replica])
    if not found:
        return UNKNOWN
    level = worst(found).level
    if level.state not in TROUBLE:
        return words(level.state if level.state == "unknown" else "no trouble")
    was = "was " if line.reach in ("silent", "denied") else ""
    return words(f"{level.name} {was}{level.state}", MARKS.get(level.state, ""))


def _seats(line: Line) -> Cell:
    """Seats in use on all its levels over those of the server."""
    replica = line.replica
    used = add(level.seats_in_use for level in replica.levels.values() if level.state != "stale" and not level.exempt)
    total = present.whole(replica.server_concurrency)
    return number(used, lambda seats: f"{present.whole(seats)}/{total}", stale=line.stale)


def _rejected(line: Line) -> Cell:
    paces = [level.pace for level in line.replica.levels.values() if level.state != "stale"]
    if line.counts:
        number = add(pace.counts.rejected_total if pace else None for pace in paces)
    else:
        number = add(pace.rejected_per_s if pace else None for pace in paces)
    return rejections(number, counts=line.counts, stale=line.old)


def _checks(line: Line) -> Cell:
    """The verdict, and what is off: the worst check of the server itself, else the levels with one."""
    found = line.checks
    off = [check.law for check in found.checks if check.verdict == "off"] if found else []
    levels = (
        [present.plain(name, 40) for name, level in found.levels.items() if level.verdict == "off"] if found else []
    )
    more = off[0] if off else f"{levels[0]}{f' +{len(levels) - 1}' if levels[1:] else ''}" if levels else ""
    return verdict_cell(replica_verdict(found), stale=line.stale, more=more)


def _own(line: Line) -> Cell:
    own = line.replica.own
    return UNKNOWN if own.schema is None and own.level is None else words(f"{own.schema or '?'} / {own.level or '?'}")


def _refused(line: Line) -> Cell:
    own = line.replica.own
    return Cell(f"{own.rejected} of {own.sent}", float(own.rejected), "bad" if own.rejected else "")


def _ages(line: Line) -> Cell:
    """How old the newest answers of the two lanes are; by value, the older one."""
    parts, ages, stale = [], [], {Endpoint.LEVELS: line.old, Endpoint.METRICS: line.stale}
    for endpoint, name in LANES.items():
        age = line.replica.samples.get(endpoint.value)
        if age is not None and age.time is not None:
            ages.append(line.now - age.time)
            parts.append(f"{name} {present.span(ages[-1])}{STALE if stale[endpoint] else ''}")
    return Cell(", ".join(parts), max(ages), "warn" if line.old or line.stale else "") if parts else UNKNOWN


def _uptime(line: Line) -> Cell:
    """By the server's own clock, as far as its difference to ours is known."""
    started = line.replica.started
    up = None if started is None else line.now - (line.replica.clock.skew_s or 0.0) - started
    return number(up if up is not None and up >= 0 else None, present.span)


def _skew(line: Line) -> Cell:
    skew = line.replica.clock.skew_s
    return number(skew, present.seconds, mark="warn" if abs(skew or 0.0) > 1 else "")


def _left_out(line: Line) -> Cell:
    if line.plan is None:
        return UNKNOWN
    parts = [f"{endpoint.value}: {why}" for endpoint, why in line.plan.left_out.items()]
    return words("; ".join(parts), "warn") if parts else BLANK


SHOWN: tuple[Shown[Line], ...] = (
    Shown(SIGN, lambda line: sign(line.found)),
    Shown(replace(columns.REPLICA, width=14, rank=0), lambda line: words(line.replica.name)),
    Shown(
        Column(
            "version",
            "VERSION",
            8,
            "release that the server runs",
            "kubernetes_build_info",
            "text",
            most=24,
            rank=2,
        ),
        lambda line: words(line.replica.version),
    ),
    Shown(
        Column(
            "reach",
            "ANSWERS",
            16,
            "how its endpoints answered last: ok, partly, denied or silent, with the status of those that did not",
            "the last answer of each endpoint",
            "text",
            most=60,
        ),
        lambda line: words(line.reach_text, REACH_MARKS.get(line.reach, "good")),
    ),
    Shown(
        Column(
            "apf",
            "APF",
            6,
            "whether flow control is on: ok, absent or denied; extension is an aggregated server that runs the "
            "mandatory levels only, and is left out of sums",
            "metrics and dumps",
            "text",
            rank=5,
        ),
        lambda line: words("extension" if line.replica.kind == "extension" else line.replica.apf),
    ),
    Shown(
        Column("worst", "WORST LEVEL", 11, "the level that is worst off", "its levels", "text", most=50, rank=1),
        _worst,
    ),
    Shown(
        Column(
            "seats",
            "SEATS",
            9,
            "seats in use on all levels but the exempt one, over the seats of the server (both max-inflight flags)",
            "current_executing_seats, upper_limit_seats and nominal_limit_seats",
        ),
        _seats,
    ),
    Shown(
        Column(
            "nominal", "NOMINAL", 7, "sum of the nominal limits of live levels, in seats", "nominal_limit_seats", rank=7
        ),
        lambda line: count(line.replica.nominal_sum, stale=line.stale),
    ),
    Shown(
        replace(columns.WAITING, help="requests in the queues of all its levels now"),
        lambda line: marked(
            add(level.waiting for level in line.replica.levels.values() if level.state not in ("stale", "exempt")),
            present.whole,
            "warn",
            stale=line.old,
        ),
    ),
    Shown(replace(columns.REJECTED, help="requests rejected on all its levels, a second"), _rejected),
    Shown(
        Column(
            "checks",
            "CHECKS",
            9,
            "what all checks of the server come to, ok, off or ?; what is off is named by the code of a check of the "
            "whole server, which makes all its numbers doubtful, else by its levels; m shows the checks",
            "all answers, and the model of APF",
            "text",
            most=40,
            rank=1,
        ),
        _checks,
    ),
    Shown(
        Column(
            "problems", "PROBLEMS", 8, "how many problems there are with asking it; listed below", "all answers", rank=2
        ),
        lambda line: marked(len(line.replica.problems), present.whole, "warn"),
    ),
    Shown(
        Column(
            "ages",
            "AGES",
            22,
            "how old the newest answers are; ~ where the endpoint has failed since, or is overdue; sorts by the older "
            "one",
            "this machine's clock",
            "text",
            rank=4,
        ),
        _ages,
    ),
    Shown(
        Column(
            "own",
            "OWN SCHEMA / LEVEL",
            18,
            "flow schema and priority level that apftop's own requests run in",
            "headers of the answers, and objects",
            "text",
            most=50,
            rank=8,
        ),
        _own,
    ),
    Shown(
        Column("refused", "REFUSED", 8, "apftop's own requests that APF refused, of those sent", "all answers", rank=3),
        _refused,
    ),
    Shown(
        Column("read", "READ", 8, "bytes that apftop has read from the server", "all answers, as on the wire", rank=6),
        lambda line: number(line.replica.own.bytes, present.size),
    ),
    Shown(
        Column(
            "cost",
            "COST",
            6,
            "estimated share of one core of the server that apftop's polling takes",
            "measured cost of such answers on real servers, and their size here",
            "share",
            rank=5,
        ),
        lambda line: number(line.plan.cost_share if line.plan else None, present.percent),
    ),
    Shown(
        Column(
            "clock",
            "CLOCK",
            7,
            "how far this machine's clock is ahead of the server's, in seconds",
            "arrival of apftop's own request in dump_requests, else the Date header",
            "seconds",
            rank=7,
        ),
        _skew,
    ),
    Shown(
        Column(
            "up", "UP", 6, "seconds since the server's process started", "process_start_time_seconds", "seconds", rank=6
        ),
        _uptime,
    ),
    Shown(
        Column(
            "identity",
            "IDENTITY",
            8,
            "first digits of the SHA-256 of the server's certificate",
            "the TLS connection",
            "text",
            rank=9,
        ),
        lambda line: words(line.replica.peer[:SHORT_ID] or None),
    ),
    Shown(
        Column(
            "left_out",
            "LEFT OUT",
            10,
            "what is not asked for now, and why",
            "the plan of polling",
            "text",
            most=80,
            rank=8,
        ),
        _left_out,
    ),
)
