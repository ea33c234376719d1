"""Which flow schema, priority level and flow a request belongs to, and why not another (1.26 to 1.37)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from apftop.apf.attributes import Attributes
from apftop.apf.builtins import mandatory_level, mandatory_schema
from apftop.apf.identity import SERVICE_ACCOUNT_PREFIX
from apftop.apf.matching import Miss, rule_misses, target_matches
from apftop.apf.objects import (
    CATCH_ALL,
    EXEMPT,
    FlowSchema,
    PriorityLevelConfiguration,
)
from apftop.apf.shards import dealable, flow_hash
from apftop.apf.subjects import key_of

Outcome = Literal["matched", "missed", "dangling", "after"]
"""What became of a schema: `after` one that stands behind the match, `dangling` one whose level does not exist."""


@dataclass(frozen=True, slots=True)
class Classification:
    """Where a request goes. `distinguisher` and `hash` are empty and 0 unless the level has at least two queues."""

    schema: FlowSchema
    level: PriorityLevelConfiguration
    distinguisher: str
    hash: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """What one schema says of a request: of a match, the number of the rule; else why each rule did not match."""

    schema: FlowSchema
    outcome: Outcome
    rule: int | None = None
    misses: tuple[Miss, ...] = ()


class Classifier:
    """The schemas of one configuration in matching order, indexed by subject. It does not change once made."""

    __slots__ = ("_resources", "_rules", "_urls", "dangling", "levels", "schemas")

    def __init__(self, schemas: Iterable[FlowSchema], levels: Iterable[PriorityLevelConfiguration]) -> None:
        """Put the schemas in the server's order: by precedence, then by name in byte order.

        A schema whose level has no object, or one that is not `dealable`, is left out; that holds for the levels
        `exempt` and `catch-all` too, though the server runs them without one. The schema `exempt` is then put first and
        `catch-all` last, where missing.
        """
        by_name = {level.name: level for level in dealable(levels)}
        ordered = sorted(schemas, key=lambda schema: (schema.precedence, schema.name.encode()))
        self.dangling = tuple(schema for schema in ordered if schema.priority_level not in by_name)
        live = [schema for schema in ordered if schema.priority_level in by_name]
        names = {schema.name for schema in live}
        if EXEMPT not in names:
            live.insert(0, mandatory_schema(EXEMPT))
        if CATCH_ALL not in names:
            live.append(mandatory_schema(CATCH_ALL))
        self.schemas = tuple(live)
        self.levels: Mapping[str, PriorityLevelConfiguration] = {
            EXEMPT: mandatory_level(EXEMPT),
            CATCH_ALL: mandatory_level(CATCH_ALL),
        } | by_name
        self._rules = [(schema, rule) for schema in live for rule in schema.rules]
        self._resources: _Index = defaultdict(list)
        self._urls: _Index = defaultdict(list)
        for number, (_, rule) in enumerate(self._rules):
            for key in {key_of(subject) for subject in rule.subjects}:
                for name in {name for target in rule.resource_rules for name in target.resources}:
                    self._resources[key, name].append(number)
                if rule.non_resource_rules:
                    self._urls[key, ""].append(number)

    def schema_of(self, request: Attributes) -> FlowSchema:
        """The first schema with a rule that matches; `catch-all` where none does."""
        rules = self._rules
        for number in self._candidates(request):
            schema, rule = rules[number]
            if target_matches(rule, request):
                return schema
        return next(schema for schema in self.schemas if schema.name == CATCH_ALL)

    def _candidates(self, request: Attributes) -> list[int]:
        """Numbers of the rules whose subjects match and that may match the target, in order."""
        index, names = (self._resources, ("*", request.target)) if request.resource_request else (self._urls, ("",))
        keys = ["*", "u" + request.user, *["g" + group for group in request.groups]]
        if request.user.startswith(SERVICE_ACCOUNT_PREFIX):
            namespace, colon, _ = request.user.removeprefix(SERVICE_ACCOUNT_PREFIX).partition(":")
            if colon:
                keys.append("s" + namespace)
        found: list[int] = []
        for key in keys:
            for name in names:
                found += index.get((key, name), ())
        found.sort()
        return found


_Index = defaultdict[tuple[str, str], list[int]]
"""Numbers of rules by a key of their subject and the name of their resource (or `*`)."""


def classify(classifier: Classifier, request: Attributes) -> Classification:
    """Where a request goes that flow control sees at all (see `attributes.bypasses`)."""
    schema = classifier.schema_of(request)
    level = classifier.levels[schema.priority_level]
    if level.queuing is None or level.queuing.queues < 2:
        return Classification(schema, level, "", 0)
    distinguisher = flow_distinguisher(schema, request)
    return Classification(schema, level, distinguisher, flow_hash(schema.name, distinguisher))


def flow_distinguisher(schema: FlowSchema, request: Attributes) -> str:
    """What tells the flows of a schema apart: the user's name, the namespace (may be empty), or nothing."""
    match schema.distinguisher:
        case "ByUser":
            return request.user
        case "ByNamespace":
            return request.namespace
        case None:
            return ""


def explain(classifier: Classifier, request: Attributes) -> tuple[Explanation, ...]:
    """What every schema says of a request: dangling ones first, then the others in matching order."""
    found = [Explanation(schema, "dangling") for schema in classifier.dangling]
    matched = False
    for schema in classifier.schemas:
        if matched:
            found.append(Explanation(schema, "after"))
            continue
        one = _explanation(schema, request)
        matched = one.outcome == "matched"
        found.append(one)
    return tuple(found)


def _explanation(schema: FlowSchema, request: Attributes) -> Explanation:
    misses: list[Miss] = []
    for index, rule in enumerate(schema.rules):
        of_rule = rule_misses(index, rule, request)
        if not of_rule:
            return Explanation(schema, "matched", index)
        misses += of_rule
    return Explanation(schema, "missed", misses=tuple(misses))
