"""An answer in flight is read to its end although the program ends: a server counts each that is not."""

from __future__ import annotations

import subprocess
import sys

from apftop.records.raw import Endpoint
from tests.poll.polling import LONG_S, PATHS, asked, forbid_the_rest, wait_until
from tests.reach.server import Ca, Reply, Server

ENDING = """
import sys
from apftop.access import Access
from apftop.fetch import Manner
from apftop.poll.net import Net
from apftop.records.asking import Plan
from apftop.records.raw import Endpoint

url, ca_file = sys.argv[1:]
net = Net(
    [Access("one", url, ca_file=ca_file)], discover=False, manner=Manner(), first=Plan({Endpoint.LEVELS: 60.0}),
    deliver=lambda sample: None, tell=lambda line: None,
)
net.start()
sys.stdin.readline()
net.stop()
"""
ANSWER_S = 0.15
ROUNDS = 5


def is_read_to_its_end(ca: Ca) -> bool:
    """Whether the answer to a program that ends is read so, by its server."""
    with Server(ca) as server:
        forbid_the_rest(server)
        server.replies[PATHS[Endpoint.LEVELS]] = Reply(body=b"late", after_s=ANSWER_S)
        command = [sys.executable, "-c", ENDING, server.url, str(ca.ca_file)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, text=True) as run:
            wait_until(lambda: asked(server, Endpoint.LEVELS))
            run.communicate("\n", timeout=LONG_S)
        return run.returncode == 0 and server.whole == len(server.seen)


def test_an_answer_in_flight_is_read_to_its_end_though_the_program_ends(ca: Ca) -> None:
    assert any(is_read_to_its_end(ca) for _ in range(ROUNDS))
