"""Seats and demand that leak: taken or wanted, and by no request that will give them back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from apftop.findings.scene import Finder, Place, Scene, by_level, rows
from apftop.findings.seats import gone
from apftop.findings.words.callers import behind
from apftop.findings.words.listing import doing, few, hurt, on, replicas, restart, window
from apftop.findings.words.told import counted
from apftop.present import plain, span, whole
from apftop.records.findings import Finding
from apftop.records.frame import Level, Replica, Request
from apftop.rules import rules


def leaked_seats(scene: Scene) -> Iterator[Finding]:
    """Seats that are not given back: held by no request, or by requests that never end."""
    for name, found in by_level(scene).items():
        leaks = sorted((leak for one in found if (leak := _leak(one)) is not None), key=lambda one: -one.seats)
        if not leaks:
            continue
        worst = leaks[0]
        level, where = worst.place.level, [one.place for one in leaks]
        held = counted(worst.seats, "seat", whole(level.current) if level.current and not level.exempt else "")
        single = worst.seats == 1
        if worst.rows:
            oldest = max(row.executing_s or 0.0 for row in worst.rows)
            many = counted(len(worst.rows), "request")
            title = f"{many} of {plain(name)} {on(where)} executing for up to {span(oldest)}: {held} "
            title += "is not given back" if single else "are not given back"
        else:
            oldest = None
            title = f"{held} of {plain(name)} {on(where)} {'is' if single else 'are'} held by no request"
        yield Finding(
            code="leaked-seats",
            severity="warning" if any(_hurts(one) for one in leaks) else "info",
            subject=name,
            title=title,
            replicas=replicas(where),
            level=name,
            evidence=(*few([_told(one) for one in leaks]), *_who(scene, worst)),
            advice=(
                f"{restart(replicas(where))}: seats come back in no other way",
                "before that keep the goroutine dump (/debug/pprof/goroutine?debug=2): it shows which handler does not "
                "return",
            ),
            facts={
                "kind": "never-ends" if worst.rows else "no-request",
                "seats": worst.seats,
                "current": level.current,
                "requests": len(worst.rows),
                "oldest_executing_s": oldest,
            },
            weight=sum(map(hurt, where)),
        )


def leaked_demand(scene: Scene) -> Iterator[Finding]:
    """Seats that nobody waits for and that count as wanted (since 1.28.5, where they show).

    A write whose final seats are more than the current limit is cut to the limit when it starts, and what was cut
    stays in the demand until the server restarts.
    """
    for name, found in by_level(scene).items():
        leaks = sorted((one for one in found if _left_wanted(one)), key=lambda one: -(one.level.waiting_seats or 0.0))
        if not leaks:
            continue
        level = leaks[0].level
        share = rules().findings.leaks.demand_share
        heavy = any((one.level.waiting_seats or 0.0) >= share * (one.replica.nominal_sum or 0.0) > 0 for one in leaks)
        yield Finding(
            code="leaked-demand",
            severity="warning" if heavy else "info",
            subject=name,
            title=f"{plain(name)} {on(leaks)} wants {counted(level.waiting_seats, 'seat')} for which no request waits",
            replicas=replicas(leaks),
            level=name,
            evidence=few(
                [
                    f"{plain(one.replica.name)}: {whole(one.level.waiting_seats)} waiting seats and 0 waiting requests "
                    f"at both ends of {window(one)}; {doing(one)}"
                    for one in leaks
                ]
            ),
            advice=(
                "restart that API server when it suits: the demand is right again then",
                "so that it does not come again: more shares, so that the current limit stays above the seats of its "
                "widest writes",
            ),
            facts={
                "waiting_seats": level.waiting_seats,
                "waiting": level.waiting,
                "current": level.current,
                "seat_cap": level.max_seats_per_request,
            },
            weight=sum(map(hurt, leaks)),
        )


FINDERS: tuple[Finder, ...] = (leaked_seats, leaked_demand, *gone.FINDERS)


@dataclass(frozen=True, slots=True)
class _Leak:
    """Seats of one level that are not given back; `rows` are requests that hold them, where any do."""

    place: Place
    seats: float
    rows: tuple[Request, ...]


def _leak(place: Place) -> _Leak | None:
    long = tuple(row for row in rows(place) if row.executing_s is not None and row.executing_s >= _never_s(place.level))
    if long and place.replica.clock.tolerance_s is not None:
        return _Leak(place, float(sum(row.width for row in long)), long)
    seats = _held_by_none(place)
    return None if seats is None else _Leak(place, seats, ())


def _never_s(level: Level) -> float:
    """For how long a request must have executed to have outlived its deadline many times, seconds."""
    terms = rules()
    limit = level.waits.limit.seconds if level.waits is not None else 0.0
    deadline = max(terms.wait.default_request_timeout_s, limit / terms.wait.limit_fraction)
    return terms.findings.leaks.deadlines * deadline


def _held_by_none(place: Place) -> float | None:
    """Seats taken while nothing executes and nothing was started over the window; None where there are none.

    All by one answer of metrics; seats of a write that many watch linger, but not for a window.
    """
    replica, level, terms = place.replica, place.level, rules().findings.leaks
    if level.seats_from != "metrics" or not level.seats_in_use or level.quiescing:
        return None
    if level.window is None or level.window.seconds < terms.least_s or level.counts is None or level.counts.dispatched:
        return None
    if level.recent is not None and level.recent.counts.dispatched:
        return None
    executing = _by_metrics(replica, level, "executing")
    unlisted = replica.requests is not None and replica.lists_executing and not any(r.executing for r in rows(place))
    if executing == 0 and (unlisted or replica.requests is None):
        return level.seats_in_use
    # A gauge of executing requests may be wrong as well: then both dumps say so.
    return level.seats_in_use if unlisted and level.executing == 0 else None


def _by_metrics(replica: Replica, level: Level, what: str) -> float | None:
    """A gauge summed over the schemas of one level alone; None where a schema has had another level, or is unknown."""
    found = [one for one in replica.schemas.values() if level.name in (one.level, *one.past_levels)]
    values = [one.executing if what == "executing" else one.waiting for one in found]
    if not found or any(one.past_levels for one in found) or None in values:
        return None
    return sum(value or 0.0 for value in values)


def _left_wanted(place: Place) -> bool:
    """Whether seats count as waiting at the end of a window in which, at both ends, no request waits."""
    level, terms = place.level, rules().findings.leaks
    if level.quiescing or not level.waiting_seats or level.waiting or level.window is None or level.counts is None:
        return False
    calm = level.counts.inqueue_change == 0 and level.window.seconds >= terms.least_s
    return calm and not _waited(level) and _by_metrics(place.replica, level, "waiting") == 0


def _waited(level: Level) -> bool:
    """Whether requests may have waited over the window: gauges are read one after the other, and some come between."""
    if level.counts is not None and not level.counts.arrivals:
        return False
    if level.waits is None or level.waits.timed_out:
        return True
    return any(one.count and one.low >= rules().findings.leaks.passed_s for one in level.waits.buckets)


def _hurts(leak: _Leak) -> bool:
    """Whether a level misses the seats: many of its own, or requests that wait."""
    level = leak.place.level
    if level.exempt or not level.current:
        return False
    return bool(level.waiting) or leak.seats >= rules().findings.leaks.seats_share * level.current


def _told(leak: _Leak) -> str:
    place = leak.place
    if not leak.rows:
        return (
            f"{plain(place.replica.name)}: {whole(leak.seats)} seats in use, nothing executes, and nothing was started "
            f"over {window(place)}"
        )
    first = max(leak.rows, key=lambda row: row.executing_s or 0.0)
    kind = f", {plain(first.kind)}" if first.kind else ""
    return (
        f"{plain(place.replica.name)}: {len(leak.rows)} with {whole(leak.seats)} seats for longer than "
        f"{span(_never_s(place.level))}, the oldest{kind} for {span(first.executing_s)}; {doing(place)}"
    )


def _who(scene: Scene, leak: _Leak) -> Iterator[str]:
    seats: dict[str, int] = {}
    for row in leak.rows:
        if row.user is not None:
            seats[row.user] = seats.get(row.user, 0) + row.width
    if seats:
        user = max(seats, key=lambda one: (seats[one], one))
        yield f"most of them by {plain(user)}: {seats[user]} of {sum(seats.values())} seats"
        yield from behind(scene, user)
