"""The typed cells of the debug dumps: integers, booleans, times, durations and seat-seconds, all read exactly."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TypeVar

NANOSECONDS = 1_000_000_000
ZERO_TIME = "0001-01-01T00:00:00Z"

_INTEGER = re.compile(r"-?[0-9]+")
_NAME = re.compile(r"[^\s,]+")
_SECOND = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})")
_TIME = re.compile(r"(.{19})(?:\.([0-9]{1,9}))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))")
_LONG_DURATION = re.compile(r"(-?)(?:([0-9]+)h)?(?:([0-9]+)m)?([0-9]+)(?:\.([0-9]{1,9}))?s")
_SHORT_DURATION = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(ms|µs|μs|us|ns)")
_SEAT_SECONDS = re.compile(r"(-?[0-9]+)\.([0-9]{8})ss")
_DECIMALS = {"ms": 6, "µs": 3, "μs": 3, "us": 3, "ns": 0}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_Value = TypeVar("_Value")


class Remembered(dict[str, _Value]):
    """Values by their text, each read once; equal values share one object."""

    def __init__(self, read: Callable[[str], _Value]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, text: str) -> _Value:
        self[text] = value = self._read(text)
        return value


def integer(text: str) -> int:
    """A decimal integer; raises ValueError for anything else, also for what `int` takes beyond that."""
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"{text!r} is not an integer")
    return int(text)


def name(text: str) -> str:
    """The name of a level or schema; raises ValueError where it is empty or holds blanks or a comma."""
    if not _NAME.fullmatch(text):
        raise ValueError(f"{text!r} is not a name")
    return text


def boolean(text: str) -> bool:
    """`true` or `false`; raises ValueError for anything else."""
    if text == "true":
        return True
    if text == "false":
        return False
    raise ValueError(f"{text!r} is neither true nor false")


def unix_ns(text: str) -> int:
    """An RFC 3339 time with up to 9 fractional digits, in Unix nanoseconds; raises ValueError."""
    if len(text) == 30 and text[19] == "." and text[29] == "Z":
        fraction = text[20:29]
        if fraction.isdecimal() and fraction.isascii():
            return _second(text[:19]) * NANOSECONDS + int(fraction)
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not an RFC 3339 time")
    second, digits, sign, hours, minutes = match.groups()
    ahead = (int(hours) * 3600 + int(minutes) * 60) * (-1 if sign == "-" else 1) if sign else 0
    return (_second(second) - ahead) * NANOSECONDS + int((digits or "").ljust(9, "0"))


@lru_cache(maxsize=4096)
def _second(text: str) -> int:
    match = _SECOND.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not an RFC 3339 time")
    year, month, day, hour, minute, second = map(int, match.groups())
    return (datetime(year, month, day, hour, minute, second, tzinfo=UTC) - _EPOCH) // timedelta(seconds=1)


def duration_ns(text: str) -> int:
    """A duration as Go prints it (`1h2m3.5s`, `5ms`, `833.333µs`), in nanoseconds; raises ValueError."""
    long = _LONG_DURATION.fullmatch(text)
    if long is not None:
        sign, hours, minutes, seconds, digits = long.groups()
        whole = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds)
        value = whole * NANOSECONDS + int((digits or "").ljust(9, "0"))
        return -value if sign else value
    short = _SHORT_DURATION.fullmatch(text)
    if short is None or len(short[3] or "") > _DECIMALS[short[4]]:
        raise ValueError(f"{text!r} is not a duration")
    sign, units, digits, unit = short.groups()
    value = int(units + (digits or "").ljust(_DECIMALS[unit], "0"))
    return -value if sign else value


def seat_seconds(text: str) -> int:
    """Seat-seconds such as `1523.40012500ss`, in whole units of 1e-8 seat-second; raises ValueError."""
    match = _SEAT_SECONDS.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a number of seat-seconds")
    return int(match[1] + match[2])
