"""When the current limit of a level moved, between two answers of metrics that have it differently."""

from __future__ import annotations

from apftop.apf.forecast import LimitMove
from apftop.check.load import ages_s
from apftop.check.missing import needed
from apftop.check.window import Instant, rise, waited_ns
from apftop.records.measures import NANOSECONDS
from apftop.rules import rules


def limit_move(before: Instant, after: Instant, start_ns: int, end_ns: int) -> LimitMove | None:
    """The move between two instants, from `start_ns` to `end_ns` (server's clock); None if the limit is the same.

    Limits move each 10 s, at a moment that nobody tells: at any of the interval, unless the seats served tell it. While
    something waits all seats of the limit are taken, so that with `s` seat-seconds served in `t` seconds it moved from
    `a` to `b` after (b t - s) / (b - a) seconds; before that, if it rose, by as much as there were seats free. Where
    there were no seats, those that wait did so until there were. Raises Missing where the limit is unknown.
    """
    was, now = (int(needed(one.level.current, "the current limit")) for one in (before, after))
    if was == now:
        return None
    seconds = (end_ns - start_ns) / NANOSECONDS
    least, most = _after_s(before, after, was, now, seconds)
    slack = rules().check.band.move_share * seconds
    earliest, latest = (min(max(at, 0.0), seconds) for at in (least - slack, most + slack))
    return LimitMove(now, start_ns + round(earliest * NANOSECONDS), start_ns + round(latest * NANOSECONDS))


def _after_s(before: Instant, after: Instant, was: int, now: int, seconds: float) -> tuple[float, float]:
    """After how many seconds it moved at the earliest and at the latest, by what was served."""
    execution, widths = (rise(before, after, name) for name in ("execution", "widths"))
    waiting_ns = waited_ns(before, after)
    ages = None if after.executing is None or after.dump_s is None else ages_s(after) - ages_s(before)
    if execution is None or widths is None or waiting_ns is None or ages is None or not widths.count:
        return 0.0, seconds
    served = (execution.sum + ages) * widths.sum / widths.count
    waited = waiting_ns / NANOSECONDS
    free = max(0.0, seconds - waited)
    full, partly = ((now * busy - served) / (now - was) for busy in (seconds, seconds - free))
    if now < was:
        partly = (served + was * free - now * seconds) / (was - now)
    least, most = min(full, partly), max(full, partly)
    return least, min(most, waited) if not was and before.waiting else most
