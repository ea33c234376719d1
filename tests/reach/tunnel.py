"""An HTTP proxy on loopback that tunnels whatever a client asks it to, over TLS if it has a context for that."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
from types import TracebackType
from typing import Self


class Proxy:
    """Runs in a thread of its own while the `with` lasts; `heads` are the heads of the requests that came."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.heads: list[str] = []
        self._tls = tls
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.port: int = asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def url(self, login: str = "") -> str:
        return f"{'https' if self._tls else 'http'}://{login}127.0.0.1:{self.port}"

    async def _start(self) -> int:
        self._server = await asyncio.start_server(self._connection, "127.0.0.1", 0, ssl=self._tls)
        return int(self._server.sockets[0].getsockname()[1])

    async def _stop(self) -> None:
        self._server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.heads.append(head)
            host, _, port = head.split()[1].rpartition(":")
            far_reader, far_writer = await asyncio.open_connection(host.strip("[]"), int(port))
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
        writer.close()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while piece := await source.read(1 << 16):
            sink.write(piece)
            await sink.drain()
    sink.close()
