"""How requests fare in a level now: whether they are delayed, or refused, beyond what is noise."""

from __future__ import annotations

from apftop.records.frame import Level, Schema
from apftop.records.measures import Counts, Waits, Window
from apftop.rules import rules


def judged(level: Level) -> bool:
    """Whether a level is one to judge by its load: it lives, and its seats can be had."""
    return level.state in ("idle", "busy", "saturated") and not level.quiescing


def hurts(level: Level) -> bool:
    """Whether requests are delayed or refused in a level that has limits."""
    return not level.exempt and level.state != "stale" and (refuses(level.window, level.counts) or delays(level))


def refuses(window: Window | None, counts: Counts | None) -> bool:
    """Whether more requests were refused over the window than one client that gives up explains."""
    limits = rules().findings.load
    if counts is None or not _long_enough(window):
        return False
    share = counts.refused_share
    return counts.rejected_total >= limits.refused_least and share is not None and share > limits.refused_share


def delays(level: Level) -> bool:
    """Whether requests wait, by all that is known: their mean over the window, or those that wait now."""
    limits = rules().findings.load
    queue, wait = mean_queue(level.waits, level.window), mean_wait_s(level.waits)
    felt = wait is not None and (wait >= limits.felt_s or (full_share(level) or 0.0) >= limits.full_share)
    if felt and queue is not None and queue > limits.queue and _long_enough(level.window):
        return True
    if level.waiting is None or level.waiting <= limits.queue:
        return False
    oldest = level.inside.oldest_waiting_s if level.inside is not None else None
    return oldest is not None and oldest >= limits.long_s


def _long_enough(window: Window | None) -> bool:
    return window is not None and window.seconds >= rules().findings.load.least_window_s


def full_share(level: Level) -> float | None:
    """The share of the window in which all seats were taken; None where only the life of the level is known."""
    full = level.utilization
    return None if full is None or full.lifetime else full.gt_99


def full(level: Level) -> bool:
    """Whether the seats of a level are all taken: for much of the window, or now where only that is known.

    A level that refuses on arrival is full whenever it does so (1.26 to 1.37).
    """
    share = full_share(level)
    if share is not None and share >= rules().state.saturated_share_of_time:
        return True
    if level.counts is not None and refuses(level.window, level.counts) and on_arrival(level.counts):
        return True
    if level.current is None or level.seats_in_use is None or level.current <= 0:
        return False
    return level.seats_in_use >= level.current and (share is None or share >= rules().findings.load.full_least)


def on_arrival(counts: Counts) -> float:
    """Requests that were refused at once, since the seats and their queue were full."""
    return sum(number for reason, number in counts.rejected.items() if reason not in ("time-out", "cancelled"))


def mean_wait_s(waits: Waits | None) -> float | None:
    """The mean wait of served requests, at least."""
    if waits is None:
        return None
    return waits.mean_bounds_s[0] if waits.mean_s is None and waits.mean_bounds_s is not None else waits.mean_s


def mean_queue(waits: Waits | None, window: Window | None) -> float | None:
    """How many of the served requests waited on average, at least: waits a second, by Little's law."""
    wait = mean_wait_s(waits)
    if waits is None or window is None or wait is None:
        return None
    return window.per_s(waits.executed * wait)


def schema_hurts(schema: Schema) -> bool:
    """Whether requests of one schema are delayed or refused over the window."""
    limits = rules().findings.load
    if refuses(schema.window, schema.counts):
        return True
    queue, wait = mean_queue(schema.waits, schema.window), mean_wait_s(schema.waits)
    return queue is not None and wait is not None and queue > limits.queue and wait >= limits.felt_s
