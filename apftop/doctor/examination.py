"""What was found out about the way to each server, out of the samples of one look."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from apftop.access import Access
from apftop.derive.access import access_problems
from apftop.derive.frame import frame
from apftop.derive.own import DUMP_REQUESTS_PATH
from apftop.lanes import plan
from apftop.live import fold
from apftop.records.asking import Demand, Plan
from apftop.records.frame import Replica
from apftop.records.raw import CALLBACKS, DUMPS, OBJECTS, Endpoint, Sample
from apftop.records.state import ReplicaState

ENDPOINTS = (Endpoint.METRICS, *DUMPS, *OBJECTS, *CALLBACKS)
ANONYMOUS = "system:anonymous"
_REFUSED_USER = re.compile(r'User ("(?:[^"\\]|\\.)*") cannot ')


@dataclass(frozen=True, slots=True)
class Answer:
    """How the last question to an endpoint was answered: bytes as they came over the wire, seconds from its sending.

    `by_name` tells whether metrics came by family as asked; None where that was not asked or is not known.
    """

    endpoint: Endpoint
    status: int | None
    error: str
    wire_bytes: int | None
    first_byte_s: float | None
    whole_s: float | None
    form: str
    by_name: bool | None

    @property
    def good(self) -> bool:
        return self.status == 200 and not self.error


@dataclass(frozen=True, slots=True)
class Examined:
    """One server. `user` is who asks, as the server calls them; `version` also comes from /version.

    `bytes_per_s` is what polling by `plan` brings, as far as answers of this look tell.
    """

    access: Access
    replica: Replica
    version: str | None
    user: str | None
    answers: tuple[Answer, ...]
    plan: Plan
    bytes_per_s: float | None
    problems: tuple[str, ...]

    @property
    def advice(self) -> str:
        """What to do about the level that this tool's own requests run in; empty where that is none to worry about."""
        own = self.replica.own
        level = self.replica.levels.get(own.level or "")
        if own.rejected:
            why = f"{own.rejected} of {own.sent} own requests were refused in level {own.level or 'unknown'}"
        elif level is not None and level.state in ("saturated", "blocked"):
            why = f"own requests run in level {level.name}, which is {level.state}: they wait behind what fills it"
        else:
            return ""
        return f"{why}; lead this tool's user to a level with room by a FlowSchema of its own, precedence below 9000"


@dataclass(frozen=True, slots=True)
class Examination:
    """All servers, and what they say about each other; `slices` is None where no replicas were looked for."""

    servers: tuple[Examined, ...]
    leases: Answer | None
    slices: Answer | None
    alive: int | None
    hidden: int

    @property
    def well(self) -> bool:
        """Whether all that was asked was answered, by all servers that are alive."""
        asked = (self.leases, self.slices)
        return not (
            self.hidden
            or any(one.replica.failed for one in self.servers)
            or any(answer is not None and not answer.good for answer in asked)
        )


def examine(
    accesses: Sequence[Access], samples: Sequence[Sample], versions: Mapping[str, str], slices: Sample | None
) -> Examination:
    """Lay out what a look at servers tells. `versions` are by replica, where metrics do not tell them."""
    state = fold(samples)
    seen = frame(state)
    last = {(sample.replica, sample.endpoint): sample for sample in samples}
    servers = tuple(
        _examined(access, seen.replicas[access.name], state.replicas[access.name], last, versions.get(access.name))
        for access in accesses
        if access.name in seen.replicas
    )
    leases = [sample for sample in samples if sample.endpoint is Endpoint.LEASES]
    return Examination(
        servers=servers,
        leases=_answer(leases[-1]) if leases else None,
        slices=_answer(slices) if slices else None,
        alive=seen.servers_alive,
        hidden=seen.servers_hidden,
    )


def _examined(
    access: Access,
    replica: Replica,
    state: ReplicaState,
    last: Mapping[tuple[str, Endpoint], Sample],
    version: str | None,
) -> Examined:
    samples = [last[access.name, endpoint] for endpoint in ENDPOINTS if (access.name, endpoint) in last]
    answers = tuple(map(_answer, samples))
    polling = plan(state, Demand())
    denied = access_problems({one: said for one, said in state.outcomes.items() if said.status == 403})
    return Examined(
        access=access,
        replica=replica,
        version=replica.version or version,
        user=_user(replica, samples),
        answers=answers,
        plan=polling,
        bytes_per_s=_bytes_per_s(polling, answers),
        problems=tuple(problem for problem in replica.problems if problem not in denied),
    )


def _answer(sample: Sample) -> Answer:
    begun = sample.sent is not None and sample.begun is not None
    ended = sample.sent is not None and sample.received is not None and sample.status is not None
    return Answer(
        endpoint=sample.endpoint,
        status=sample.status,
        error=sample.error,
        wire_bytes=sample.wire_bytes if sample.status is not None else None,
        first_byte_s=(sample.begun or 0.0) - (sample.sent or 0.0) if begun else None,
        whole_s=(sample.received or 0.0) - (sample.sent or 0.0) if ended else None,
        form=_form(sample.content_type),
        by_name=_by_name(sample),
    )


def _form(content_type: str) -> str:
    """A content type as people call it."""
    kind = content_type.partition(";")[0].strip().lower()
    if "protobuf" in kind:
        return "protobuf"
    return {"text/plain": "text", "application/openmetrics-text": "openmetrics", "application/json": "json"}.get(
        kind, kind
    )


def _by_name(sample: Sample) -> bool | None:
    """Families that were not asked for make an answer much larger than what is kept of it."""
    if not sample.named or not sample.ok or sample.whole_bytes is None:
        return None
    return sample.whole_bytes <= 2 * len(sample.body)


def _bytes_per_s(polling: Plan, answers: Iterable[Answer]) -> float | None:
    sizes = {answer.endpoint: answer.wire_bytes for answer in answers if answer.good and answer.wire_bytes is not None}
    metrics_s = polling.every_s[Endpoint.METRICS]
    paired = {endpoint: max(seconds, metrics_s) for endpoint, seconds in polling.with_metrics.items()}
    every_s = {**paired, **polling.every_s}
    rates = [sizes[endpoint] / seconds for endpoint, seconds in every_s.items() if endpoint in sizes]
    return sum(rates) if rates else None


def _user(replica: Replica, samples: Iterable[Sample]) -> str | None:
    """Who asks: as the dump lists its own reader, else as a refusal calls them."""
    readers = {row.user for row in replica.requests or () if row.own and row.path == DUMP_REQUESTS_PATH}
    if len(readers) == 1:
        return next(iter(readers))
    return next(_refused_users(samples), None)


def _refused_users(samples: Iterable[Sample]) -> Iterator[str]:
    for sample in samples:
        if sample.status != 403:
            continue
        try:
            said = json.loads(sample.body)
        except ValueError:
            continue
        message = said.get("message") if isinstance(said, dict) else None
        found = _REFUSED_USER.search(message) if isinstance(message, str) else None
        if found:
            # Go quotes as JSON does, but for characters that no sane name has.
            with contextlib.suppress(ValueError):
                yield str(json.loads(found[1]))
