"""An examination as JSON: fixed names, unknown is null, versioned by `schema`."""

from __future__ import annotations

from typing import Any

from apftop import __version__
from apftop.doctor.examination import Answer, Examination, Examined
from apftop.doctor.grants import grant, missing
from apftop.report.looking import Servers
from apftop.report.numbers import number, when

SCHEMA = "apftop.doctor/1"

Json = dict[str, Any]


def document(found: Examination, at: Servers, who: str) -> Json:
    """The whole of it. Seconds, bytes, and shares of a core of the server."""
    return {
        "schema": SCHEMA,
        "apftop": __version__,
        "source": at.source,
        "credentials": who,
        "well": found.well,
        "discovery": {"looked_for": at.way is not None, "found": at.found, "notes": list(at.notes)},
        "alive_by_leases": found.alive,
        "hidden": found.hidden,
        "leases": _answer(found.leases),
        "endpointslices": _answer(found.slices),
        "replicas": {server.replica.name: _server(server) for server in found.servers},
        "missing": list(missing(found)),
        "grant": grant(found) or None,
    }


def _server(server: Examined) -> Json:
    access, replica, plan = server.access, server.replica, server.plan
    return {
        "url": access.url,
        "tls": {
            "name": access.server_hostname,
            "verified": access.url.startswith("https:") and not access.insecure,
            "certificate_sha256": replica.peer or None,
        },
        "version": server.version,
        "kind": replica.kind,
        "apf": replica.apf,
        "started": when(replica.started),
        "user": server.user,
        "endpoints": {answer.endpoint.value: _answer(answer) for answer in server.answers},
        "clock": {
            "skew_s": number(replica.clock.skew_s),
            "tolerance_s": number(replica.clock.tolerance_s),
            "known_from": replica.clock.known_from,
        },
        "own": _own(server),
        "polling": {
            "bytes_per_s_estimated": number(server.bytes_per_s),
            "cost_share_estimated": number(plan.cost_share),
            "every_s": {endpoint.value: number(every_s) for endpoint, every_s in plan.every_s.items()},
            "with_metrics": [endpoint.value for endpoint in plan.with_metrics],
            "left_out": {endpoint.value: why for endpoint, why in plan.left_out.items()},
        },
        "borrowing": replica.borrowing,
        "nan_levels": list(replica.nan_levels),
        "rules": list(replica.corrections),
        "cannot_fill": list(replica.cannot_fill),
        "unknown": {"families": list(replica.unknown_families), "columns": list(replica.unknown_columns)},
        "problems": list(server.problems),
    }


def _own(server: Examined) -> Json:
    own = server.replica.own
    level = server.replica.levels.get(own.level or "")
    return {
        "flow_schema": own.schema,
        "priority_level": own.level,
        "level_state": level.state if level else None,
        "sent": own.sent,
        "refused": own.rejected,
        "advice": server.advice or None,
    }


def _answer(answer: Answer | None) -> Json | None:
    if answer is None:
        return None
    return {
        "status": answer.status,
        "error": answer.error or None,
        "bytes": answer.wire_bytes,
        "first_byte_s": number(answer.first_byte_s),
        "whole_s": number(answer.whole_s),
        "format": answer.form or None,
        "name_honoured": answer.by_name,
    }
