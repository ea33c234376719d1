"""Three servers on loopback until terminated: `python -m tests.ui.burden` prints their URLs.

One is of the demo, one sends 60 MB of metrics over some seconds, again and again, and one never answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal

from apftop.demo.running import start_demo

BODY_BYTES = 60_000_000
BYTES_PER_S = 4_000_000
PIECE = 64 << 10
OTHERS = b'apiserver_request_duration_seconds_bucket{verb="GET",resource="pods",le="0.05"} 12345\n'
OURS = b'apiserver_flowcontrol_current_inqueue_requests{flow_schema="load",priority_level="load"} 1\n'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n"


def large() -> bytes:
    """One piece of an answer of which little is of use."""
    return OURS + OTHERS * ((PIECE - len(OURS)) // len(OTHERS))


async def heavy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers metrics at length, and refuses the rest."""
    piece = large()
    count = BODY_BYTES // len(piece)
    with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
        while request := await reader.readuntil(b"\r\n\r\n"):
            if b" /metrics" not in request.split(b"\r\n")[0]:
                writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
                continue
            writer.write(HEAD + b"Content-Length: %d\r\n\r\n" % (count * len(piece)))
            for _ in range(count):
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(len(piece) / BYTES_PER_S)
    writer.close()


async def hung(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Reads, and says nothing."""
    with contextlib.suppress(OSError, asyncio.CancelledError):
        while await reader.read(PIECE):
            pass
    writer.close()


async def main() -> None:
    demo = start_demo()
    servers = [await asyncio.start_server(one, "127.0.0.1", 0) for one in (heavy, hung)]
    ports = (server.sockets[0].getsockname()[1] for server in servers)
    print(demo.urls[0], *(f"http://127.0.0.1:{port}" for port in ports), flush=True)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    await ended.wait()
    demo.stop()


if __name__ == "__main__":
    asyncio.run(main())
