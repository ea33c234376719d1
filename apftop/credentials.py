"""Credentials that change while they are in use: they are renewed beside the event loop, which never waits for long."""

from __future__ import annotations

import asyncio
import atexit
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from apftop.access import Auth, Headers, Unreachable
from apftop.errors import reason

T = TypeVar("T")

WAIT_S = 10.0
"""How long a request waits for a credential where none holds."""

FIRST_WAIT_S = 30.0
"""How long the first credential is waited for, before anything is asked."""

STUCK_S = 300.0
"""After this long a renewal that hangs is given up, and another one may start."""

TOKEN_FILE_EVERY_S = 10.0
TOKEN_FILE_HOLDS_S = 60.0
"""How long a token counts after it was read, if its file cannot be read again; client-go reads it each minute."""
TOKEN_FILE_PAUSE_S = 2.0


@dataclass(frozen=True)
class Credential:
    """The headers that prove who asks, or a client certificate with its key in PEM that does, or both.

    `until` is when they end in Unix seconds, None where nobody says.
    """

    headers: Headers = field(default=(), repr=False)
    until: float | None = None
    pem: str = field(default="", repr=False)


class Renewing:
    """An Auth whose credential is renewed `early_s` seconds before its end, and after a server refused it.

    Renewals run one at a time, in daemon threads, and start at least `pause_s` seconds apart. Requests go on with the
    old credential meanwhile; only where it holds no more do they wait, and raise Unreachable if the renewal fails or
    takes too long. `where` says whose credential it is. `cert_file` holds the latest client certificate with its key,
    and is None if the first credential has none. Safe to use from several threads and event loops.
    """

    def __init__(
        self, renew: Callable[[], Credential], first: Credential, where: str, *, early_s: float, pause_s: float
    ) -> None:
        self.edition = 0
        self.cert_file = _private_file(first.pem) if first.pem else None
        self._renew = renew
        self._held = first
        self._where = where
        self._early_s = early_s
        self._pause_s = pause_s
        self._begun = self._renewed = time.monotonic()
        self._refused = False
        self._failure: Unreachable | None = None
        self._running: Future[None] | None = None
        self._number = 0
        self._lock = threading.Lock()

    async def __call__(self) -> Headers:
        """The headers of a credential that holds, as far as anybody knows. Raises Unreachable."""
        with self._lock:
            if self._due():
                self._start()
            running, holds = self._running, self._holds()
        if running and not holds:
            try:
                await asyncio.wait_for(asyncio.wrap_future(running), WAIT_S)
            except TimeoutError:
                raise Unreachable(f"no new credential in {WAIT_S:g} s", self._where, "see why it hangs") from None
        with self._lock:
            if self._failure and not self._holds():
                raise Unreachable(*self._failure.args)
            return self._held.headers

    def refused(self) -> None:
        """A server did not believe the credential; it may have been an older one than that of a moment ago."""
        with self._lock:
            if time.monotonic() - self._renewed >= self._pause_s:
                self._refused = True

    def _holds(self) -> bool:
        return not self._refused and (self._held.until is None or time.time() < self._held.until)

    def _due(self) -> bool:
        age = time.monotonic() - self._begun
        if age < self._pause_s or (self._running and age < STUCK_S):
            return False
        return self._refused or (self._held.until is not None and time.time() >= self._held.until - self._early_s)

    def _start(self) -> None:
        self._begun = time.monotonic()
        self._number += 1
        self._running = _in_thread(partial(self._work, self._number))

    def _work(self, number: int) -> None:
        got: Credential | None = None
        failure: Unreachable | None = None
        try:
            got = self._renew()
            if got.pem and self.cert_file:
                _replace(self.cert_file, got.pem)
        except Unreachable as exc:
            failure = exc
        except Exception as exc:  # noqa: BLE001  whatever it is, the person is told where a credential is needed
            what = reason(exc) if isinstance(exc, OSError) else type(exc).__name__
            failure = Unreachable(f"no new credential ({what})", self._where, "log in again")
        with self._lock:
            # One that was given up has nothing to say any more.
            if self._number == number:
                self._running, self._failure = None, failure
                if got and not failure:
                    self._take(got)

    def _take(self, credential: Credential) -> None:
        self.edition += bool(credential.pem and credential.pem != self._held.pem)
        self._held = credential
        self._refused = False
        self._renewed = time.monotonic()


def first(work: Callable[[], Credential], where: str) -> Credential:
    """The credential to begin with. Blocks for so long at most. Raises Unreachable, as `work` may."""
    try:
        return _in_thread(work).result(FIRST_WAIT_S)
    except TimeoutError:
        raise Unreachable(f"no credential in {FIRST_WAIT_S:g} s", where, "see why it hangs") from None


def _in_thread(work: Callable[[], T]) -> Future[T]:
    """What some work will give, in a daemon thread of its own, which nobody has to wait for."""
    future: Future[T] = Future()
    # So that who stops waiting does not cancel it for the others.
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(work())
        except Exception as exc:  # noqa: BLE001  whatever it is, it is raised where it is waited for
            future.set_exception(exc)

    threading.Thread(target=run, name="apftop-credential", daemon=True).start()
    return future


def fixed(headers: Headers) -> Auth:
    """The Auth of headers that never change."""

    async def given() -> Headers:
        return headers

    return given


def token_file(path: str, extra: Headers = ()) -> Auth:
    """The Auth of a bearer token in a file, which is read again and again because tokens rotate. Raises Unreachable.

    The `extra` headers come along. What is no regular file, such as a pipe, can be read once only.
    """

    def read() -> Credential:
        headers = (("Authorization", f"Bearer {read_token(path)}"), *extra)
        return Credential(headers, until=time.time() + TOKEN_FILE_HOLDS_S)

    rotates = os.path.isfile(path)
    begin = first(read, path)
    if not rotates:
        return fixed(begin.headers)
    early_s = TOKEN_FILE_HOLDS_S - TOKEN_FILE_EVERY_S
    return Renewing(read, begin, path, early_s=early_s, pause_s=TOKEN_FILE_PAUSE_S)


def read_token(path: str) -> str:
    """The bearer token in a file. Raises Unreachable."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            token = file.read().strip()
    except OSError as exc:
        raise Unreachable(f"token file cannot be read ({reason(exc)})", path, "check it") from None
    if not token:
        raise Unreachable("token file is empty", path, "write a bearer token into it")
    return token


def _private_file(text: str) -> str:
    """The name of a new file that only this user can read, and that is gone when the program ends."""
    folder = tempfile.mkdtemp(prefix="apftop-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, "client.pem")
    _replace(path, text)
    return path


def _replace(path: str, text: str) -> None:
    """Write a file in one step, so that who opens it meanwhile gets the old or the new one."""
    descriptor = os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(f"{path}.new", path)
