"""What logs say, in the report's JSON."""

from __future__ import annotations

from typing import Any

from apftop.records.logs import Caller, Logs
from apftop.report.numbers import number

MOST_CALLERS = 100
"""So many callers are listed, most requests first; `logs` says how many there are."""

Json = dict[str, Any]


def logs_json(logs: Logs) -> Json:
    """The keys `client_log`, `callers` and `logs`; the first is null where no client log was given."""
    client = logs.client
    return {
        "client_log": {
            "lines": client.lines,
            "max_wait_s": number(client.max_wait_s),
            "sum_wait_s": number(client.sum_wait_s),
        }
        if client
        else None,
        "callers": [_caller(one) for one in logs.callers[:MOST_CALLERS]],
        "logs": {
            "requests": logs.entries,
            "seconds": number(logs.seconds),
            "callers": len(logs.callers),
            "denied": [
                {"server": one.server or None, "user": one.user, "resource": one.resource, "lines": one.lines}
                for one in logs.denied
            ],
        },
    }


def _caller(caller: Caller) -> Json:
    """What a log does not tell is null."""
    return {
        "user": caller.user or None,
        "user_agent": caller.user_agent or None,
        "source": caller.source or None,
        "flow_schema": caller.schema or None,
        "priority_level": caller.level or None,
        "requests": caller.requests,
        "refused": caller.refused,
        "queued": {
            "requests": caller.queued,
            "sum_s": number(caller.queued_s),
            "max_s": number(caller.max_queued_s) if caller.queued else None,
        },
        "kinds": dict(sorted(caller.kinds.items(), key=lambda pair: (-pair[1], pair[0]))),
    }
