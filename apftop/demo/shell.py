"""HTTP/1.1 around one simulated server: as much of it as GET needs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from http import HTTPStatus

from apftop.demo.answers import Question, Reply, handler_s, question, reply
from apftop.demo.plane import ControlPlane
from apftop.demo.server import Server

LOOK_AGAIN_S = 0.02
BOOKMARK_S = 60.0
WATCH_S = 1800.0


class Shell:
    """Serves connections to one server, which it moves on to the clock's time with each question."""

    def __init__(self, plane: ControlPlane, server: Server, clock: Callable[[], int]) -> None:
        self._plane = plane
        self._server = server
        self._clock = clock

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request after another, until either side closes."""
        # Being cancelled is the end of the demo; up to Python 3.11 asyncio would log it as an error of this task.
        ends = ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError
        try:
            with contextlib.suppress(*ends):
                while await self._one(reader, writer):
                    pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection can take another."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, _, rest = head[0].partition(" ")
        lines = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in head[1:])]
        headers = dict(lines)
        if method != "GET":
            writer.write(_head(Reply(405, "text/plain", b"", (("Allow", "GET"),)), "0"))
            return False
        groups = tuple(value for name, value in lines if name == "impersonate-group")
        asked = question(rest.rpartition(" ")[0], headers, groups)
        answer = await self._answer(asked)
        if answer.bookmark:
            await self._watch(asked, answer, reader, writer)
            return False
        writer.write(_head(answer, str(len(answer.body))) + answer.body)
        await writer.drain()
        return headers.get("connection", "").lower() != "close"

    async def _answer(self, asked: Question) -> Reply:
        """Let the question through the server as a request of its own; it waits where the server makes it wait."""
        server = self._server
        server.advance(self._clock())
        request = server.enter(asked.path, asked.query, asked.who)
        while request.state == "waiting":
            await asyncio.sleep(LOOK_AGAIN_S)
            server.advance(self._clock())
        answer = reply(self._plane, server, request, asked)
        if not request.refused:
            server.leave(request, handler_s(asked))
        return answer

    async def _watch(
        self, asked: Question, answer: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Hold a watch open until its time is over or its reader goes away; nothing changes here but bookmarks."""
        loop = asyncio.get_running_loop()
        end = loop.time() + asked.seconds("timeoutSeconds", WATCH_S)
        writer.write(_head(answer, None))
        if answer.body:
            writer.write(_chunk(answer.body))
        await writer.drain()
        while (left := end - loop.time()) > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(reader.read(1), min(left, BOOKMARK_S))
                return
            if asked.flag("allowWatchBookmarks") and left > BOOKMARK_S:
                writer.write(_chunk(answer.bookmark))
                await writer.drain()
        writer.write(b"0\r\n\r\n")


def _head(answer: Reply, length: str | None) -> bytes:
    """The head of an answer; without a length its body comes in chunks."""
    lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}", f"Content-Type: {answer.content_type}"]
    lines += [f"{name}: {value}" for name, value in answer.headers]
    lines.append("Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"
