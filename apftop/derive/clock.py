"""The server's clock at a dump of requests: without it no age can be told."""

from __future__ import annotations

from apftop.records.frame import Clock
from apftop.records.parsed import Dump, RequestRow
from apftop.records.state import Read
from apftop.rules import rules

NANOSECONDS = 1e9
OWN_PATHS = ("/debug/api_priority_and_fairness/", "/metrics")
DUMP_REQUESTS_PATH = "/debug/api_priority_and_fairness/dump_requests"


def own_row(dump: Dump[RequestRow]) -> RequestRow | None:
    """The row of the request that fetched this very dump: the latest arrival of that path among those that execute."""
    rows = [row for row in dump.rows if row.executing and row.details and row.details.path == DUMP_REQUESTS_PATH]
    return max(rows, key=lambda row: row.arrive_ns, default=None)


def clock(read: Read[Dump[RequestRow]] | None) -> Clock:
    """The server's time at the dump, from the best source: as noted, our own row, `Date`, the taker's stamp."""
    if read is None:
        return Clock(None, "no dump of requests", None, None)
    local = read.time
    if read.server_time is not None:
        return Clock(read.server_time, "dump_time as noted with the dump", 0.0, None)
    row = own_row(read.data)
    if row is not None:
        arrived = row.arrive_ns / NANOSECONDS
        trip = (read.received - read.sent) / 2 if read.sent is not None and read.received is not None else None
        return Clock(arrived, "the arrival of the dump's own request", trip, None if local is None else local - arrived)
    if read.server_date is not None:
        skew = None if read.received is None else read.received - read.server_date
        return Clock(read.server_date, "the answer's Date header", rules().clock.date_tolerance_s, skew)
    if local is not None:
        return Clock(local, "this machine's clock, taken for the server's", None, None)
    return Clock(None, "no Date header and no row of our own: ages are unreliable", None, None)
