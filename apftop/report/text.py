"""A Frame as text: what a person reads first comes first, and each number keeps its bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from apftop.apf.objects import EXEMPT
from apftop.present import percent, plain, rate, seconds, utc, whole
from apftop.records.checks import Checks, ReplicaChecks
from apftop.records.classified import Classified
from apftop.records.findings import Findings
from apftop.records.frame import Frame, Level, Replica
from apftop.report.asked import asked_lines
from apftop.report.causes import finding_lines
from apftop.report.checks import check_lines
from apftop.report.level_columns import NAME_WIDTH, Column, columns_of

MOST_FLOWS = 10
ABSENT = "no flow control metrics: APF is switched off here, or this is not an API server with APF"


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
        lines += ["", *totals(frame)]
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
    yield "  ".join(heading(replica))
    yield from (f"  ! {problem}" for problem in problems(replica))
    if replica.apf == "absent":
        yield f"  {ABSENT}"
        return
    if replica.levels:
        yield from _indented(table(columns_of(checks), list(replica.levels.values())))
    for level in replica.levels.values():
        yield from _indented(remarks(level))
    yield from _indented(check_lines(checks))
    yield from _flows(replica)
    yield from _indented(unknowns(replica))


def problems(replica: Replica) -> Iterable[str]:
    """What could not be read of a server, and what became of this tool's own requests."""
    yield from map(plain, replica.problems)
    own = replica.own
    if own.rejected:
        where = f"schema {plain(own.schema or '?')}, level {plain(own.level or '?')}"
        yield f"{own.rejected} of {own.sent} requests of this tool were refused in {where}"


def unknowns(replica: Replica) -> Iterable[str]:
    """What a server tells that is not understood, and what it does not tell."""
    if replica.unknown_families or replica.unknown_columns:
        names = ", ".join(map(plain, (*replica.unknown_families, *replica.unknown_columns)))
        yield f"newer than this apftop, not used: {names}"
    if replica.cannot_fill:
        yield f"this server does not expose: {', '.join(replica.cannot_fill)}"


def heading(replica: Replica) -> list[str]:
    """What a server is, in a few words each."""
    kind = "" if replica.kind != "extension" else "not a kube-apiserver (mandatory levels only), left out of totals"
    borrowing = f"borrowing {replica.borrowing}" if replica.borrowing != "ok" else ""
    if replica.nan_levels:
        borrowing += f" (NaN demand on {', '.join(map(plain, replica.nan_levels))})"
    possibly, window = replica.possibly_stale_levels, replica.window
    parts = [
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
    return [part for part in parts if part]


def remarks(level: Level) -> Iterable[str]:
    """What a level's numbers do not say by themselves."""
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


def totals(frame: Frame) -> Iterable[str]:
    """Sums over all servers, and where their shares are uneven."""
    sums = frame.totals
    hot = f", worst on {plain(sums.hot)}" if sums.hot else ""
    servers = [one for one in frame.replicas.values() if one.kind != "extension"]
    known = sum(bool(one.levels) for one in servers)
    whose = "all" if known == len(servers) else f"{known} of {len(servers)}"
    refused = percent(sums.refused_share)
    yield f"{whose} kube-apiservers: nominal sum {whole(sums.nominal_sum)}, {refused} refused{hot}"
    for name, level in sums.levels.items():
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
