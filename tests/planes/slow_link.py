"""A link of a chosen speed: a TCP relay on loopback that keeps nothing, so that a server blocks in writing."""

from __future__ import annotations

import contextlib
import math
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

# What a server on loopback may have on its way is megabytes, since the system reckons with segments of 64 kB.
SEGMENT_BYTES = 1448
RECEIVE_BYTES = 4 << 10
CHUNK_BYTES = 2 << 10
ALL_BYTES = 64 << 10
LONG_S = 60.0


class Link:
    """Where to connect to, and what has come from the server so far."""

    def __init__(self, url: str, bytes_per_s: float) -> None:
        at = urlsplit(url)
        self._server = (at.hostname or "", at.port or 443)
        self._rate = bytes_per_s
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self.url = f"https://127.0.0.1:{self._listener.getsockname()[1]}"
        self.connections = 0
        self.bytes = 0

    def serve(self) -> None:
        """Relay each connection until the link is closed."""
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.connections += 1
                server = self._connected()
                self._open |= {client, server}
                for source, target, rate in ((client, server, math.inf), (server, client, self._rate)):
                    arguments = (source, target, rate, source is server)
                    threading.Thread(target=self._relay, args=arguments, name="link", daemon=True).start()

    def close(self) -> None:
        """End it, with all connections."""
        for one in (self._listener, *self._open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _connected(self) -> socket.socket:
        server = socket.socket()
        if math.isfinite(self._rate):
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, SEGMENT_BYTES)
            server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
        server.connect(self._server)
        return server

    def _relay(self, source: socket.socket, target: socket.socket, rate: float, counted: bool) -> None:
        due = 0.0
        size = CHUNK_BYTES if math.isfinite(rate) else ALL_BYTES
        with contextlib.suppress(OSError):
            while chunk := source.recv(size):
                due = max(due, time.monotonic()) + len(chunk) / rate
                time.sleep(max(0.0, due - time.monotonic()))
                target.sendall(chunk)
                if counted:
                    self.bytes += len(chunk)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


@contextmanager
def link_to(url: str, bytes_per_s: float = math.inf) -> Iterator[Link]:
    """A link to a server; what the server sends passes at that speed."""
    link = Link(url, bytes_per_s)
    thread = threading.Thread(target=link.serve, name="link", daemon=True)
    thread.start()
    try:
        yield link
    finally:
        link.close()
        thread.join(LONG_S)
