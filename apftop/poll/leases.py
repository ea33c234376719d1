"""The leases by which API servers say that they exist: how many there are, also behind a balancer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from apftop.access import Access, Unreachable
from apftop.failures import wait_s
from apftop.fetch import Manner, ask
from apftop.records.raw import Endpoint, Sample
from apftop.session import names_of, open_session

if TYPE_CHECKING:
    from apftop.names import Names

EVERY_S = 30.0
DENIED_EVERY_S = 600.0

# They are called `kube-apiserver-*` in 1.26 and `apiserver-*` since 1.27; the few others there come along.
PATH = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?resourceVersion=0"


async def follow_leases(
    accesses: Callable[[], Sequence[Access]], manner: Manner, deliver: Callable[[Sample], None]
) -> None:
    """Ask one of the servers for the leases of kube-system each 30 seconds, for ever; the next one where it fails.

    Refusals are delivered like other answers. One that lasts, such as 403, is asked about each ten minutes only. Where
    there are none (404) it is another kind of server, and the next one is asked. `accesses` gives one server at least.
    """
    names = names_of(manner)
    turn = missed = 0
    while True:
        ways = accesses()
        answered, rest_s = await _ask_on(ways[turn % len(ways)], manner, names, deliver)
        turn, missed = turn + 1, 1 if answered else missed + 1
        if missed >= len(ways):
            missed = 0
            await asyncio.sleep(rest_s)


async def _ask_on(
    access: Access, manner: Manner, names: Names, deliver: Callable[[Sample], None]
) -> tuple[bool, float]:
    """Ask one server again and again until it fails: whether it answered at all, and for how long to leave it alone."""
    answered = False
    while True:
        edition = access.edition
        try:
            session = open_session(access, manner, names)
        except Unreachable as exc:
            deliver(Sample(access.name, Endpoint.LEASES, error=str(exc)))
            return answered, EVERY_S
        async with session:
            while access.edition == edition:
                sample, _ = await ask(session, access, Endpoint.LEASES, manner, PATH)
                deliver(sample)
                if sample.status is None or sample.error or sample.status >= 500:
                    return answered, EVERY_S
                if sample.status == 404:
                    return answered, DENIED_EVERY_S
                answered = True
                every_s = DENIED_EVERY_S if sample.status == 403 else EVERY_S
                await asyncio.sleep(max(every_s, wait_s(sample.status, sample.header("retry-after") or "")))
