"""What the rows of a dump of requests must keep to: seats, widths, ages."""

from __future__ import annotations

from collections.abc import Sequence

from apftop.apf.allocation import SEAT_CAP
from apftop.apf.allocation import seat_cap as cap_of_level
from apftop.apf.release import holds
from apftop.check.in_force import in_force_s
from apftop.check.judge import judged, unknown
from apftop.check.window import Instant, LevelWindow
from apftop.derive.waits import wait_limit as limit_of_waits
from apftop.records.checks import Check
from apftop.records.measures import NANOSECONDS
from apftop.records.parsed import RequestRow
from apftop.rules import rules

LISTS = ("list", "watch")
"""Only these may be wider than `SEAT_CAP`, since 1.34."""


def seats_within_limit(window: LevelWindow) -> Check | None:
    """Seats of the requests that execute <= current limit, at each dump (since 1.28).

    One that is wider than the limit may execute alone; with a limit of 0 any may, on a level that rejects. A limit may
    fall below what executes: then nothing starts, so that a dump with more tells something only if the limit has stood
    since before the last of its requests started, and until the dump. Does not apply to the exempt level, nor up to
    1.27, whose dump lists waiting requests only.
    """
    law, seconds = "seats-within-limit", window.seconds or None
    if window.exempt:
        return None
    if all(one.rows is None for one in window.instants):
        return unknown(law, "a dump of requests", seconds=seconds)
    if all(one.executing is None for one in window.instants):
        return None
    found: list[tuple[int, float]] = []
    doubtful = False
    for number, one in enumerate(window.instants):
        rows, limit = one.executing, one.level.current
        if not rows or limit is None:
            continue
        taken = sum(row.width for row in rows)
        stood = _stood_since(window, number, "current") if _stands_at_dump(window, number) else None
        if taken <= limit or (len(rows) > 1 and _started_since(rows, stood)):
            found.append((taken, limit))
        doubtful |= taken > limit and len(rows) > 1
    if not found:
        missing = (
            "a limit that stood since the last of them started"
            if doubtful
            else "requests that execute, but for one alone"
        )
        return unknown(law, missing, seconds=seconds)
    taken, limit = max(found, key=lambda one: one[0] - one[1])
    return judged(
        law,
        taken,
        None,
        limit,
        0.0,
        "seats",
        seconds=seconds,
        about=f"the fullest of {len(found)} dumps",
        reason="more seats are taken than the limit allows: the server enforces another one than it tells",
    )


def seat_cap(window: LevelWindow) -> Check | None:
    """No request is wider than its level allows: initial and final seats are capped when it comes (1.26 to 1.37).

    What comes before the nominal limit, or the level's object, last changed may be wider.
    """
    law, seconds = "seat-cap", window.seconds or None
    if all(one.rows is None for one in window.instants):
        return unknown(law, "a dump of requests", seconds=seconds)
    if window.config is None or window.last.point.release is None:
        missing = "the level's object" if window.config is None else "the server's release"
        return unknown(law, missing, seconds=seconds)
    found: list[tuple[int, int]] = []
    doubtful = False
    for number, one in enumerate(window.instants):
        widest = _cap(one, window.name)
        if widest is None:
            continue
        for row in one.rows or ():
            cap = widest if row.details is None or row.details.verb in LISTS else min(widest, SEAT_CAP)
            if row.width <= cap or _came_since(row, _capped_since(window, number)):
                found.append((row.width, cap))
            else:
                doubtful = True
    if not found:
        missing = "requests that came since the cap last changed" if doubtful else "a request in a dump"
        return unknown(law, missing, seconds=seconds)
    width, cap = max(found, key=lambda one: one[0] - one[1])
    return judged(
        law,
        width,
        None,
        cap,
        0.0,
        "seats",
        seconds=seconds,
        about=f"the widest of {len(found)} rows",
        reason="a request is wider than its level allows: the object or the nominal limit are not those of the server",
    )


def wait_limit(window: LevelWindow) -> Check | None:
    """Nobody waits longer than the limit, of which only the cap is sure: 1 minute (since 1.28.5 and 1.29.0).

    Below it the limit is an assumption, since --request-timeout may be another than the default, and some requests have
    a `timeout` of their own: what lies between the two is unknown. Up to 1.28.4 who has waited too long leaves when
    another one comes to the same queue. Does not apply to levels without queues.
    """
    law, seconds, terms = "wait-limit", window.seconds or None, rules().wait
    if window.queueless:
        return None
    release = window.last.point.release
    if release is None:
        return unknown(law, "the server's release", seconds=seconds)
    if not holds(release, terms.limit_cap_holds):
        return unknown(law, "a limit that is enforced by itself: it is since 1.28.5", seconds=seconds)
    ages = [
        one.dump_s - row.arrive_ns / NANOSECONDS
        for one in window.instants
        if one.dump_s is not None
        for row in one.waiting or ()
    ]
    if not ages:
        dumps = any(one.rows is not None and one.dump_s is not None for one in window.instants)
        return unknown(law, "a request that waits" if dumps else "a dump of requests", seconds=seconds)
    waits = window.rise("waits") if window.seconds > 0 else None
    limits = limit_of_waits(release, None, None, 0), limit_of_waits(release, None, waits, int(window.unserved))
    limit, oldest_s, slack_s = max(limits, key=lambda one: one.seconds), max(ages), rules().clock.age_slack_s
    sure = oldest_s > terms.limit_cap_s + slack_s
    if oldest_s > limit.seconds + slack_s and not sure:
        told = f"one has waited {oldest_s:.0f} s, over the {limit.seconds:g} s that are assumed"
        return unknown(law, f"the server's --request-timeout: {told}", seconds=seconds)
    return judged(
        law,
        oldest_s,
        None,
        terms.limit_cap_s if sure else limit.seconds,
        slack_s,
        "s",
        seconds=seconds,
        about=f"the oldest of {len(ages)} rows" + ("" if sure else f"; by {limit.assumed_from}"),
        reason="a request waits longer than any server lets it: the server's clock was set, or it is out of CPU",
    )


def _cap(one: Instant, level: str) -> int | None:
    """The most seats of a LIST that comes now."""
    return cap_of_level(one.point.config(level), one.level.nominal, one.point.release, one.point.size_based)


def _capped_since(window: LevelWindow, number: int) -> float | None:
    """Since when requests are surely capped as they are at an instant; Unix seconds of the server's clock."""
    if window.config is not None and window.config.queuing is None and window.same_config:
        return 0.0
    stood, in_force = _stood_since(window, number, "nominal"), in_force_s(window)
    return None if stood is None or in_force is None else max(stood, in_force)


def _stood_since(window: LevelWindow, number: int, gauge: str) -> float | None:
    """Since when a gauge has surely been what it is at an instant: the first answer of metrics that had it so.

    Between answers that are further apart than adjustments it may have moved and moved back.
    """
    since, value = window.instants[number].metrics_s, getattr(window.instants[number].level, gauge)
    if value is None:
        return None
    for one in reversed(window.instants[:number]):
        if getattr(one.level, gauge) != value or since is None or one.metrics_s is None:
            break
        if since - one.metrics_s > rules().check.seats.longest_step_s:
            break
        since = one.metrics_s
    return since


def _stands_at_dump(window: LevelWindow, number: int) -> bool:
    """Whether the current limit of an instant surely was that of its dump of requests.

    Where the dump came after the metrics it may have moved in between, unless the next metrics have it so too.
    """
    one, later = window.instants[number], window.instants[number + 1 : number + 2]
    if one.dump_s is None or one.metrics_s is None:
        return False
    if one.dump_s <= one.metrics_s:
        return True
    return any(
        after.level.current == one.level.current
        and after.metrics_s is not None
        and one.dump_s <= after.metrics_s <= one.metrics_s + rules().check.seats.longest_step_s
        for after in later
    )


def _started_since(rows: Sequence[RequestRow], since: float | None) -> bool:
    """Whether the last of these has started since then."""
    starts = [row.start_ns for row in rows if row.start_ns is not None]
    return since is not None and bool(starts) and max(starts) / NANOSECONDS > since + rules().check.waiting.lag_s


def _came_since(row: RequestRow, since: float | None) -> bool:
    return since is not None and row.arrive_ns / NANOSECONDS > since
