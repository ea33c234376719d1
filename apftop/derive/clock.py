"""The server's clock at a dump of requests: without it no age can be told."""

from __future__ import annotations

from apftop.derive.own import dump_rows
from apftop.records.frame import Clock
from apftop.records.measures import NANOSECONDS
from apftop.records.parsed import Dump, RequestRow
from apftop.records.state import Read
from apftop.rules import rules


def clock(read: Read[Dump[RequestRow]] | None) -> Clock:
    """The server's time at the dump, from the best source: as noted, our own row, `Date`, the taker's stamp."""
    if read is None:
        return Clock(None, "no dump of requests", None, None)
    local = read.measured
    if read.server_time is not None:
        return Clock(read.server_time, "dump_time as noted with the dump", 0.0, None)
    rows = dump_rows(read.data.rows)
    if rows:
        # Of several readers the latest is nearest to the moment of the dump.
        arrived = max(row.arrive_ns for row in rows) / NANOSECONDS
        trip = (read.received - read.sent) / 2 if read.sent is not None and read.received is not None else None
        return Clock(arrived, "the arrival of the dump's own request", trip, None if local is None else local - arrived)
    if read.server_date is not None:
        skew = None if local is None else local - read.server_date
        return Clock(read.server_date, "the answer's Date header", rules().clock.date_tolerance_s, skew)
    if read.noted is not None:
        return Clock(read.noted, "the time noted with the bundle, taken for the server's", None, None)
    if local is not None:
        return Clock(local, "this machine's clock, taken for the server's", None, None)
    return Clock(None, "no Date header and no row of our own: ages are unreliable", None, None)
