"""Times noted with a bundle: scrape.json for the samples, http_meta.json for single answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

import msgspec

from apftop.errors import one_line
from apftop.http_text import http_date
from apftop.other_body import UTF8_BOM

# From before Kubernetes to long after this code: milliseconds and other slips lie outside.
EARLIEST, LATEST = 0.0, 4102444800.0
UNREADABLE = (msgspec.DecodeError, RecursionError)
"""What decoding of hostile notes raises."""


@dataclass(frozen=True, slots=True)
class Times:
    """When the samples were taken, Unix seconds, and of whom in words where that was noted.

    `shown` is False where only their distance is known. `redacted` is the version that replaced the names, if one did.
    """

    t0: float | None = None
    t1: float | None = None
    interval_s: float | None = None
    dump_time: float | None = None
    shown: bool = True
    source: str = ""
    redacted: str = ""


UNTIMED = Times()
"""Where nothing was noted."""


@dataclass(frozen=True, slots=True)
class Noted:
    """The times of one answer, Unix seconds."""

    date: float | None = None
    sent: float | None = None
    received: float | None = None


@dataclass(frozen=True, slots=True)
class Meta:
    """The entries of http_meta.json by file, replica, or `replica/file`."""

    entries: Mapping[str, Noted] = field(default_factory=dict)

    def of(self, replica: str, file: str) -> Noted:
        for key in (f"{replica}/{file}", file, replica):
            if key in self.entries:
                return self.entries[key]
        return Noted()


class _Scrape(msgspec.Struct, frozen=True):
    t0: str | float | None = None
    t1: str | float | None = None
    interval_s: float | None = None
    dump_time: str | float | None = None
    source: str = ""
    redacted: str = ""


class _Entry(msgspec.Struct, frozen=True, rename={"date": "Date"}):
    date: str = ""
    local_sent: str | float | None = None
    local_received: str | float | None = None


def read_times(body: bytes | None, origin: str, problems: list[str]) -> Times:
    """Read scrape.json; what is wrong in it is named in `problems` and left out."""
    if body is None:
        return Times()
    try:
        noted = msgspec.json.decode(body.removeprefix(UTF8_BOM), type=_Scrape)
    except UNREADABLE as error:
        problems.append(f"{origin}: {error}; times are unknown")
        return Times()
    return replace(_times(noted, origin, problems), source=one_line(noted.source), redacted=one_line(noted.redacted))


def _times(noted: _Scrape, origin: str, problems: list[str]) -> Times:
    t0, t1, dump_time = (_stamp(value, origin, problems) for value in (noted.t0, noted.t1, noted.dump_time))
    interval = noted.interval_s
    if t0 is not None and t1 is not None:
        if t1 <= t0:
            problems.append(f"{origin}: t1 is not after t0; both are left out")
            return Times(dump_time=dump_time)
        if interval is not None and abs(t1 - t0 - interval) > 0.5:
            problems.append(
                f"{origin}: interval_s is {interval:g}, but t0 and t1 are {t1 - t0:g} s apart, which is used"
            )
        return Times(t0, t1, t1 - t0, dump_time)
    if interval is None or interval <= 0:
        return Times(t0, t1, None, dump_time)
    if t0 is None and t1 is None:
        return Times(0.0, interval, interval, dump_time, shown=False)
    t0 = t0 if t0 is not None else (t1 or 0.0) - interval
    return Times(t0, t0 + interval, interval, dump_time)


def read_meta(body: bytes | None, problems: list[str]) -> Meta:
    """Read http_meta.json: `{NAME: {Date, local_received, local_sent}}`."""
    if body is None:
        return Meta()
    try:
        noted = msgspec.json.decode(body.removeprefix(UTF8_BOM), type=dict[str, _Entry])
    except UNREADABLE as error:
        problems.append(f"http_meta.json: {error}")
        return Meta()
    return Meta(
        {
            name.removesuffix(".gz"): Noted(
                http_date(entry.date),
                _stamp(entry.local_sent, "http_meta.json", problems),
                _stamp(entry.local_received, "http_meta.json", problems),
            )
            for name, entry in noted.items()
        }
    )


def read_stamp(text: str) -> float | None:
    """Unix seconds of an RFC 3339 time; None for anything else, and for a time without a zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo else None


def _stamp(value: str | float | None, origin: str, problems: list[str]) -> float | None:
    if value is None:
        return None
    stamp = read_stamp(value) if isinstance(value, str) else value
    if stamp is not None and not EARLIEST < stamp < LATEST:
        problems.append(f"{origin}: {value!r} is no time of a Kubernetes server; Unix times are in seconds")
        return None
    if stamp is None:
        problems.append(f"{origin}: {str(value)[:40]!r} is not a time with a zone, such as 2026-04-12T10:03:00Z")
    return stamp
