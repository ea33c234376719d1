"""Classified requests as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apftop.records.classified import Classified, Tried


def told(found: Iterable[Classified]) -> dict[str, list[str]]:
    """By request: schema, level, distinguisher; empty texts where flow control does not see the request."""
    return {one.asked.name: [one.schema, one.level, one.distinguisher] for one in found}


def document(one: Classified) -> dict[str, Any]:
    """All that is known of one classified request."""
    request = one.asked.request
    return {
        "name": one.asked.name,
        "user": request.user,
        "groups": list(request.groups),
        "verb": request.verb,
        "path": request.path or None,
        "api_group": request.api_group if request.resource_request else None,
        "resource": request.target or None,
        "namespace": request.namespace or None,
        "notes": list(one.asked.notes),
        "seen": one.seen,
        "flow_schema": one.schema or None,
        "priority_level": one.level or None,
        "distinguisher": one.distinguisher if one.seen else None,
        "hash": None if one.hash is None else f"{one.hash:016x}",
        "hand": list(one.hand),
        "seats": {"low": one.seats[0], "high": one.seats[1], "why": one.seats_why} if one.seen else None,
        "wait_limit": {"seconds": one.limit_s, "why": one.limit_why} if one.seen else None,
        "tried": [_tried(each) for each in one.tried],
    }


def _tried(one: Tried) -> dict[str, Any]:
    return {
        "flow_schema": one.schema,
        "priority_level": one.level,
        "precedence": one.precedence,
        "outcome": one.outcome,
        "why": list(one.why),
    }
