"""All logs that somebody gave, read once from their beginning to their end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import IO, cast

from apftop.bundle_files import Opened
from apftop.errors import Trouble
from apftop.logs.in_bundle import Kind, log_files
from apftop.logs.lines import Take, take_lines
from apftop.logs.server_log import ServerLogs
from apftop.logs.throttled import Throttled
from apftop.records.logs import NO_LOGS, Logs


def logs_of(path: Path | None, client_logs: Sequence[Path] = (), audit_logs: Sequence[Path] = ()) -> Logs:
    """What the logs of a bundle (`path`, None where there is none) and those named besides tell.

    Client logs may be of any client; audit logs may be access logs of API servers as well; all may be gzip. A file is
    read line by line (audit logs some 50 MB a second, access logs 10), and memory is bounded whatever its size. What
    cannot be read is named in `problems` and left out. `client` is None where no client log was given, and has 0 lines
    where its client never had to wait. Raises Trouble for a path that is no bundle, and for a named file that cannot be
    opened.
    """
    given: list[tuple[str, Kind, str, Opened]] = [
        *((str(file), "client", "", _opening(file)) for file in client_logs),
        *((str(file), "audit", "", _opening(file)) for file in audit_logs),
    ]
    throttled, servers, problems = Throttled(), ServerLogs(), list[str]()
    kinds = set[Kind]()
    for name, kind, server, opened in _all(path, given):
        take: dict[Kind, Take] = {
            "client": throttled.take,
            "audit": servers.take_strictly,
            "server": partial(servers.take, server=server),
        }
        problems += _read(name, opened, take[kind])
        kinds.add(kind)
    if not kinds:
        return NO_LOGS
    servers.end()
    audited, accessed = servers.audited, servers.accessed
    most = audited if audited.requests >= accessed.requests else accessed
    callers = (*audited.callers(), *accessed.callers())
    return Logs(
        throttled.log() if "client" in kinds else None,
        tuple(sorted(callers, key=lambda one: -one.requests)),
        most.requests,
        most.seconds(),
        servers.denials.denied(),
        tuple(problems),
    )


def _all(path: Path | None, given: Iterable[tuple[str, Kind, str, Opened]]) -> Iterator[tuple[str, Kind, str, Opened]]:
    if path is not None:
        yield from log_files(path)
    yield from given


def _opening(file: Path) -> Opened:
    def opened() -> IO[bytes]:
        try:
            return file.open("rb")
        except OSError as error:
            raise Trouble(f"the log cannot be read ({error.strerror})", str(file), "name another file") from error

    return opened


def _read(name: str, opened: Opened, take: Take) -> Iterator[str]:
    try:
        with opened() as stream:
            yield from take_lines(cast(BufferedReader, stream), name, take)
    except OSError as error:
        yield f"{name}: cannot be read: {error.strerror or error}"
