"""One look, for commands without a screen: which servers it goes to, what they are asked, and what it cannot see."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from apftop.access import Access
from apftop.cli_options import access_overrides
from apftop.cluster import reach
from apftop.failures import Deadlines
from apftop.fetch import Manner, Turn, ask, run
from apftop.lanes import too_long
from apftop.live import fold
from apftop.output import SLOW_S, said_if_slow
from apftop.parse.body import picker_of_all
from apftop.parse.vocabulary import asked_at_once
from apftop.poll.callbacks import ask_callbacks
from apftop.poll.discover import Found, discovered
from apftop.poll.leases import PATH as LEASES_PATH
from apftop.records.frame import Frame
from apftop.records.raw import OBJECTS, Endpoint, Sample
from apftop.session import open_session

BEFORE = (Endpoint.LEVELS, *OBJECTS)
"""What tells how large the other dumps are, and how fast the link is."""

NOW = (Endpoint.LEVELS, Endpoint.QUEUES, Endpoint.REQUESTS, Endpoint.METRICS)
SIZED_BY = {Endpoint.REQUESTS: Endpoint.LEVELS, Endpoint.QUEUES: Endpoint.CONFIGS}
LOADING = "still loading credentials: is an exec plugin hanging, or waiting for you? ctrl+c ends"
DISCOVERY_S = 3.0
"""So long it may take until a server begins to tell of its replicas; then it is asked itself."""


@dataclass(frozen=True, slots=True)
class Servers:
    """The servers to ask, whom they are of in words, and why there may be more of them than these.

    `way` is the server that was asked for the replicas, None where they are named by hand; `found` whether it told.
    """

    accesses: tuple[Access, ...]
    source: str
    notes: tuple[str, ...]
    way: Access | None = None
    found: bool = False


def servers(options: Mapping[str, Any]) -> Servers:
    """The servers that options name, or all replicas of the kubeconfig's cluster as far as they are found.

    Raises Unreachable, and UsageError for options that make no sense.
    """
    with said_if_slow(LOADING):
        at = reach(options["servers"], options["kubeconfig"], options["context"], access_overrides(options))
    insecure = tuple(f"{way.name}: its certificate is not verified" for way in at.ways if way.insecure)
    if not at.discover:
        return Servers(at.ways, at.source, insecure)
    (way,) = at.ways
    found = asyncio.run(_found(way))
    told = (*insecure, *((found.news,) if found.news else ()))
    return Servers(found.accesses or at.ways, at.source, told, way, bool(found.accesses))


async def _found(way: Access) -> Found:
    manner = replace(manner_of_looks(), first_byte_s=DISCOVERY_S)
    async with open_session(way, manner) as session:
        return await discovered(session, way, manner)


def first_look(at: Servers, interval_s: float) -> tuple[list[Sample], tuple[str, ...]]:
    """Two looks at each server, one at leases and callbacks, and a line for each dump that the first look leaves out.

    The second asks for all, the first for dumps that surely do not hold a server up: they are for the checks, which
    need them at both ends. Blocks. Raises Unreachable.
    """
    sizes = _Sizes()
    turns = [Turn(BEFORE), Turn(NOW, goes_on=True, fits=sizes.fit), Turn(NOW, interval_s)]
    with _waiting(at, interval_s):
        samples = run(at.accesses, turns, manner_of_looks())
    answering = {sample.replica for sample in samples if sample.status is not None}
    heard = [access for access in at.accesses if access.name in answering]
    return samples + asyncio.run(_leases(heard)) + asyncio.run(_callbacks(heard)), sizes.notes()


def next_look(at: Servers, interval_s: float) -> list[Sample]:
    """One more look at each server, after a while. Blocks. Raises Unreachable."""
    with _waiting(at, interval_s):
        return run(at.accesses, [Turn((), 0.0), Turn((*NOW, *OBJECTS), interval_s)], manner_of_looks())


class _Sizes:
    """Which dumps are too large for servers by what these have said, and for whom they were left out."""

    def __init__(self) -> None:
        self._left: dict[tuple[Endpoint, str], list[str]] = {}

    def fit(self, samples: Sequence[Sample], endpoint: Endpoint) -> bool:
        """Whether a dump may be asked for; one whose size is not known may not, and needs no words: what failed has."""
        if endpoint not in SIZED_BY:
            return True
        (replica,) = fold(samples).replicas.values()
        why = too_long(replica, endpoint)
        sized = replica.outcomes.get(SIZED_BY[endpoint])
        if why and sized is not None and sized.status == 200 and not sized.error:
            self._left.setdefault((endpoint, why), []).append(replica.name)
        return not why

    def notes(self) -> tuple[str, ...]:
        return tuple(
            f"{endpoint} of {', '.join(sorted(names))}: left out of the first look: {why}"
            for (endpoint, why), names in self._left.items()
        )


def _waiting(at: Servers, interval_s: float) -> AbstractContextManager[None]:
    """Say why nothing is shown yet, where a server takes its time."""
    longest = Deadlines().first_byte_s
    line = f"still waiting for {at.source}: a server that hangs is given {longest:g} s for each look; ctrl+c ends"
    return said_if_slow(line, after_s=interval_s + SLOW_S)


async def _leases(accesses: Sequence[Access]) -> list[Sample]:
    """The leases by the first server that tells or refuses them, and what went wrong on the way."""
    samples: list[Sample] = []
    for access in accesses:
        async with open_session(access, manner_of_looks()) as session:
            sample, _ = await ask(session, access, Endpoint.LEASES, manner_of_looks(), LEASES_PATH)
        samples.append(sample)
        # Another kind of server has none.
        if sample.status is not None and sample.status < 500 and sample.status != 404:
            break
    return samples


async def _callbacks(accesses: Sequence[Access]) -> list[Sample]:
    """Webhooks and APIServices by the first server that tells or refuses them, and what went wrong on the way."""
    samples: list[Sample] = []
    for access in accesses:
        async with open_session(access, manner_of_looks()) as session:
            told, answered = await ask_callbacks(session, access, manner_of_looks())
        samples += told
        if answered:
            break
    return samples


def manner_of_looks() -> Manner:
    """How one look asks: metrics by family, those of what lies behind the queues too, and only these kept."""
    return Manner(families=asked_at_once(), picker=picker_of_all)


def notes(at: Servers, seen: Frame) -> tuple[str, ...]:
    """What a look cannot show though nothing went wrong; none where no server answered, which says enough."""
    answered = any(isinstance(said, int) for replica in seen.replicas.values() for said in replica.endpoints.values())
    return (*at.notes, *unseen(seen)) if answered else ()


def unseen(seen: Frame) -> tuple[str, ...]:
    """A line on kube-apiservers that are alive by their leases and were not looked at."""
    known, alive = len(seen.servers), seen.servers_alive
    if not seen.servers_hidden:
        return ()
    way = "the URL leads to one of them, or to a load balancer" if known == 1 else "only these are looked at"
    return (f"{known} of {alive} API servers that are alive by their leases: {way}; name all with --server",)
