"""What has been read so far: the parsed answers of each replica, and of those that repeat the last two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from apftop.apf.objects import FlowSchema, PriorityLevelConfiguration
from apftop.records.backend import Callback
from apftop.records.parsed import Behind, Dump, KeptHands, Lease, LevelRow, Metrics, QueueRow, RequestRow
from apftop.records.raw import Endpoint

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Read(Generic[T_co]):
    """A parsed answer with the times of its sample (Unix seconds, None where unknown), and what of it was left out.

    `begun` is when its first byte came. `started` is when the server's process started, as a header of the answer says
    by the server's clock, and `peer` the SHA-256 of the server's certificate (empty where unknown).
    """

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
    begun: float | None = None
    started: float | None = None
    peer: str = ""

    @property
    def measured(self) -> float | None:
        """The middle of sending and receiving on this machine's clock, if that was measured."""
        return self.received if self.sent is None or self.received is None else (self.sent + self.received) / 2

    @property
    def time(self) -> float | None:
        """When the answer was given: as measured, else as noted."""
        return self.noted if self.measured is None else self.measured

    @property
    def given(self) -> float | None:
        """When a dump was taken, as near as is known: its text is sent as soon as it is made up, however it waited."""
        return self.time if self.begun is None else self.begun


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the last question to an endpoint ended: an HTTP status, or one line that says what went wrong.

    `at` is when that was known (Unix seconds), None for what was saved by others.
    """

    status: int | None
    error: str = ""
    at: float | None = None


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
class Transfer:
    """How one usable answer came: Unix seconds by this machine's clock, and bytes.

    `wire_bytes` is its body on the wire, `whole_bytes` without the content encoding and before picking, `kept_bytes`
    what was picked. `text` is False for protobuf. Of dumps, `rows` counts their rows, and `readers` those of requests
    for dumps.
    """

    sent: float
    begun: float
    received: float
    wire_bytes: int
    whole_bytes: int
    kept_bytes: int
    text: bool
    rows: int = 0
    readers: int = 0


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """One replica: `metrics`, `levels` and `behind` hold the previous and the latest answer, in that order.

    `behind` comes out of the same answers as the metrics where these were read once for all, else out of its own.
    `callbacks` are by the endpoint that told of them.

    `own` are the latest answers to this tool's requests, `own_sent` and `own_refused` count all of them. `failures`
    keeps the latest of each endpoint, also when it has answered since. `federated` where its metrics turned out to be
    those of several servers, which are replicas of their own, is set. `leases` are those of all API servers, and `peer`
    is the SHA-256 of the certificate that came last, empty where none did. `transfers` are the latest by endpoint and
    by whether metrics were asked for by name, oldest first. `kept` are the hands of a redacted bundle.
    """

    name: str
    metrics: tuple[Read[Metrics], ...] = ()
    levels: tuple[Read[Dump[LevelRow]], ...] = ()
    queues: Read[Dump[QueueRow]] | None = None
    requests: Read[Dump[RequestRow]] | None = None
    schemas: Read[tuple[FlowSchema, ...]] | None = None
    configs: Read[tuple[PriorityLevelConfiguration, ...]] | None = None
    leases: Read[tuple[Lease, ...]] | None = None
    behind: tuple[Read[Behind], ...] = ()
    callbacks: Mapping[Endpoint, Read[tuple[Callback, ...]]] = field(default_factory=dict)
    outcomes: Mapping[Endpoint, Outcome] = field(default_factory=dict)
    own: tuple[OwnAnswer, ...] = ()
    own_sent: int = 0
    own_refused: int = 0
    failures: Mapping[Endpoint, str] = field(default_factory=dict)
    federated: bool = False
    bytes_received: int = 0
    peer: str = ""
    transfers: Mapping[tuple[Endpoint, bool], tuple[Transfer, ...]] = field(default_factory=dict)
    kept: KeptHands | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """All replicas by name, in the order in which they were first heard of."""

    replicas: Mapping[str, ReplicaState] = field(default_factory=dict)

    @property
    def redacted(self) -> bool:
        """Whether names are pseudonyms: then nothing can be computed from them."""
        return any(one.kept is not None for one in self.replicas.values())
