"""Classified requests as JSON; `schema.json` beside this file says what each key means."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apftop.apf.attributes import Attributes
from apftop.apf.matching import Miss
from apftop.classifying.words import field_of
from apftop.records.classified import Classified, Expected, Tried

SCHEMA = "apftop.classify/1"


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
        "query": one.asked.query or None,
        "api_group": request.api_group if request.resource_request else None,
        "resource": request.target or None,
        "namespace": request.namespace or None,
        "object": request.name or None,
        "notes": list(one.asked.notes),
        "seen": one.seen,
        "unseen": one.unseen or None,
        "flow_schema": one.schema or None,
        "priority_level": one.level or None,
        "distinguished_by": one.distinguished_by,
        "distinguisher": one.distinguisher if one.seen else None,
        "hash": None if one.hash is None else f"{one.hash:016x}",
        "hand": None if one.hand is None else list(one.hand),
        "queues": one.queues if one.seen else None,
        "seats": {"low": one.seats[0], "high": one.seats[1], "why": one.seats_why} if one.seen else None,
        "wait_limit": {"seconds": one.limit_s, "why": one.limit_why} if one.seen else None,
        "expected": None if one.expected is None else _expected(one.expected),
        "tried": [_tried(each, request) for each in one.tried],
    }


def _expected(one: Expected) -> dict[str, Any]:
    return {
        "flow_schema": one.schema,
        "met": one.met,
        "outcome": one.outcome,
        "why": list(one.why),
        "near_names": list(one.near),
    }


def _tried(one: Tried, request: Attributes) -> dict[str, Any]:
    return {
        "flow_schema": one.schema,
        "priority_level": one.level,
        "precedence": one.precedence,
        "outcome": one.outcome,
        "rule": one.rule,
        "why": list(one.why),
        "misses": [_miss(miss, request) for miss in one.misses],
    }


def _miss(miss: Miss, request: Attributes) -> dict[str, Any]:
    return {"field": field_of(miss, request), "wanted": list(miss.wanted), "got": miss.got}
