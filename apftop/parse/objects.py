"""FlowSchemas and PriorityLevelConfigurations of every API version, with that version's defaults filled in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from apftop.apf.objects import (
    DEFAULT_HAND_SIZE,
    DEFAULT_PRECEDENCE,
    DEFAULT_QUEUE_LENGTH_LIMIT,
    DEFAULT_QUEUES,
    DEFAULT_SHARES,
    Condition,
    FieldManager,
    FlowSchema,
    Meta,
    NonResourceRule,
    PriorityLevelConfiguration,
    Queuing,
    ResourceRule,
    Rule,
    Subject,
)
from apftop.parse.documents import Item, read_documents
from apftop.parse.fields import FieldError, Node
from apftop.records.parsed import ParseError

GROUP = "flowcontrol.apiserver.k8s.io"
PRESERVE_ZERO = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"

_ASSURED = ("v1alpha1", "v1beta1", "v1beta2")
_ZERO_IS_DEFAULT = (*_ASSURED, "v1beta3")


@dataclass(frozen=True, slots=True)
class Objects:
    """What one file holds: its APF objects, the kind and name of others, and what was left out and why."""

    schemas: tuple[FlowSchema, ...]
    configs: tuple[PriorityLevelConfiguration, ...]
    others: tuple[tuple[str, str], ...]
    problems: tuple[str, ...]


@lru_cache(maxsize=8)
def parse_objects(body: bytes) -> Objects:
    """Read a file of mixed objects; raises ParseError where it holds no objects at all.

    Of two objects of one kind and name the later one counts, and the earlier is named in `problems`. All servers give
    the same, and seldom another one: the latest are remembered.
    """
    items, said = read_documents(body)
    problems = list(said)
    schemas: dict[str, FlowSchema] = {}
    configs: dict[str, PriorityLevelConfiguration] = {}
    others: list[tuple[str, str]] = []
    for item in items:
        label = _label(item)
        try:
            if not is_apf(item):
                others.append((item.kind, _name(item)))
                continue
            if item.kind == "FlowSchema":
                schema = schema_of(item)
                repeated = schemas.pop(schema.name, None) is not None
                schemas[schema.name] = schema
            else:
                config = config_of(item)
                repeated = configs.pop(config.name, None) is not None
                configs[config.name] = config
        except FieldError as error:
            problems.append(f"{label}: {error}")
            continue
        if repeated:
            problems.append(f"{label}: given twice, the later one counts")
    return Objects(tuple(schemas.values()), tuple(configs.values()), tuple(others), tuple(problems))


def schemas_of(objects: Objects) -> tuple[FlowSchema, ...]:
    """The FlowSchemas among objects; raises ParseError where there are none but other kinds, or only broken ones."""
    if not objects.schemas:
        _refuse(objects, "FlowSchema")
    return objects.schemas


def configs_of(objects: Objects) -> tuple[PriorityLevelConfiguration, ...]:
    """The PriorityLevelConfigurations among objects; raises ParseError as `schemas_of` does."""
    if not objects.configs:
        _refuse(objects, "PriorityLevelConfiguration")
    return objects.configs


def _refuse(objects: Objects, wanted: str) -> None:
    if objects.problems:
        raise ParseError(f"no {wanted} can be read: {'; '.join(objects.problems)}")
    kinds = {kind for kind, _ in objects.others}
    kinds |= {"FlowSchema"} if objects.schemas else set()
    kinds |= {"PriorityLevelConfiguration"} if objects.configs else set()
    if kinds:
        raise ParseError(f"no {wanted} but {', '.join(sorted(kinds))}")


def is_apf(item: Item) -> bool:
    """Whether an item is one of the two nouns; raises FieldError where it does not say its version."""
    if item.kind not in ("FlowSchema", "PriorityLevelConfiguration"):
        return False
    if not item.api_version:
        raise FieldError("apiVersion is missing")
    return item.api_version.startswith(f"{GROUP}/")


def _name(item: Item) -> str:
    metadata = item.fields.get("metadata")
    value = metadata.get("name") if isinstance(metadata, dict) else None
    return value if isinstance(value, str) else ""


def _label(item: Item) -> str:
    name = _name(item)
    if name:
        return f"{item.kind}/{name}"
    return f"{item.kind} ({item.place})" if item.place else item.kind


def schema_of(item: Item) -> FlowSchema:
    """One FlowSchema; raises FieldError that begins with the place of what is wrong."""
    root = Node(item.fields)
    meta = _meta(root, item.api_version)
    spec = root.required("spec")
    method = spec.node("distinguisherMethod")
    return FlowSchema(
        meta=meta,
        priority_level=spec.required("priorityLevelConfiguration").text("name"),
        precedence=spec.integer("matchingPrecedence") or DEFAULT_PRECEDENCE,
        distinguisher=None if method is None else _distinguisher(method),
        rules=tuple(_rule(rule) for rule in spec.nodes("rules")),
        conditions=_conditions(root),
    )


def _distinguisher(method: Node) -> Literal["ByUser", "ByNamespace"]:
    match method.text("type"):
        case "ByUser":
            return "ByUser"
        case "ByNamespace":
            return "ByNamespace"
        case other:
            raise FieldError(f"{method.at('type')} is {other!r}, neither ByUser nor ByNamespace")


def _rule(rule: Node) -> Rule:
    if not rule.has("subjects"):
        raise rule.missing("subjects")
    return Rule(
        subjects=tuple(_subject(subject) for subject in rule.nodes("subjects")),
        resource_rules=tuple(_resource_rule(target) for target in rule.nodes("resourceRules")),
        non_resource_rules=tuple(
            NonResourceRule(_list(target, "verbs"), _list(target, "nonResourceURLs"))
            for target in rule.nodes("nonResourceRules")
        ),
    )


def _subject(subject: Node) -> Subject:
    match subject.text("kind"):
        case "User":
            return Subject("User", subject.required("user").text("name"))
        case "Group":
            return Subject("Group", subject.required("group").text("name"))
        case "ServiceAccount":
            account = subject.required("serviceAccount")
            return Subject("ServiceAccount", account.text("name"), account.text("namespace"))
        case other:
            raise FieldError(f"{subject.at('kind')} is {other!r}, not User, Group or ServiceAccount")


def _resource_rule(target: Node) -> ResourceRule:
    return ResourceRule(
        verbs=_list(target, "verbs"),
        api_groups=_list(target, "apiGroups"),
        resources=_list(target, "resources"),
        namespaces=target.texts("namespaces"),
        cluster_scope=target.flag("clusterScope"),
    )


def _list(node: Node, key: str) -> tuple[str, ...]:
    if not node.has(key):
        raise node.missing(key)
    return node.texts(key)


def config_of(item: Item) -> PriorityLevelConfiguration:
    """One PriorityLevelConfiguration; raises FieldError that begins with the place of what is wrong."""
    root = Node(item.fields)
    meta = _meta(root, item.api_version)
    spec = root.required("spec")
    conditions = _conditions(root)
    match spec.text("type"):
        case "Exempt":
            _forbid(spec, "limited", "spec.type is Exempt")
            exempt = spec.node("exempt") or Node({}, spec.at("exempt"))
            return PriorityLevelConfiguration(
                meta=meta,
                exempt=True,
                shares=exempt.integer("nominalConcurrencyShares") or 0,
                lendable_percent=exempt.integer("lendablePercent") or 0,
                conditions=conditions,
            )
        case "Limited":
            _forbid(spec, "exempt", "spec.type is Limited")
            limited = spec.required("limited")
            return PriorityLevelConfiguration(
                meta=meta,
                exempt=False,
                shares=_shares(limited, meta),
                lendable_percent=limited.integer("lendablePercent") or 0,
                borrowing_limit_percent=limited.integer("borrowingLimitPercent"),
                queuing=_queuing(limited.required("limitResponse")),
                conditions=conditions,
            )
        case other:
            raise FieldError(f"spec.type is {other!r}, neither Exempt nor Limited")


def _shares(limited: Node, meta: Meta) -> int:
    version = meta.api_version.rpartition("/")[2]
    shares = limited.integer("assuredConcurrencyShares" if version in _ASSURED else "nominalConcurrencyShares")
    if version in _ZERO_IS_DEFAULT:
        if any(key == PRESERVE_ZERO for key, _ in meta.annotations):
            return shares or 0
        return shares or DEFAULT_SHARES
    return DEFAULT_SHARES if shares is None else shares


def _queuing(response: Node) -> Queuing | None:
    match response.text("type"):
        case "Reject":
            _forbid(response, "queuing", f"{response.at('type')} is Reject")
            return None
        case "Queue":
            # The server fills in its defaults for zeros too.
            queuing = response.required("queuing")
            return Queuing(
                queues=queuing.integer("queues") or DEFAULT_QUEUES,
                hand_size=queuing.integer("handSize") or DEFAULT_HAND_SIZE,
                queue_length_limit=queuing.integer("queueLengthLimit") or DEFAULT_QUEUE_LENGTH_LIMIT,
            )
        case other:
            raise FieldError(f"{response.at('type')} is {other!r}, neither Queue nor Reject")


def _forbid(node: Node, key: str, why: str) -> None:
    if node.has(key):
        raise FieldError(f"{node.at(key)} is set though {why}")


def _meta(root: Node, api_version: str) -> Meta:
    metadata = root.required("metadata")
    name = metadata.text("name")
    if not name:
        raise metadata.missing("name")
    return Meta(
        name=name,
        uid=metadata.text("uid", ""),
        generation=metadata.integer("generation"),
        resource_version=metadata.text("resourceVersion", ""),
        creation=metadata.text("creationTimestamp", ""),
        annotations=metadata.pairs("annotations"),
        managers=tuple(
            FieldManager(
                manager=entry.text("manager", ""),
                operation=entry.text("operation", ""),
                time=entry.text("time", ""),
                subresource=entry.text("subresource", ""),
                spec=_writes_spec(entry),
            )
            for entry in metadata.nodes("managedFields")
        ),
        api_version=api_version,
    )


def _writes_spec(entry: Node) -> bool | None:
    """kubectl leaves out managedFields altogether, and other tools their lists of fields."""
    fields = entry.node("fieldsV1")
    return None if fields is None else fields.has("f:spec")


def _conditions(root: Node) -> tuple[Condition, ...]:
    status = root.node("status")
    if status is None:
        return ()
    return tuple(
        Condition(
            type=condition.text("type"),
            status=condition.text("status"),
            reason=condition.text("reason", ""),
            message=condition.text("message", ""),
            last_transition=condition.text("lastTransitionTime", ""),
        )
        for condition in status.nodes("conditions")
    )
