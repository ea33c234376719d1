"""A Frame as text: what a person reads first comes first, and each number keeps its bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from apftop.apf.objects import EXEMPT
from apftop.present import UNKNOWN, interval, percent, plain, rate, seconds, utc, whole
from apftop.records.checks import Checks, LevelChecks, ReplicaChecks
from apftop.records.classified import Classified
from apftop.records.findings import Findings
from apftop.records.frame import Frame, Level, Replica
from apftop.report.asked import asked_lines
from apftop.report.causes import finding_lines
from apftop.report.checks import check_lines
from apftop.sheets.verdicts import TEXTS

MOST_FLOWS = 10
NAME_WIDTH = 40


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the levels table."""

    title: str
    cell: Callable[[Level], str]
    left: bool = False


LEVEL_COLUMNS = (
    Column("LEVEL", lambda level: plain(level.name, NAME_WIDTH), left=True),
    Column("STATE", lambda level: level.state, left=True),
    Column("SEATS", lambda level: _seats(level)),
    Column("NOMINAL", lambda level: whole(level.nominal)),
    Column("DELTA", lambda level: _signed(level.limit_delta)),
    Column("REACH", lambda level: whole(level.reachable_max)),
    Column("CAP", lambda level: whole(level.max_seats_per_request)),
    Column("WAITING", lambda level: whole(level.waiting)),
    Column("DISP/S", lambda level: rate(level.pace.dispatched_per_s if level.pace else None)),
    Column("REJ/S", lambda level: _rejected(level)),
    Column("FULL", lambda level: _full(level)),
    Column("WAIT p50", lambda level: interval(level.waits.p50) if level.waits else UNKNOWN),
    Column("WAIT p99", lambda level: interval(level.waits.p99) if level.waits else UNKNOWN),
    Column("TIMED OUT", lambda level: str(level.waits.timed_out) if level.waits else UNKNOWN),
)


def text(
    frame: Frame,
    source: str,
    t0: float | None,
    t1: float | None,
    interval_s: float | None,
    checks: Checks | None = None,
    found: Findings | None = None,
    classified: Sequence[Classified] = (),
) -> str:
    """The whole report: what was found comes first, where it was looked for."""
    lines = [f"{plain(source)}  {taken(t0, t1, interval_s)}"]
    if found is not None:
        lines += ["", *finding_lines(found)]
    asked = ["", "requests in question", *_indented(asked_lines(classified))] if classified else []
    return _joined([*lines, *_servers(frame, checks or {}), *asked])


def server_text(frame: Frame, checks: Checks) -> str:
    """What each server says, and their sums."""
    return _joined(_servers(frame, checks)).lstrip("\n")


def _servers(frame: Frame, checks: Checks) -> list[str]:
    lines: list[str] = []
    for name, replica in frame.replicas.items():
        lines += ["", *_replica(replica, checks.get(name, ReplicaChecks()))]
    if len(frame.replicas) > 1:
        lines += ["", *_totals(frame)]
    return lines


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(line.rstrip() for line in lines) + "\n"


def taken(t0: float | None, t1: float | None, interval_s: float | None) -> str:
    """When it was looked, and for how long."""
    if interval_s is not None and t0 is not None:
        return f"{utc(t0)} .. {utc(t1)} ({interval_s:.3g} s)"
    if interval_s is not None:
        return f"over {interval_s:.3g} s"
    return f"at {utc(t1)}: no rates" if t1 is not None else "at an unknown time: no rates"


def _replica(replica: Replica, checks: ReplicaChecks) -> Iterable[str]:
    yield "  ".join(part for part in _heading(replica) if part)
    for problem in replica.problems:
        yield f"  ! {plain(problem)}"
    own = replica.own
    if own.rejected:
        where = f"schema {plain(own.schema or '?')}, level {plain(own.level or '?')}"
        yield f"  ! {own.rejected} of {own.sent} requests of this tool were refused in {where}"
    if replica.apf == "absent":
        yield "  no flow control metrics: APF is switched off here, or this is not an API server with APF"
        return
    if replica.levels:
        model = Column("MODEL", lambda level: _model(checks.levels.get(level.name)))
        yield from _indented(table((*LEVEL_COLUMNS, model), list(replica.levels.values())))
    for level in replica.levels.values():
        yield from _indented(_remarks(level))
    yield from _indented(check_lines(checks))
    yield from _flows(replica)
    if replica.unknown_families or replica.unknown_columns:
        names = ", ".join(map(plain, (*replica.unknown_families, *replica.unknown_columns)))
        yield f"  newer than this apftop, not used: {names}"
    if replica.cannot_fill:
        yield f"  this server does not expose: {', '.join(replica.cannot_fill)}"


def _heading(replica: Replica) -> list[str]:
    kind = "" if replica.kind != "extension" else "not a kube-apiserver (mandatory levels only), left out of totals"
    borrowing = f"borrowing {replica.borrowing}" if replica.borrowing != "ok" else ""
    if replica.nan_levels:
        borrowing += f" (NaN demand on {', '.join(map(plain, replica.nan_levels))})"
    possibly, window = replica.possibly_stale_levels, replica.window
    return [
        plain(replica.name),
        plain(replica.version or "version unknown"),
        kind,
        f"{whole(replica.server_concurrency)} seats" if replica.server_concurrency is not None else "",
        f"nominal sum {whole(replica.nominal_sum)}" if replica.nominal_sum is not None else "",
        f"{whole(replica.unassigned_seats)} unassigned" if (replica.unassigned_seats or 0) > 2 else "",
        borrowing,
        f"stale: {', '.join(map(plain, replica.stale_levels))}" if replica.stale_levels else "",
        f"possibly stale: {', '.join(map(plain, possibly))}" if possibly else "",
        f"restarted or reset: rates over its last {seconds(window.seconds)}" if window and window.reset else "",
        f"clock skew {seconds(replica.clock.skew_s)}" if abs(replica.clock.skew_s or 0) > 1 else "",
    ]


def _remarks(level: Level) -> Iterable[str]:
    name = plain(level.name, NAME_WIDTH)
    waits = level.waits
    if waits is not None and waits.timed_out:
        low, high = waits.time_outs_within_s or (0.0, None)
        upper = "and up" if high is None else f"to {seconds(high)}"
        yield f"{name}: {waits.timed_out} timed out in their queue after {seconds(low)} {upper}; not in the waits shown"
        yield f"{name}: taking it that {waits.assumes}"
    if waits is not None and waits.overflow_mean_bounds_s and waits.over_last_bound:
        low, high = waits.overflow_mean_bounds_s
        yield (
            f"{name}: {percent(waits.over_last_bound)} waited beyond the last bucket, "
            f"{seconds(low)} to {seconds(high)} on average"
        )
    if level.state == "blocked":
        yield f"{name}: can never dispatch (limit 0, cannot borrow)"
    if level.nominal == 0 and not level.exempt and level.state not in ("blocked", "stale"):
        yield f"{name}: no guaranteed seats"
    head = level.next_to_dispatch
    if head is not None and head.fits is False and head.idle:
        yield (
            f"{name}: {whole(head.idle)} seats idle, but the next request (queue {head.queue}, "
            f"{plain(head.user)}, {plain(head.verb)} {plain(head.resource)}) needs {head.seats}: the others wait for it"
        )


def _flows(replica: Replica) -> Iterable[str]:
    busy = [flow for flow in replica.flows if flow.level != EXEMPT][:MOST_FLOWS]
    if not busy:
        return
    yield "  heaviest flows (schema / flow: waiting, executing, seats; mostly)"
    for flow in busy:
        kind = next(iter(flow.by_kind), "")
        yield (
            f"    {plain(flow.schema, NAME_WIDTH)} / {plain(flow.flow, 60) or '(none)'}: {flow.waiting} waiting, "
            f"{whole(flow.executing)} executing, {whole(flow.seats)} seats; {plain(kind, NAME_WIDTH)}"
        )


def _totals(frame: Frame) -> Iterable[str]:
    totals = frame.totals
    hot = f", worst on {plain(totals.hot)}" if totals.hot else ""
    servers = [one for one in frame.replicas.values() if one.kind != "extension"]
    known = sum(bool(one.levels) for one in servers)
    whose = "all" if known == len(servers) else f"{known} of {len(servers)}"
    refused = percent(totals.refused_share)
    yield f"{whose} kube-apiservers: nominal sum {whole(totals.nominal_sum)}, {refused} refused{hot}"
    for name, level in totals.levels.items():
        if level.skew is not None and level.skew >= 1.5 and level.dispatched_per_s:
            top = max(level.share_of_dispatch, key=lambda one: level.share_of_dispatch[one])
            share = f"{percent(level.share_of_dispatch[top])} of {rate(level.dispatched_per_s)} dispatched/s"
            yield f"  {plain(name)}: {share} on {plain(top)} (max over mean {level.skew:.2f})"


def table(columns: Sequence[Column], rows: Sequence[Level]) -> list[str]:
    """Rows under their titles, numbers to the right."""
    cells = [[column.title for column in columns], *([column.cell(row) for column in columns] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    return [
        "  ".join(
            cell.ljust(width) if column.left else cell.rjust(width)
            for cell, width, column in zip(line, widths, columns, strict=True)
        )
        for line in cells
    ]


def _indented(lines: Iterable[str]) -> Iterable[str]:
    return (f"  {line}" for line in lines)


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
