"""Blocking work beside an event loop, in daemon threads: one that hangs keeps nobody from quitting."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_daemon(work: Callable[[], T]) -> T:
    """What `work` returns or raises, run in a thread of its own.

    asyncio's own executor is joined when the interpreter ends, and so waits for what hangs; this one does not. Who is
    cancelled while waiting leaves the thread to itself.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result: T | None = None
        error: BaseException | None = None
        try:
            result = work()
        except Exception as exc:  # noqa: BLE001  whatever it is, it is raised where it is waited for
            error = exc
        # The loop may be closed by now: nobody waits any more.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, name="apftop-work", daemon=True).start()
    return await future
