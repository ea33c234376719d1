"""What structured log lines say: keys and values of klog, zap, logr and JSON, Go's durations, and klog's clock."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import msgspec

from apftop.apf.durations import go_duration_ns

_PAIR = re.compile(r'(?<![\w-])([A-Za-z_][\w-]*)"?\s*[=:]\s*("[^"\\]*(?:\\.[^"\\]*)*"|[^\s",}]+)')
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_KLOG = re.compile(r"[IWEF](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{6}) ")
_TS = re.compile(r'"ts":\s*(\d{9,}(?:\.\d+)?)')
# Below it a number without a unit can only be seconds, above it only nanoseconds: nobody waits for a year.
_NANOSECONDS_FROM = 3e7
# Below it a number can only be Unix seconds, above it only milliseconds.
_MILLISECONDS_FROM = 1e11


def pairs(line: str) -> dict[str, str]:
    """Keys and values as in `key="text" key=1`, `"key": "text"` or `"key"="text"`; the first of equal keys counts.

    Text in quotes is one value, whatever it holds.
    """
    found: dict[str, str] = {}
    for key, value in _PAIR.findall(line):
        found.setdefault(key, _unquoted(value))
    return found


def _unquoted(value: str) -> str:
    if not value.startswith('"'):
        return value
    if "\\" not in value:
        return value[1:-1]
    try:
        return msgspec.json.decode(value.encode(), type=str)
    except (msgspec.DecodeError, UnicodeEncodeError):
        # Go's own escapes, such as \x1b, stay as they are.
        return value[1:-1]


def duration(text: str) -> float | None:
    """Seconds of a duration as Go prints it (1m2.3s, 350ms, 1.5µs), None for any other text, and below zero."""
    nanoseconds = go_duration_ns(text)
    return None if nanoseconds is None or nanoseconds < 0 else nanoseconds / 1e9


def delay(text: str) -> float | None:
    """Seconds of a duration field: Go's text, or a number of seconds (zap) or nanoseconds (slog)."""
    if _NUMBER.fullmatch(text):
        number = float(text)
        return number / 1e9 if number >= _NANOSECONDS_FROM else number
    return duration(text)


def clock(line: str) -> float | None:
    """When a line was written: seconds on a clock of its own, since klog tells neither the year nor the zone."""
    found = _KLOG.search(line)
    if found:
        month, day, hour, minute, second, micros = map(int, found.groups())
        try:
            # A leap year has all days.
            return datetime(2000, month, day, hour, minute, second, micros, UTC).timestamp()
        except ValueError:
            return None
    found = _TS.search(line)
    if not found:
        return None
    stamp = float(found[1])
    return stamp / 1000 if stamp >= _MILLISECONDS_FROM else stamp


class Span:
    """The time from the first to the last of something."""

    def __init__(self) -> None:
        self._first: float | None = None
        self._last: float | None = None

    def add(self, time: float | None) -> None:
        """Note one moment, if it is known."""
        if time is not None:
            self._first = time if self._first is None else min(self._first, time)
            self._last = time if self._last is None else max(self._last, time)

    def seconds(self) -> float | None:
        """Seconds, None if unknown; a log that goes over New Year, or mixes clocks, has none."""
        if self._first is None or self._last is None or self._last - self._first > _HALF_A_YEAR_S:
            return None
        return round(self._last - self._first, 6)


_HALF_A_YEAR_S = 182 * 86400.0
