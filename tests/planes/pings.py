"""A second client of a server, in a process of its own: one cheap request after another, and how long each took."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.planes.plane import Plane

PATH = "/version"
PAUSE_S = 0.002
"""Back to back but for this, so that it takes no core for itself."""
LONG_S = 60.0


@dataclass
class Pings:
    """When each request began and how long it took, seconds of the monotonic clock; there once the client has ended."""

    times: list[tuple[float, float]] = field(default_factory=list)

    def longest(self, since: float, until: float) -> float:
        """The longest that a request took of those that were under way in a span."""
        return max(took for began, took in self.times if began + took >= since and began <= until)


@contextmanager
def pinging(plane: Plane, replica: int = 0, user: str = "admin") -> Iterator[Pings]:
    """Pings a replica during the block; the times are complete after it."""
    command = [sys.executable, "-m", __name__, plane.urls[replica], str(plane.ca_file)]
    environment = os.environ | {"TOKEN": plane.tokens[user]}
    pings = Pings()
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield pings
            found, _ = process.communicate(timeout=LONG_S)
            pings.times = [(began, took) for began, took in json.loads(found)]
        finally:
            process.kill()


def main(url: str, ca_file: str) -> None:
    """Ping until standard input ends, then print all times as JSON."""
    at = urlsplit(url)
    context = ssl.create_default_context(cafile=ca_file)
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
    ended = threading.Event()

    def await_end() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=await_end, daemon=True).start()
    connection = http.client.HTTPSConnection(at.hostname or "", at.port, timeout=LONG_S, context=context)
    times: list[tuple[float, float]] = []
    while not ended.is_set():
        began = time.monotonic()
        connection.request("GET", PATH, headers=headers)
        connection.getresponse().read()
        times.append((began, time.monotonic() - began))
        if len(times) == 1:
            print("ready", flush=True)
        time.sleep(PAUSE_S)
    print(json.dumps(times))


if __name__ == "__main__":
    main(*sys.argv[1:])
