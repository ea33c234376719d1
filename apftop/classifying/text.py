"""A classified request for a person: where it goes, what it costs, how long it may wait, and why not elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from apftop.apf.attributes import Attributes
from apftop.present import plain, seconds
from apftop.records.classified import Classified, Tried

HEARD = {"matched": "matches", "missed": "no", "dangling": "ignored", "after": "behind the match"}


def lines(one: Classified, expect: str = "") -> Iterator[str]:
    """One request; with an expected schema, first whether it is that one and why not."""
    yield plain(one.asked.name)
    yield f"  {asked_text(one.asked.request)}"
    yield from (f"  taken for granted: {plain(note)}" for note in one.asked.notes)
    if not one.seen:
        yield "  flow control does not see it: requests that last, other than watches, take no seat and never wait"
        return
    if expect:
        yield f"  {_expected(one, expect)}"
    yield f"  flow schema     {plain(one.schema)}"
    yield f"  priority level  {plain(one.level)}"
    yield f"  flow            {_flow(one)}"
    if one.hand:
        yield f"  hand            queues {', '.join(map(str, one.hand))} (hash {one.hash:016x})"
    least, most = one.seats
    yield f"  seats           {least if least == most else f'{least} to {most}'}: {one.seats_why}"
    limit = "never waits" if one.limit_s is None else f"waits at most {seconds(one.limit_s)}"
    yield f"  wait limit      {limit}: {one.limit_why}"
    yield "  tried, in this order:"
    for tried in one.tried:
        yield from _tried(tried)


def asked_text(request: Attributes) -> str:
    """Who asks for what, in one line."""
    if request.resource_request:
        group = f".{request.api_group}" if request.api_group else ""
        where = f" in namespace {request.namespace}" if request.namespace else ", not in one namespace"
        what = f"{request.verb} {request.target}{group}{where}"
    else:
        what = f"{request.verb} {request.path}"
    groups = ", ".join(request.groups) or "no group"
    return plain(f"{what}, as {request.user} ({groups})")


def _flow(one: Classified) -> str:
    if one.hash is None:
        return "none told apart: the level has at most one queue"
    return plain(one.distinguisher) or "all of the schema's requests are one flow"


def _expected(one: Classified, expect: str) -> str:
    if one.schema == expect:
        return f"it is {plain(expect)}, as expected"
    found = next((tried for tried in one.tried if tried.schema == expect), None)
    if found is None:
        return f"not {plain(expect)}: there is no such schema"
    return f"not {plain(expect)}: {'; '.join(found.why)}"


def _tried(one: Tried) -> Iterator[str]:
    yield f"    {one.precedence:>5}  {plain(one.schema)} -> {plain(one.level)}: {HEARD[one.outcome]}"
    yield from (f"             {why}" for why in one.why)
