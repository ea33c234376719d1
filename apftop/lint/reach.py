"""Schemas, rules and subjects that no request can match, though the API takes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from apftop.apf.objects import FlowSchema, Rule
from apftop.lint.policy import Document, Policy
from apftop.lint.subjects import nobody
from apftop.lint.targets import Judged, of_resources, of_urls
from apftop.records.linting import Fault

MOST = 3
"""So many reasons are given why nothing matches a whole schema."""


def reach(policy: Policy) -> Iterator[Fault]:
    """Parts of the given schemas that match nothing; of a schema that matches nothing at all, that alone."""
    for document in policy.given:
        if isinstance(document.object, FlowSchema):
            yield from _of_schema(document, document.object)


def _of_schema(document: Document, schema: FlowSchema) -> Iterator[Fault]:
    rules = [_of_rule(document, rule, f"spec.rules[{number}]") for number, rule in enumerate(schema.rules)]
    faults = tuple(chain.from_iterable(one.faults for one in rules))
    if not rules or not all(one.nothing for one in rules):
        yield from faults
        return
    why = list(dict.fromkeys(one.text for one in faults if one.gravity != "note"))
    more = f"; and {len(why) - MOST} more" if len(why) > MOST else ""
    text = f"no request matches it: {'; '.join(why[:MOST])}{more}"
    first = next(one for one in faults if one.gravity != "note")
    yield document.fault("matches-no-request", "warning", text, first.advice, first.place)


def _of_rule(document: Document, rule: Rule, at: str) -> Judged:
    who = [nobody(document, one, f"{at}.subjects[{index}]") for index, one in enumerate(rule.subjects)]
    targets: Sequence[Judged] = [
        *(of_resources(document, one, f"{at}.resourceRules[{n}]") for n, one in enumerate(rule.resource_rules)),
        *(of_urls(document, one, f"{at}.nonResourceRules[{n}]") for n, one in enumerate(rule.non_resource_rules)),
    ]
    faults = (*(one for one in who if one), *chain.from_iterable(one.faults for one in targets))
    # The API refuses a rule without subjects or without targets: that is another fault.
    nothing = (bool(who) and all(who)) or (bool(targets) and all(one.nothing for one in targets))
    return Judged(faults, nothing)
