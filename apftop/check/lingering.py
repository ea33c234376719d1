"""Seats that are held beyond the end of a request: a write with many watchers keeps them until its events are out."""

from __future__ import annotations

from apftop.apf.allocation import SEAT_CAP, seat_cap
from apftop.apf.estimate import EVENT_NS, WATCHERS_PER_SEAT
from apftop.check.widths import Widths
from apftop.check.window import Instant, LevelWindow
from apftop.records.measures import NANOSECONDS


def lingering_s(window: LevelWindow, widths: Widths, ended: int) -> float | None:
    """The most seat-seconds that `ended` requests can have held beyond their ends; None where that is not known."""
    known = [one for one in (_by_width(window, widths, ended), _by_watchers(window)) if one is not None]
    return min(known, default=None)


def _by_watchers(window: LevelWindow) -> float | None:
    """By the watches that were counted for each write that came: it holds one seat for each 10 of them for 5 ms.

    Where a cap makes it narrower it holds what it has for longer, so that the product stays (1.26 to 1.37).
    """
    rise, ever = window.rise("watchers"), window.last.level.watchers
    waiting, executing, seats = (getattr(window.first.level, one) for one in ("waiting", "executing", "seats"))
    if rise is None or ever is None or rise.native_only or None in (waiting, executing, seats):
        return None
    filled = [bound for bound, count in zip(ever.bounds, ever.cumulative, strict=False) if count < ever.count]
    above = ever.bounds.index(filled[-1]) + 1 if filled else 0
    if ever.count and above == len(ever.bounds):
        return None
    # Of those that were there before it is known only how many watches any write ever had.
    before = _held_s(ever.bounds[above] if ever.count else 0.0, 1) * (waiting + executing + seats)
    return _held_s(rise.sum, rise.count) + float(before)


def _held_s(watches: float, writes: int) -> float:
    """Seat-seconds of so many writes with so many watches together: each is rounded up to a whole seat."""
    return (watches / WATCHERS_PER_SEAT + writes) * EVENT_NS / NANOSECONDS


def _by_width(window: LevelWindow, widths: Widths, ended: int) -> float | None:
    """By the widths of requests: a write has one seat for each 10 watchers and holds them for 5 ms (1.26 to 1.37).

    Where the cap makes it narrower it holds them for longer, which only rows of such requests tell.
    """
    longest_s = EVENT_NS / NANOSECONDS
    cap = min(_write_cap(window, one) for one in window.instants)
    most_s = min(widths.most, cap) * longest_s
    if widths.overlap(cap, SEAT_CAP):
        rows = [row for one in window.instants for row in one.rows or () if row.additional_latency_ns]
        if not rows:
            return None
        longest_s = max(longest_s, *(row.additional_latency_ns / NANOSECONDS for row in rows))
        most_s = max(most_s, *(row.width * row.additional_latency_ns / NANOSECONDS for row in rows))
    return ended * most_s + (window.first.level.seats or 0.0) * longest_s


def _write_cap(window: LevelWindow, one: Instant) -> int:
    """The most seats of one write, by the level's limit at one moment; 1 where it is not known."""
    return min(SEAT_CAP, seat_cap(one.point.config(window.name), one.level.nominal, one.point.release) or 1)
