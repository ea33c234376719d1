"""A server on loopback that echoes what it saw of its client, or answers or breaks as it is told."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import parse_qs, urlsplit

import trustme


@dataclass(frozen=True)
class Reply:
    """What to answer, and how.

    It begins after `after_s` seconds. `half` closes and `stall` falls silent in the middle of the body; `hang` never
    answers; `reset` and `close` end the connection instead of answering; `garbage` is not HTTP.
    """

    status: int = 200
    body: bytes = b""
    headers: Sequence[tuple[str, str]] = ()
    how: Literal["whole", "half", "hang", "stall", "reset", "close", "garbage"] = "whole"
    after_s: float = 0.0


@dataclass
class Seen:
    """One request as the server saw it, `at` seconds of the monotonic clock."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, list[str]]
    sni: str | None
    common_name: str | None
    connection: int
    at: float


@dataclass
class Ca:
    """An authority with the files that a client and a server need."""

    folder: Path
    authority: trustme.CA = field(default_factory=trustme.CA)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.authority.cert_pem.write_to_path(str(self.ca_file))

    @property
    def ca_file(self) -> Path:
        return self.folder / "ca.crt"

    @property
    def ca_pem(self) -> bytes:
        return self.authority.cert_pem.bytes()

    def client(self, name: str) -> tuple[bytes, bytes]:
        """Certificate chain and key in PEM for a client of this common name."""
        issued = self.authority.issue_cert(common_name=name)
        return b"".join(blob.bytes() for blob in issued.cert_chain_pems), issued.private_key_pem.bytes()


class Server:
    """Runs in a thread of its own while the `with` lasts.

    `replies` are by path; other paths echo in JSON. `whole` counts answers that came to their end while the client was
    still there. Each TLS handshake takes `handshake_s` seconds longer.
    """

    def __init__(self, ca: Ca | None, names: Sequence[str] = ("127.0.0.1", "localhost"), port: int = 0) -> None:
        self.port = port
        self.replies: dict[str, Reply] = {}
        self.seen: list[Seen] = []
        self.whole = 0
        self.handshake_s = 0.0
        self._sni: dict[ssl.SSLObject, str | None] = {}
        self.tls = self._context(ca, names) if ca else None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._connections = 0

    def _context(self, ca: Ca, names: Sequence[str]) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        ca.authority.issue_cert(*names).configure_cert(context)
        ca.authority.configure_trust(context)
        context.verify_mode = ssl.CERT_OPTIONAL

        def remember(tls: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
            self._sni[tls] = name
            time.sleep(self.handshake_s)

        context.sni_callback = remember
        return context

    def __enter__(self) -> Self:
        self._thread.start()
        started = asyncio.run_coroutine_threadsafe(self._start(), self._loop)
        self.port = started.result(10)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    async def _start(self) -> int:
        self._server = await asyncio.start_server(self._connection, "127.0.0.1", self.port, ssl=self.tls)
        return int(self._server.sockets[0].getsockname()[1])

    async def _stop(self) -> None:
        self._server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        number = self._connections
        try:
            while await self._request(reader, writer, number):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            pass
        finally:
            writer.close()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> bool:
        """Answer one request: whether the connection lives on."""
        begin = await reader.readexactly(1)
        if begin == b"\x16":
            # A client that speaks TLS to plain http; Go answers likewise.
            writer.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n400 Bad Request")
            await writer.drain()
            return False
        head = (begin + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ", 2)
        headers: dict[str, list[str]] = {}
        for line in filter(None, head[1:]):
            name, _, value = line.partition(":")
            headers.setdefault(name.strip().lower(), []).append(value.strip())
        tls = writer.get_extra_info("ssl_object")
        subject: Any = (writer.get_extra_info("peercert") or {}).get("subject", ())
        names = [value for part in subject for key, value in part if key == "commonName"]
        parts = urlsplit(target)
        seen = Seen(
            method=method,
            path=parts.path,
            query=parse_qs(parts.query),
            headers=headers,
            sni=self._sni.get(tls) if tls else None,
            common_name=names[0] if names else None,
            connection=number,
            at=time.monotonic(),
        )
        self.seen.append(seen)
        echo = Reply(body=json.dumps(vars(seen)).encode(), headers=[("Content-Type", "application/json")])
        going_on = await _send(writer, self.replies.get(parts.path, echo))
        self.whole += going_on and not reader.at_eof()
        return going_on


async def _send(writer: asyncio.StreamWriter, reply: Reply) -> bool:
    await asyncio.sleep(reply.after_s)
    if reply.how == "hang":
        await asyncio.sleep(3600)
    if reply.how == "reset":
        # A linger of zero seconds makes the close a reset.
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()
        return False
    if reply.how == "close":
        return False
    if reply.how == "garbage":
        writer.write(b"220 mail.example.com ESMTP\r\n")
        await writer.drain()
        return False
    fields = "".join(f"{name}: {value}\r\n" for name, value in reply.headers)
    writer.write(f"HTTP/1.1 {reply.status} X\r\nContent-Length: {len(reply.body)}\r\n{fields}\r\n".encode())
    body = reply.body if reply.how == "whole" else reply.body[: len(reply.body) // 2]
    writer.write(body)
    await writer.drain()
    if reply.how == "stall":
        await asyncio.sleep(3600)
    return reply.how == "whole"
