"""Who is in a level, out of the dump of requests."""

from __future__ import annotations

from collections.abc import Iterable

from apftop.derive.evidence import Evidence
from apftop.derive.flows import executing_seats_by, waiting_by
from apftop.records.frame import Inside, Request
from apftop.records.measures import Sampled


def inside(evidence: Evidence, level: str) -> Inside | None:
    """What the dump says of one level; None without a dump."""
    if evidence.requests is None:
        return None
    rows = load(evidence, level)
    flows = [flow for flow in evidence.flows_by_level.get(level, ()) if flow.waiting]
    executing = evidence.lists_executing
    return Inside(
        sampled=_sampled(rows) if executing else None,
        waiting_by_user=waiting_by(rows, "user"),
        executing_seats_by_user=executing_seats_by(rows, "user") if executing else None,
        waiting_by_kind=waiting_by(rows, "kind"),
        executing_seats_by_kind=executing_seats_by(rows, "kind") if executing else None,
        oldest_waiting_s=_oldest(row.age_s for row in rows if not row.executing),
        oldest_executing_s=_oldest(row.executing_s for row in rows if row.executing),
        flows_waiting=len(flows),
        max_waiting_per_flow=max((flow.waiting for flow in flows), default=0),
    )


def load(evidence: Evidence, level: str) -> tuple[Request, ...]:
    """The requests of one level without this tool's own."""
    return tuple(request for request in evidence.requests_by_level.get(level, ()) if not request.own)


def _sampled(rows: tuple[Request, ...]) -> Sampled:
    found = [row.wait_s for row in rows if row.wait_s is not None]
    return Sampled(len(found), max(found, default=None))


def _oldest(ages: Iterable[float | None]) -> float | None:
    return max((age for age in ages if age is not None), default=None)
