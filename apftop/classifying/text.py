"""Classified requests for a person: where each goes, what it costs, how long it may wait, and why not elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap

from apftop.apf.attributes import Attributes
from apftop.classifying.probed import probed_text
from apftop.classifying.resources import of_plural
from apftop.classifying.words import listed
from apftop.present import plain, seconds
from apftop.records.classified import Classified, Expected, Tried
from apftop.records.probed import Heard

WIDTH = 80
MOST = 8
"""Ways to miss that are told before the others are counted."""

OUTCOMES = {"matched": "matches", "missed": "does not match", "dangling": "left out", "after": "not asked"}
_LABEL = 13


def lines(
    found: Sequence[Classified],
    heard: Mapping[str, Heard] | None = None,
    by: Mapping[str, str] | None = None,
    *,
    every: bool = False,
) -> Iterator[str]:
    """All requests, the answer of each first.

    `heard` is what a server said of them, `by` says by what they were judged. Of several requests the schemas that do
    not match are not told; `every` tells each schema of each request.
    """
    several = len(found) > 1
    other = [one for one in found if one.expected is not None and not one.expected.met]
    if several and other:
        expected = plain(other[0].expected.schema) if other[0].expected is not None else ""
        names = listed((plain(one.asked.name) for one in other), None)
        yield from _wrapped(f"{len(other)} of {len(found)} requests do not get {expected}: {names}", "", "  ")
        yield ""
    for number, one in enumerate(found):
        if number:
            yield ""
        name = f"{plain(one.asked.name)}: " if several else ""
        yield from _wrapped(f"{name}{_answer(one)}", "", "  ")
        yield from _request(one, (heard or {}).get(one.asked.name))
        if not several:
            yield from _by(by or {})
        if one.seen and every:
            yield from _all(one)
        elif one.seen and not several:
            yield from _why(one)
    if several and by:
        yield ""
        yield "all of them:"
        yield from _by(by)


def _by(by: Mapping[str, str]) -> Iterator[str]:
    for label, text in by.items():
        yield from _row(label, text)


def _request(one: Classified, heard: Heard | None) -> Iterator[str]:
    if one.expected is not None:
        yield from _expected(one.expected)
    if heard is not None:
        yield from _wrapped(probed_text(one, heard), "", "  ")
    yield from _row("request", asked_text(one.asked.request))
    yield from _row("user", who_text(one.asked.request))
    for note in one.asked.notes:
        yield from _row("note", plain(note))
    if not one.seen:
        yield from _row("why", one.unseen)
        return
    if one.hand:
        kept = ", kept at redaction" if one.hash is None else ""
        yield from _row("queue", f"one of {', '.join(map(str, one.hand))} of {one.queues}, the hand of its flow{kept}")
    elif one.hand is None:
        yield from _row("queue", "unknown: its names are pseudonyms, which deal no hand, and none was kept")
    least, most = one.seats
    yield from _row("seats", f"{least if least == most else f'{least} to {most}'}, {one.seats_why}")
    waits = "never waits" if one.limit_s is None else f"at most {seconds(one.limit_s)}"
    yield from _row("wait", f"{waits}: {one.limit_why}")


def _answer(one: Classified) -> str:
    if not one.seen:
        return "not seen by flow control: no flow schema, no priority level, no seat, no wait"
    return f"flow schema {plain(one.schema)} -> priority level {plain(one.level)}, {_flow(one)}"


def _flow(one: Classified) -> str:
    if one.queues <= 1:
        return "flows not told apart"
    if one.distinguished_by is None:
        return "one flow for the whole schema"
    if one.distinguished_by == "ByNamespace" and not one.distinguisher:
        return "flow of all requests without a namespace"
    return f"flow {plain(one.distinguisher)}"


def asked_text(request: Attributes) -> str:
    """What is asked for, as flow control has it, in one line."""
    if not request.resource_request:
        return plain(f"{request.verb} {request.path}")
    group = f" of {request.api_group}" if request.api_group else ""
    return plain(f"{request.verb} {request.target}{group}, {_where(request)}")


def _where(request: Attributes) -> str:
    if request.namespace:
        return f"in namespace {request.namespace}"
    namespaced = of_plural(request.resource).get(request.api_group)
    if namespaced is None:
        return "without a namespace"
    return "in all namespaces" if namespaced else "cluster-scoped"


def who_text(request: Attributes) -> str:
    """Who asks, in one line."""
    groups = f"in {', '.join(request.groups)}" if request.groups else "in no group"
    return plain(f"{request.user or 'no name'}, {groups}")


def _expected(expected: Expected) -> Iterator[str]:
    name = plain(expected.schema)
    if expected.met:
        yield f"as expected: {name}"
        return
    first, *more = expected.why
    yield from _wrapped(f"not {name}: {first}", "", "  ")
    for line in more[:MOST]:
        yield from _wrapped(line, "  ", "    ")
    if more[MOST:]:
        yield f"  and {len(more) - MOST} more (--all)"


def _why(one: Classified) -> Iterator[str]:
    """What the schemas that were tried before miss, those that miss alike in one."""
    match = next(tried for tried in one.tried if tried.outcome == "matched")
    yield from _row("matched by", f"{plain(match.schema)} (precedence {match.precedence}), {match.why[0]}")
    last = one.tried.index(match) if match.rule is not None else len(one.tried)
    before = [tried for tried in one.tried[:last] if tried is not match]
    if not before:
        return
    yield f"not matched by the {_counted(before)} tried before:"
    alike: dict[tuple[str, ...], list[Tried]] = {}
    for tried in before:
        alike.setdefault(_reason(tried), []).append(tried)
    others = alike.pop(OF_OTHERS, [])
    told = list(alike.items())
    for why, those in told[:MOST]:
        yield from _group(those, why)
    if told[MOST:]:
        yield f"  and others for {len(told) - MOST} more reasons"
    if others:
        yield from _group(others, OF_OTHERS)
    if told[MOST:] or len(told) + (1 if others else 0) < len(before):
        yield "  (--all tells each)"


OF_OTHERS = ("no rule is for this user or a group of it (rules[*].subjects)",)


def _reason(one: Tried) -> tuple[str, ...]:
    """Why a schema misses; of those that are for other users it does not matter for whom."""
    others = one.outcome == "missed" and one.misses and all(miss.part == "subjects" for miss in one.misses)
    return OF_OTHERS if others else one.why


def _group(those: Sequence[Tried], why: tuple[str, ...]) -> Iterator[str]:
    first, *more = why
    yield from _wrapped(f"{_names(those)}: {first}", "  ", "    ")
    for line in more[:MOST]:
        yield from _wrapped(line, "    ", "      ")
    if more[MOST:]:
        yield f"    and {len(more) - MOST} more"


def _names(those: Sequence[Tried]) -> str:
    return listed(f"{plain(one.schema)} ({one.precedence})" for one in those)


def _counted(those: Sequence[Tried]) -> str:
    return f"{len(those)} flow schemas" if len(those) > 1 else "flow schema"


def _all(one: Classified) -> Iterator[str]:
    yield "flow schemas in the order in which they are tried:"
    for tried in one.tried:
        yield from _wrapped(
            f"{tried.precedence:>5}  {plain(tried.schema)} -> {plain(tried.level)}: {OUTCOMES[tried.outcome]}",
            "  ",
            "    ",
        )
        for line in tried.why:
            yield from _wrapped(line, " " * 9, " " * 11)


def _row(label: str, text: str) -> Iterator[str]:
    return _wrapped(text, f"  {label:<{_LABEL - 2}}", " " * _LABEL)


def _wrapped(text: str, first: str, further: str) -> Iterator[str]:
    yield from wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )
