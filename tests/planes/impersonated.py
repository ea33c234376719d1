"""Requests that the admin sends as somebody else, many at a time, and what the servers answer."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from dataclasses import dataclass

import aiohttp
import yarl

from tests.planes.observe import FLOW_SCHEMA_UID, PRIORITY_LEVEL_UID
from tests.planes.plane import Plane

AT_ONCE = 12
WHOLE_S = 60.0


@dataclass(frozen=True)
class Sent:
    """One request as it goes over the wire; `path` is encoded, `groups` are those that are asked for by header."""

    method: str
    path: str
    query: str
    user: str
    groups: tuple[str, ...] = ()
    body: bytes = b""


@dataclass(frozen=True)
class Told:
    """What a server answered; a uid is None where it sent no such header."""

    status: int
    schema: str | None
    level: str | None
    body: bytes


def ask_as(plane: Plane, requests: Sequence[Sent], replica: int | None = None) -> list[Told]:
    """The answers to requests, in their order; without a replica each server gets every third."""

    async def all_of_them() -> list[Told]:
        context, free = ssl.create_default_context(cafile=str(plane.ca_file)), asyncio.Semaphore(AT_ONCE)
        connector = aiohttp.TCPConnector(ssl=context, limit=AT_ONCE)
        async with aiohttp.ClientSession(
            connector=connector, timeout=aiohttp.ClientTimeout(total=WHOLE_S), auto_decompress=False
        ) as session:

            async def one(number: int, request: Sent) -> Told:
                url = plane.urls[number % len(plane.urls) if replica is None else replica]
                async with free:
                    return await _told(session, url, plane.tokens["admin"], request)

            return await asyncio.gather(*(one(number, request) for number, request in enumerate(requests)))

    return asyncio.run(all_of_them())


async def _told(session: aiohttp.ClientSession, url: str, token: str, request: Sent) -> Told:
    query = f"?{request.query}" if request.query else ""
    async with session.request(
        request.method,
        yarl.URL(f"{url}{request.path}{query}", encoded=True),
        headers=(
            ("Authorization", f"Bearer {token}"),
            ("Accept", "application/json, */*"),
            *((("Content-Type", "application/json"),) if request.body else ()),
            ("Impersonate-User", request.user),
            *(("Impersonate-Group", group) for group in request.groups),
        ),
        data=request.body or None,
        allow_redirects=False,
    ) as response:
        body = await response.read()
    return Told(response.status, response.headers.get(FLOW_SCHEMA_UID), response.headers.get(PRIORITY_LEVEL_UID), body)
