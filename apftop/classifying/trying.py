"""The schemas in the order in which a server tries them, and what came of each."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from apftop.apf.attributes import Attributes
from apftop.apf.classify import Classifier, Outcome, explain
from apftop.apf.matching import Miss, rule_misses
from apftop.apf.objects import FlowSchema
from apftop.classifying.words import listed, reasons
from apftop.present import plain
from apftop.records.classified import Expected, Tried

NEAR = 0.6
"""How much alike two names must be, from 0 to 1, to be thought of as one."""


def tried_schemas(request: Attributes, classifier: Classifier, match: FlowSchema, expect: str) -> Iterator[Tried]:
    """The schemas in the order in which they are tried, up to the match or the expected one, whichever is later.

    A schema whose level does not exist is told where it would be tried.
    """
    explained = {one.schema.name: one for one in explain(classifier, request)}
    ordered = list(_in_order(classifier))
    names = [schema.name for schema in ordered]
    last = max(names.index(name) for name in (match.name, expect) if name in names)
    if all(one.outcome != "matched" for one in explained.values()):
        last = len(names) - 1
    for schema in ordered[: last + 1]:
        one = explained[schema.name]
        outcome, rule, misses = one.outcome, one.rule, one.misses
        if outcome in ("dangling", "after"):
            rule, misses = _looked_at(schema, request)
        if schema.name == match.name:
            # What matches nothing at all is put there without a rule.
            outcome = "matched"
        why = tuple(_first_words(schema, outcome, rule, match))
        if outcome != "matched":
            why = (*why, *reasons(misses, request))
        yield Tried(schema.name, schema.priority_level, schema.precedence, outcome, rule, misses, why)


def _first_words(schema: FlowSchema, outcome: Outcome, rule: int | None, match: FlowSchema) -> Iterator[str]:
    """What there is to say before the misses."""
    match outcome:
        case "matched":
            yield f"rules[{rule}] matches" if rule is not None else "where requests go that no flow schema matches"
            return
        case "missed":
            if not schema.rules:
                yield "rules: none, so it matches nothing"
            return
        case "dangling":
            yield f"its level {plain(schema.priority_level)} does not exist, so servers leave it out"
        case "after":
            tie = ", first by its name" if schema.precedence == match.precedence else ""
            yield f"{plain(match.name)} (precedence {match.precedence}{tie}) comes before it and matches"
    if rule is not None:
        yield f"else its rules[{rule}] would match"
    else:
        yield "it would not match either:" if schema.rules else "it has no rules, so it matches nothing"


def _in_order(classifier: Classifier) -> Iterator[FlowSchema]:
    """Those that count as the server has them, with the dangling ones in between."""
    dangling = list(classifier.dangling)
    for schema in classifier.schemas:
        while dangling and _place(dangling[0]) < _place(schema):
            yield dangling.pop(0)
        yield schema
    yield from dangling


def _place(schema: FlowSchema) -> tuple[int, bytes]:
    return schema.precedence, schema.name.encode()


def _looked_at(schema: FlowSchema, request: Attributes) -> tuple[int | None, tuple[Miss, ...]]:
    """The first rule that matches, or what fails in all of them."""
    found: list[Miss] = []
    for index, rule in enumerate(schema.rules):
        misses = rule_misses(index, rule, request)
        if not misses:
            return index, ()
        found += misses
    return None, tuple(found)


def expected_schema(tried: tuple[Tried, ...], classifier: Classifier, expect: str) -> Expected:
    """What came of the schema that was expected."""
    for one in tried:
        if one.schema == expect:
            why = one.why
            if one.outcome == "missed":
                first = f"it is tried (precedence {one.precedence}), but no rule matches:"
                why = (first, *one.why)
            return Expected(expect, one.outcome == "matched", one.outcome, why)
    names = [schema.name for schema in (*classifier.schemas, *classifier.dangling)]
    inside = [name for name in names if expect.lower() in name.lower() or name.lower() in expect.lower()]
    near = tuple(dict.fromkeys((*get_close_matches(expect, names, 3, NEAR), *inside)))[:3]
    meant = f"; did you mean {', '.join(map(plain, near))}?" if near else ""
    if expect in classifier.levels:
        its = listed(plain(schema.name) for schema in classifier.schemas if schema.priority_level == expect)
        meant = f"; it is a priority level, of the flow schemas {its or 'that do not exist'}"
    return Expected(expect, False, "absent", (f"there is no such flow schema{meant}",), near)
