"""FlowSchema and PriorityLevelConfiguration: the one definition of the two configuration nouns of APF."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

EXEMPT = "exempt"
CATCH_ALL = "catch-all"
MANDATORY = frozenset({EXEMPT, CATCH_ALL})
"""The levels that every server runs, whether their objects exist or not."""

DEFAULT_SHARES = 30
DEFAULT_QUEUES = 64
DEFAULT_HAND_SIZE = 8
DEFAULT_QUEUE_LENGTH_LIMIT = 50
DEFAULT_PRECEDENCE = 1000


@dataclass(frozen=True, slots=True)
class FieldManager:
    """Who last wrote part of an object, from `metadata.managedFields`.

    `spec` is whether it wrote part of the spec; None where the entry does not list its fields.
    """

    manager: str
    operation: str
    time: str
    subresource: str
    spec: bool | None = None


@dataclass(frozen=True, slots=True)
class Meta:
    """The parts of `metadata` that apftop reads; `uid` is empty where the source has none."""

    name: str
    uid: str = ""
    generation: int | None = None
    resource_version: str = ""
    creation: str = ""
    annotations: tuple[tuple[str, str], ...] = ()
    managers: tuple[FieldManager, ...] = ()
    api_version: str = ""


@dataclass(frozen=True, slots=True)
class Condition:
    """One entry of `status.conditions`."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    last_transition: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """Who a rule is about. `namespace` is set for service accounts only; `name` may be `*`."""

    kind: Literal["User", "Group", "ServiceAccount"]
    name: str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class ResourceRule:
    """Which resource requests a rule matches; `*` counts only as the sole element of a list."""

    verbs: tuple[str, ...]
    api_groups: tuple[str, ...]
    resources: tuple[str, ...]
    namespaces: tuple[str, ...] = ()
    cluster_scope: bool = False


@dataclass(frozen=True, slots=True)
class NonResourceRule:
    """Which non-resource requests a rule matches, by HTTP verb in lower case and path."""

    verbs: tuple[str, ...]
    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a schema: any subject and any target must match."""

    subjects: tuple[Subject, ...]
    resource_rules: tuple[ResourceRule, ...] = ()
    non_resource_rules: tuple[NonResourceRule, ...] = ()


@dataclass(frozen=True, slots=True)
class FlowSchema:
    """A FlowSchema with the defaults of its API version filled in."""

    meta: Meta
    priority_level: str
    precedence: int = DEFAULT_PRECEDENCE
    distinguisher: Literal["ByUser", "ByNamespace"] | None = None
    rules: tuple[Rule, ...] = ()
    conditions: tuple[Condition, ...] = ()

    @property
    def name(self) -> str:
        return self.meta.name

    @property
    def dangling(self) -> bool | None:
        """What the server's own condition says; None where the object carries no such condition."""
        for condition in self.conditions:
            if condition.type == "Dangling":
                return condition.status == "True"
        return None


@dataclass(frozen=True, slots=True)
class Queuing:
    """The queues of a level whose limit response is Queue."""

    queues: int = DEFAULT_QUEUES
    hand_size: int = DEFAULT_HAND_SIZE
    queue_length_limit: int = DEFAULT_QUEUE_LENGTH_LIMIT


@dataclass(frozen=True, slots=True)
class PriorityLevelConfiguration:
    """A PriorityLevelConfiguration with the defaults of its API version filled in.

    `queuing` is None for a level that rejects and for an exempt one. `borrowing_limit_percent` None means no limit:
    the level may borrow up to the whole server; 0 means that it may not borrow.
    """

    meta: Meta
    exempt: bool
    shares: int
    lendable_percent: int = 0
    borrowing_limit_percent: int | None = None
    queuing: Queuing | None = None
    conditions: tuple[Condition, ...] = ()

    @property
    def name(self) -> str:
        return self.meta.name
