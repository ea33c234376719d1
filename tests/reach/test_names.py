"""Names of servers, and a name server that is slow, wrong or silent."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from apftop.access import Access
from apftop.fetch import Manner
from apftop.names import Names
from tests.reach.asking import ask, fails, reaching
from tests.reach.server import Ca, Server

HERE = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 6443))]

Answer = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture
def no_executor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the executor that is joined at exit unusable."""

    def used(*_: object) -> None:
        raise AssertionError("the default executor is used")

    monkeypatch.setattr(asyncio.BaseEventLoop, "run_in_executor", used)


def answering(monkeypatch: pytest.MonkeyPatch, answer: Answer) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", answer)


async def test_an_address_comes_with_its_port() -> None:
    names = Names(5.0)
    assert ("127.0.0.1", 6443) in {(found["host"], found["port"]) for found in await names.resolve("localhost", 6443)}


async def test_a_name_that_is_not_known_is_looked_up_again_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def unknown(*_: object) -> list[tuple[Any, ...]]:
        asked.append(None)
        raise socket.gaierror(socket.EAI_NONAME, "not known")

    answering(monkeypatch, unknown)
    names = Names(5.0)
    for _ in range(2):
        with pytest.raises(socket.gaierror):
            await names.resolve("api.example", 6443)
    assert len(asked) == 2


async def test_a_late_answer_is_for_who_asks_next(monkeypatch: pytest.MonkeyPatch) -> None:
    told = threading.Event()
    asked: list[object] = []

    def late(*_: object) -> list[tuple[Any, ...]]:
        asked.append(None)
        told.wait(20)
        return HERE

    answering(monkeypatch, late)
    names = Names(0.1)
    for _ in range(3):
        with pytest.raises(TimeoutError) as caught:
            await names.resolve("api.example", 6443)
        assert caught.value.errno == errno.ETIMEDOUT
    assert len(asked) == 1
    told.set()
    for _ in range(100):
        if not any(thread.name == "apftop-work" for thread in threading.enumerate()):
            break
        await asyncio.sleep(0.05)
    assert [found["host"] for found in await names.resolve("api.example", 6443)] == ["127.0.0.1"]
    assert len(asked) == 1


async def test_what_hangs_for_long_is_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    told = threading.Event()
    asked: list[object] = []

    def hung_once(*_: object) -> list[tuple[Any, ...]]:
        asked.append(None)
        if len(asked) == 1:
            told.wait(20)
        return HERE

    answering(monkeypatch, hung_once)
    monkeypatch.setattr("apftop.names.HUNG_S", 0.5)
    names = Names(0.1)
    with pytest.raises(TimeoutError):
        await names.resolve("api.example", 6443)
    await asyncio.sleep(0.5)
    monkeypatch.setattr(names, "_within_s", 20.0)
    assert [found["host"] for found in await names.resolve("api.example", 6443)] == ["127.0.0.1"]
    told.set()


@pytest.mark.usefixtures("no_executor")
def test_a_name_server_that_is_silent_has_words_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    silence = threading.Event()

    def silent(*_: object) -> list[tuple[Any, ...]]:
        silence.wait(20)
        return []

    answering(monkeypatch, silent)
    error = fails(Access("x", "https://api.example:6443"), Manner(connect_s=0.5))
    silence.set()
    assert error == "name not resolved in 0.4 s: api.example:6443"


@pytest.mark.usefixtures("no_executor")
def test_servers_are_reached_by_name_without_the_executor(ca: Ca, server: Server) -> None:
    assert ask(replace(reaching(server, ca), url=server.url.replace("127.0.0.1", "localhost"))).ok
    with Server(ca, ["kubernetes"]) as other:
        access = replace(reaching(other, ca), url=other.url.replace("127.0.0.1", "localhost"))
        assert fails(access).startswith("TLS: certificate is for other names (kubernetes), not localhost")


INTERRUPTED = """
import socket, sys, time
def hang(*_, **__):
    print("hanging", flush=True)
    time.sleep(3600)
socket.getaddrinfo = hang
from apftop.cli import main
sys.argv = ["apftop", "report", "--server", "https://api.example:6443", "--request-timeout", "60"]
main()
"""


def test_ctrl_c_ends_a_report_whose_name_server_is_silent() -> None:
    took: list[float] = []
    for _ in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as run:
            assert run.stdout and run.stdout.readline() == b"hanging\n"
            begun = time.monotonic()
            run.send_signal(signal.SIGINT)
            _, talk = run.communicate(timeout=60)
            took.append(time.monotonic() - begun)
            assert b"Traceback" not in talk
    assert min(took) < 1.0
