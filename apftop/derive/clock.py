"""The server's clock at a dump of requests: without it no age can be told."""

from __future__ import annotations

from apftop.derive.own import dump_rows
from apftop.records.frame import Clock
from apftop.records.measures import NANOSECONDS
from apftop.records.parsed import Dump, RequestRow
from apftop.records.state import Read
from apftop.rules import rules


def _begun_ns(row: RequestRow) -> int:
    return row.arrive_ns if row.start_ns is None else row.start_ns


def clock(read: Read[Dump[RequestRow]] | None) -> Clock:
    """The server's time at the dump, from the best source: as noted, our own row, `Date`, the taker's stamp.

    Our own question may have waited in a queue like any other: the dump was taken once it started.
    """
    if read is None:
        return Clock(None, "no dump of requests", None, None)
    local = read.measured
    if read.server_time is not None:
        return Clock(read.server_time, "dump_time as noted with the dump", 0.0, None)
    rows = dump_rows(read.data.rows)
    if rows:
        # Of several readers the latest is nearest to the moment of the dump.
        own = max(rows, key=_begun_ns)
        begun = _begun_ns(own) / NANOSECONDS
        waited = begun - own.arrive_ns / NANOSECONDS if len(rows) == 1 else 0.0
        trip = None if read.sent is None or read.received is None else max(0.0, read.received - read.sent - waited) / 2
        skew = None if local is None else local + waited / 2 - begun
        return Clock(begun, "the start of the dump's own request", trip, skew)
    if read.server_date is not None:
        skew = None if local is None else local - read.server_date
        return Clock(read.server_date, "the answer's Date header", rules().clock.date_tolerance_s, skew)
    if read.noted is not None:
        return Clock(read.noted, "the time noted with the bundle, taken for the server's", None, None)
    if local is not None:
        return Clock(local, "this machine's clock, taken for the server's", None, None)
    return Clock(None, "no Date header and no row of our own: ages are unreliable", None, None)
