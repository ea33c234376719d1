"""Quitting is not held up by anything that hangs, and a large answer costs no memory: each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from apftop.records.raw import Endpoint
from tests.poll.polling import LONG_S, PATHS, forbid_the_rest, gaps, wait_until
from tests.reach.server import Ca, Reply, Server

QUITTING = """
import json, socket, sys, threading, time
from apftop.access import Access
from apftop.daemon import in_daemon
from apftop.fetch import Manner
from apftop.poll.net import Net
from apftop.records.asking import Plan
from apftop.records.raw import Endpoint

url, ca_file, fault, discover = sys.argv[1:]
hung = threading.Event()

def hang(*_, **__):
    hung.set()
    time.sleep(3600)

async def slow():
    await in_daemon(hang)
    return ()

if fault == "names":
    socket.getaddrinfo = hang
auth = {"auth": slow} if fault == "credentials" else {}
net = Net(
    [Access("one", url, ca_file=ca_file, **auth), Access("two", url, ca_file=ca_file, **auth)],
    discover=bool(discover), manner=Manner(), first=Plan({Endpoint.LEVELS: 0.1, Endpoint.METRICS: 0.1}),
    deliver=lambda sample: None, tell=lambda line: None,
)
net.start()
if fault != "body":
    assert hung.wait(20)
print("hanging", flush=True)
sys.stdin.readline()
begun = time.monotonic()
net.stop()
print(json.dumps([time.monotonic() - begun, [thread.name for thread in threading.enumerate()]]), flush=True)
"""


@contextmanager
def quitting(arguments: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """A process that polls until it is told to quit, and is killed if it does not."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", QUITTING, *arguments]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as run:
        try:
            yield run
        finally:
            run.kill()


@pytest.mark.parametrize("discover", [False, True])
@pytest.mark.parametrize("fault", ["names", "credentials", "body"])
def test_quitting_takes_less_than_a_second(ca: Ca, fault: str, discover: bool) -> None:
    took: list[float] = []
    with Server(ca) as server:
        forbid_the_rest(server)
        server.replies |= dict.fromkeys(PATHS.values(), Reply(body=b"half", how="stall"))
        url = "https://api.example:6443" if fault == "names" else server.url
        for _ in range(3):
            server.seen.clear()
            arguments = [url, str(ca.ca_file), fault, "yes" if discover else ""]
            with quitting(arguments) as run:
                assert run.stdout
                assert run.stdout.readline() == "hanging\n"
                if fault == "body":
                    wait_until(lambda: any(seen.path in PATHS.values() for seen in tuple(server.seen)))
                begun = time.monotonic()
                said, talk = run.communicate("\n", timeout=LONG_S)
                took.append(time.monotonic() - begun)
            stopping, threads = json.loads(said)
            assert stopping < 0.2
            assert not [name for name in threads if name.startswith(("asyncio_", "ThreadPool"))]
            assert talk == ""
    assert min(took) < 1.0


LARGE = """
import json, sys, time, tracemalloc
from apftop.access import Access
from apftop.fetch import Manner
from apftop.parse.body import picker_of_apf
from apftop.poll.net import Net
from apftop.records.asking import Plan
from apftop.records.raw import Endpoint

large, quick, ca_file = sys.argv[1:]
samples = []

def of(name, endpoint):
    return [sample for sample in tuple(samples) if (sample.replica, sample.endpoint) == (name, endpoint)]

def wait(true):
    while not true():
        time.sleep(0.01)

quick_plan = Plan({Endpoint.LEVELS: 0.1})
net = Net(
    [Access("large", large, ca_file=ca_file), Access("quick", quick, ca_file=ca_file)],
    discover=False, manner=Manner(picker=picker_of_apf), first=quick_plan,
    deliver=samples.append, tell=lambda line: None,
)
net.start()
wait(lambda: of("large", Endpoint.LEVELS) and of("quick", Endpoint.LEVELS))
tracemalloc.start()
net.plan({"large": Plan({Endpoint.METRICS: 60.0})})
wait(lambda: of("large", Endpoint.METRICS))
(answer,) = of("large", Endpoint.METRICS)
held = tracemalloc.get_traced_memory()[1]
times = [sample.received for sample in of("quick", Endpoint.LEVELS)]
times = [at for at in times if answer.sent <= at <= answer.received]
print(json.dumps({
    "error": answer.error, "kept": len(answer.body), "whole": answer.whole_bytes, "wire": answer.wire_bytes,
    "took": answer.received - answer.sent, "held": held, "times": [answer.sent, *times, answer.received],
}))
net.stop()
"""


def run_large(arguments: Sequence[str]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", LARGE, *arguments], capture_output=True, text=True, timeout=120, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_large_answer_is_picked_as_it_comes_while_another_server_is_asked(ca: Ca) -> None:
    wanted = b"# TYPE apiserver_flowcontrol_nominal_limit_seats gauge\napiserver_flowcontrol_nominal_limit_seats 1\n"
    line = b'apiserver_request_duration_seconds_bucket{verb="LIST",resource="pods",scope="cluster",le="0.5"} 1234\n'
    body = wanted + b"# TYPE apiserver_request_duration_seconds histogram\n" + line * (60_000_000 // len(line))
    with Server(ca) as large, Server(ca) as quick:
        for server in (large, quick):
            forbid_the_rest(server)
        large.replies[PATHS[Endpoint.METRICS]] = Reply(
            body=body, headers=[("Content-Type", "text/plain; version=0.0.4")]
        )
        found = run_large([large.url, quick.url, str(ca.ca_file)])
    assert found["error"] == ""
    assert found["whole"] == found["wire"] == len(body)
    assert found["kept"] == len(wanted)
    assert found["held"] < 10_000_000
    assert len(found["times"]) > 3
    assert max(gaps(found["times"])) < max(0.5, found["took"] / 2)
