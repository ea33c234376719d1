"""What one server said to one question, as bytes with times: the unit that is polled, taped, bundled and replayed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Endpoint(StrEnum):
    """What was asked for. The values are the names of bundle files and of the report's `endpoints`.

    BACKEND is the same path as METRICS, asked less often for the families that tell what lies behind the queues.
    WEBHOOKS is a file only, in which the three kinds of CALLBACKS may be mixed. DISCOVERY and LEASES are neither: the
    questions that only lead to the version of the objects or open a watch on them, and the leases by which API servers
    say that they exist. FACTS is a file only: what a redacted bundle keeps of what can no longer be computed.
    """

    METRICS = "metrics"
    BACKEND = "backend"
    LEVELS = "dump_priority_levels"
    QUEUES = "dump_queues"
    REQUESTS = "dump_requests"
    SCHEMAS = "flowschemas"
    CONFIGS = "prioritylevels"
    VALIDATING = "webhooks_validating"
    MUTATING = "webhooks_mutating"
    APISERVICES = "webhooks_apiservices"
    WEBHOOKS = "webhooks"
    DISCOVERY = "discovery"
    LEASES = "leases"
    FACTS = "facts"


FLOW_SCHEMA_UID = "x-kubernetes-pf-flowschema-uid"
LEVEL_UID = "x-kubernetes-pf-prioritylevel-uid"
PROCESS_START = "process-start-time-unix"
KEPT_HEADERS = ("date", "content-type", "retry-after", PROCESS_START, FLOW_SCHEMA_UID, LEVEL_UID)
"""The headers that a Sample keeps; others may hold cookies or tokens, and none of them is read."""

DUMP_PATHS = "/debug/api_priority_and_fairness/"
"""How the paths of all dumps begin."""

DUMPS = (Endpoint.LEVELS, Endpoint.QUEUES, Endpoint.REQUESTS)
EXPOSITIONS = (Endpoint.METRICS, Endpoint.BACKEND)
OBJECTS = (Endpoint.SCHEMAS, Endpoint.CONFIGS)
CALLBACKS = (Endpoint.VALIDATING, Endpoint.MUTATING, Endpoint.APISERVICES)
"""What tells of services that API servers call while they serve a request."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer, or the lack of one.

    `body` is the answer with its content encoding removed; of metrics it holds only the families that apftop reads.
    `status` is None where no HTTP status is known (a saved file, or no answer at all); `error` is one line that says
    why there is no answer, else empty. `sent` and `received` are this machine's clock, `server_date` is the server's
    `Date` header (whole seconds), `server_time` the server's clock as noted by who saved the answer, `noted` a time
    that they wrote down by whatever clock; all are Unix seconds. `headers` has lower-case names and holds no
    credentials.

    Of answers that this tool fetched: `begun` is when the first byte came (Unix seconds), `wire_bytes` how long the
    body was on the wire, `whole_bytes` after its content encoding was removed and before picking, `named` whether
    metrics were asked for by family, and `peer` the SHA-256 of the server's certificate in hex, empty without TLS.
    """

    replica: str
    endpoint: Endpoint
    body: bytes = b""
    status: int | None = None
    error: str = ""
    content_type: str = ""
    sent: float | None = None
    received: float | None = None
    server_date: float | None = None
    server_time: float | None = None
    noted: float | None = None
    headers: tuple[tuple[str, str], ...] = ()
    origin: str = ""
    begun: float | None = None
    wire_bytes: int | None = None
    whole_bytes: int | None = None
    named: bool = False
    peer: str = ""

    @property
    def ok(self) -> bool:
        """Whether there is a body worth parsing."""
        return not self.error and self.status in (None, 200)

    def header(self, name: str) -> str | None:
        """The value of a header by its lower-case name."""
        for key, value in self.headers:
            if key == name:
                return value
        return None
