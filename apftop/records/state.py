"""What has been read so far: the parsed answers of each replica, and of those that repeat the last two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from apftop.apf.objects import FlowSchema, PriorityLevelConfiguration
from apftop.records.parsed import Dump, LevelRow, Metrics, QueueRow, RequestRow
from apftop.records.raw import Endpoint

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Read(Generic[T_co]):
    """A parsed answer with the times of its sample (Unix seconds, None where unknown), and what of it was left out."""

    data: T_co
    sent: float | None
    received: float | None
    server_date: float | None
    server_time: float | None
    noted: float | None
    origin: str
    status: int | None
    level_uid: str = ""
    schema_uid: str = ""
    problems: tuple[str, ...] = ()

    @property
    def measured(self) -> float | None:
        """The middle of sending and receiving on this machine's clock, if that was measured."""
        return self.received if self.sent is None or self.received is None else (self.sent + self.received) / 2

    @property
    def time(self) -> float | None:
        """When the answer was given: as measured, else as noted."""
        return self.noted if self.measured is None else self.measured


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the last question to an endpoint ended: an HTTP status, or one line that says what went wrong."""

    status: int | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class OwnAnswer:
    """One answer to a request of ours that APF classified: which schema and level it ran in, and whether refused."""

    sent: float | None
    received: float | None
    schema_uid: str
    level_uid: str
    refused: bool
    retry_after_s: float | None


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """One replica: `metrics` and `levels` hold the previous and the latest answer, in that order.

    `own` are the latest answers to this tool's requests, `own_sent` and `own_refused` count all of them. `failures`
    keeps the latest of each endpoint, also when it has answered since. `federated` where its metrics turned out to be
    those of several servers, which are replicas of their own, is set.
    """

    name: str
    metrics: tuple[Read[Metrics], ...] = ()
    levels: tuple[Read[Dump[LevelRow]], ...] = ()
    queues: Read[Dump[QueueRow]] | None = None
    requests: Read[Dump[RequestRow]] | None = None
    schemas: Read[tuple[FlowSchema, ...]] | None = None
    configs: Read[tuple[PriorityLevelConfiguration, ...]] | None = None
    outcomes: Mapping[Endpoint, Outcome] = field(default_factory=dict)
    own: tuple[OwnAnswer, ...] = ()
    own_sent: int = 0
    own_refused: int = 0
    failures: Mapping[Endpoint, str] = field(default_factory=dict)
    federated: bool = False
    bytes_received: int = 0
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """All replicas by name, in the order in which they were first heard of."""

    replicas: Mapping[str, ReplicaState] = field(default_factory=dict)
