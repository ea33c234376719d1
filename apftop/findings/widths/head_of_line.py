"""The request that is next in a level is too wide for its free seats, and stops all others."""

from __future__ import annotations

from collections.abc import Iterator

from apftop.findings.scene import Place, Scene, by_level, rows
from apftop.findings.widths.narrower import is_wide, narrower
from apftop.findings.words.listing import few
from apftop.findings.words.told import counted, servers_named
from apftop.present import plain, rate, seconds, whole
from apftop.records.findings import Finding
from apftop.records.frame import Level, NextDispatch, Request
from apftop.rules import rules


def head_of_line(scene: Scene) -> Iterator[Finding]:
    """The request that is next is wider than the seats that are free, so that these idle while all others wait."""
    for level, here in by_level(scene).items():
        found = [place for place in here if _blocked(place.level)]
        if found:
            yield _head_of_line(scene, level, sorted(found, key=lambda one: -(one.level.waiting or 0.0)))


def _blocked(level: Level) -> bool:
    """By the dump of queues where there is one, else by the attempts that failed while seats were free."""
    head, own = level.next_to_dispatch, rules().findings.widths
    tried = level.counts.no_accommodation if level.counts else None
    if level.exempt or level.quiescing or (level.waiting or 0.0) < own.waiting or tried == 0:
        return False
    if head is not None:
        return head.fits is False and bool(head.idle) and head.seats > 1
    return tried is not None and (level.seats_idle or 0.0) >= 1


def _head_of_line(scene: Scene, level: str, found: list[Place]) -> Finding:
    worst = found[0]
    at, names = worst.level, tuple(one.replica.name for one in found)
    head, idle = at.next_to_dispatch, _idle(at)
    oldest = at.inside.oldest_waiting_s if at.inside else None
    own = rules().findings.widths
    grave = bool(at.current) and idle >= own.idle_share * (at.current or 0.0) and (oldest or 0.0) >= own.oldest_s
    wide = tuple(row for row in rows(worst) if is_wide(row) or _is_next(row, head))
    cheaper, change = narrower(scene, worst, wide) if grave else ((), None)
    runs = sorted(
        (row for row in rows(worst) if row.executing and row.executing_s is not None),
        key=lambda row: -(row.executing_s or 0.0),
    )
    next_one = (
        f"next is a request of {counted(head.seats, 'seat')}" if head else "the next request is too wide for them"
    )
    return Finding(
        "head-of-line",
        "warning" if grave else "info",
        level,
        f"{counted(idle, 'seat')} of {plain(level)} {'idles' if idle == 1 else 'idle'} on {servers_named(names)} while "
        f"{counted(at.waiting, 'request')} wait: {next_one}",
        names,
        level,
        "",
        (
            *few([_blocked_line(one.level, one.replica.name) for one in found]),
            *((_next(level, head, oldest),) if head else ()),
            *(
                f"executes for {seconds(row.executing_s)}: {plain(row.kind)} by "
                f"{plain(row.user or row.distinguisher)}, {counted(row.width, 'seat')}"
                for row in runs[:5]
            ),
        ),
        (
            "this is how APF works, and no level that is stuck: narrower requests do not pass the one that is next, "
            "which starts once enough seats are given back",
            *cheaper,
        ),
        change,
        {
            "seats_idle": idle,
            "next_seats": None if head is None else float(head.seats),
            "next_user": head.user if head else None,
            "next_kind": f"{head.verb} {head.resource}" if head else None,
            "waiting": at.waiting,
            "no_accommodation_per_s": _attempts(at),
        },
        float(sum(one.level.waiting or 0.0 for one in found)),
    )


def _is_next(row: Request, head: NextDispatch | None) -> bool:
    return head is not None and not row.executing and (row.queue, row.index) == (head.queue, 0)


def _idle(level: Level) -> float:
    head = level.next_to_dispatch
    return (head.idle if head is not None else level.seats_idle) or 0.0


def _attempts(level: Level) -> float | None:
    if level.counts is None or level.window is None or level.counts.no_accommodation is None:
        return None
    return level.window.per_s(level.counts.no_accommodation)


def _blocked_line(level: Level, server: str) -> str:
    tried = _attempts(level)
    window = level.window.seconds if level.window else None
    seats = "" if level.waiting_seats is None else f" for {counted(level.waiting_seats, 'seat')}"
    attempts = (
        "" if tried is None else f"; {rate(tried)}/s attempts to start the next one failed over {seconds(window)}"
    )
    return (
        f"{plain(server)}: {counted(level.seats_in_use, 'seat', whole(level.current))} in use, "
        f"{whole(_idle(level))} idle, {whole(level.waiting)} requests wait{seats}{attempts}"
    )


def _next(level: str, head: NextDispatch, oldest: float | None) -> str:
    what = f"{plain(head.verb)} {plain(head.resource)} by " if head.verb else ""
    return (
        f"next in {plain(level)} is the head of queue {head.queue}: {what}{plain(head.user)}, "
        f"{counted(head.seats, 'seat')}, which does not fit in {whole(head.idle)}; "
        f"the oldest that waits has done so for {seconds(oldest)}"
    )
