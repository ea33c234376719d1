"""Webhook configurations and APIServices, asked of one server for all: at the start, and then each ten minutes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from apftop.access import Access, Unreachable
from apftop.failures import wait_s
from apftop.fetch import Manner, ask, path_of
from apftop.records.raw import CALLBACKS, Sample
from apftop.session import names_of, open_session

if TYPE_CHECKING:
    import aiohttp

EVERY_S = 600.0
AGAIN_S = 60.0
"""So long after no server told of them, and none refused, they are tried again."""


async def follow_callbacks(
    accesses: Callable[[], Sequence[Access]], manner: Manner, deliver: Callable[[Sample], None]
) -> None:
    """Ask one of the servers each ten minutes, for ever; the next one where it fails, or is one that has none.

    Refusals are delivered like other answers, and asked about no more often. `accesses` gives one server at least.
    """
    names = names_of(manner)
    turn = 0
    while True:
        ways = accesses()
        rest_s = AGAIN_S
        for _ in ways:
            access = ways[turn % len(ways)]
            try:
                async with open_session(access, manner, names) as session:
                    samples, answered = await ask_callbacks(session, access, manner)
            except Unreachable as exc:
                samples, answered = [Sample(access.name, one, error=str(exc)) for one in CALLBACKS], False
            for sample in samples:
                deliver(sample)
            if answered:
                rest_s = EVERY_S
                break
            rest_s = max(rest_s, *(wait_s(one.status, one.header("retry-after") or "") for one in samples))
            turn += 1
        await asyncio.sleep(rest_s)


async def ask_callbacks(session: aiohttp.ClientSession, access: Access, manner: Manner) -> tuple[list[Sample], bool]:
    """The answers for all kinds, and whether this server told or refused one at least for good.

    A server that is silent, or asks to be left alone, is not asked for the rest.
    """
    samples: list[Sample] = []
    for endpoint in CALLBACKS:
        sample, go_on = await ask(session, access, endpoint, manner, path_of(endpoint, manner))
        samples.append(sample)
        if not go_on or wait_s(sample.status, sample.header("retry-after") or ""):
            break
    return samples, any(one.status in (200, 401, 403) and not one.error for one in samples)
