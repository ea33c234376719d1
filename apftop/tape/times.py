"""Times on a tape as people write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from apftop.apf.durations import go_duration_ns
from apftop.errors import Misuse

_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}(?:\.[0-9]+)?))?")


def time_on(text: str, span: tuple[float, float]) -> float:
    """A time of a tape of this span (Unix seconds): an hour of its days in UTC, a date with hour, or from its ends.

    `14:03` is the last such time on the tape, or the nearest to it; `-10m` is before its end, `+10m` after its
    beginning. Raises Misuse for anything else.
    """
    first, last = span
    text = text.strip()
    if text[:1] in ("+", "-") and (nanoseconds := go_duration_ns(text[1:])) is not None:
        return first + nanoseconds / 1e9 if text[0] == "+" else last - nanoseconds / 1e9
    if (clock := _CLOCK.fullmatch(text)) is not None:
        hour, minute, second = int(clock[1]), int(clock[2]), float(clock[3] or 0)
        if hour < 24 and minute < 60 and second < 60:
            return _nearest(hour * 3600 + minute * 60 + second, span)
    try:
        found = datetime.fromisoformat(text.replace(" ", "T"))
    except ValueError:
        todo = "write 14:03, 14:03:20, 2026-01-31T14:03:20Z, +10m or -10m"
        raise Misuse(f"{text!r} is no time on a tape", "", todo) from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _nearest(of_day: float, span: tuple[float, float]) -> float:
    """The last time of day within the span, else the one that is nearest to it."""
    first, last = span
    midnight = datetime.fromtimestamp(first, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    days = int((last - first) // 86400) + 3
    times = [(midnight + timedelta(days=day - 1)).timestamp() + of_day for day in range(days)]
    within = [time for time in times if first <= time <= last]
    return within[-1] if within else min(times, key=lambda time: min(abs(time - first), abs(time - last)))
