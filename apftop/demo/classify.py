"""Which schema, level and flow a request belongs to (the matching rules of 1.26 to 1.37)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from apftop.apf.objects import CATCH_ALL, FlowSchema, NonResourceRule, PriorityLevelConfiguration, ResourceRule, Subject
from apftop.apf.shards import hand
from apftop.demo.request import Place, Target


class Classifier:
    """Places requests by the objects of one cluster; what was placed before is remembered."""

    def __init__(self, schemas: Iterable[FlowSchema], levels: Iterable[PriorityLevelConfiguration]) -> None:
        self._levels = {level.name: level for level in levels}
        known = [schema for schema in schemas if schema.priority_level in self._levels]
        self._schemas = sorted(known, key=lambda schema: (schema.precedence, schema.name.encode()))
        self._places: dict[tuple[str, tuple[str, ...], str, str, str, str, str], Place] = {}

    def place(self, user: str, groups: tuple[str, ...], target: Target) -> Place:
        """Where a request of this user belongs."""
        what = target.resource or target.path
        key = (user, groups, target.verb, target.group, what, target.subresource, target.namespace)
        found = self._places.get(key)
        if found is None:
            found = self._places[key] = self._find(user, groups, target)
        return found

    def _find(self, user: str, groups: tuple[str, ...], target: Target) -> Place:
        schema = next(
            (one for one in self._schemas if _matches(one, user, groups, target)),
            next(one for one in self._schemas if one.name == CATCH_ALL),
        )
        queuing = self._levels[schema.priority_level].queuing
        if queuing is None or queuing.queues <= 1:
            return Place(schema.name, schema.priority_level)
        distinguisher = {"ByUser": user, "ByNamespace": target.namespace, None: ""}[schema.distinguisher]
        cards = hand(schema.name, distinguisher, queuing.queues, queuing.hand_size)
        return Place(schema.name, schema.priority_level, distinguisher, cards)


def _matches(schema: FlowSchema, user: str, groups: tuple[str, ...], target: Target) -> bool:
    return any(
        any(_is_about(subject, user, groups) for subject in rule.subjects)
        and (
            any(_takes_resource(one, target) for one in rule.resource_rules)
            if target.resource
            else any(_takes_path(one, target) for one in rule.non_resource_rules)
        )
        for rule in schema.rules
    )


def _is_about(subject: Subject, user: str, groups: tuple[str, ...]) -> bool:
    match subject.kind:
        case "User":
            return subject.name in ("*", user)
        case "Group":
            return subject.name == "*" or subject.name in groups
        case "ServiceAccount":
            of_namespace = f"system:serviceaccount:{subject.namespace}:"
            return user.startswith(of_namespace) if subject.name == "*" else user == of_namespace + subject.name


def _takes_resource(rule: ResourceRule, target: Target) -> bool:
    resource = f"{target.resource}/{target.subresource}" if target.subresource else target.resource
    return (
        _has(rule.verbs, target.verb)
        and _has(rule.resources, resource)
        and _has(rule.api_groups, target.group)
        and (_has(rule.namespaces, target.namespace) if target.namespace else rule.cluster_scope)
    )


def _takes_path(rule: NonResourceRule, target: Target) -> bool:
    return _has(rule.verbs, target.verb) and any(_is_under(url, target.path) for url in rule.urls)


def _is_under(url: str, path: str) -> bool:
    if url in ("*", path):
        return True
    folder = url.removesuffix("*")
    return path.startswith(folder if folder.endswith("/") else f"{folder}/")


def _has(wanted: Sequence[str], value: str) -> bool:
    """A star counts only where it stands alone."""
    return tuple(wanted) == ("*",) or value in wanted
