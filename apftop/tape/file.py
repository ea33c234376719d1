"""A tape that grows on the disk, in parts of bounded size and age, of which the newest has its name."""

from __future__ import annotations

import contextlib
import fcntl
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from apftop.errors import Trouble, reason
from apftop.tape.layout import FIRST_LINE, FORMAT

PARTS = 8
"""A bounded tape is kept in so many parts, of which the oldest goes when there is one more."""

SUFFIX = ".apftape"
"""How the names of tapes end, as far as this program gives them."""

LEAST_PART_BYTES = 64 << 10
SYNCED_S = 10.0
"""What a loss of power may cost; what a crash of this program may cost is the record that is being written."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How large a tape may get (bytes of all parts) and how old (seconds); None for no bound."""

    most_bytes: int | None = None
    most_s: float | None = None

    @property
    def part_bytes(self) -> float:
        """How large a part gets."""
        return float("inf") if self.most_bytes is None else max(LEAST_PART_BYTES, self.most_bytes / PARTS)

    @property
    def part_s(self) -> float:
        """How long a part gets."""
        return float("inf") if self.most_s is None else self.most_s / PARTS


class TapeFile:
    """Writes records to a tape, only for the user to read (0600); one that is there is continued.

    Raises Trouble where there is something else under that name, or it cannot be written; after that the tape has all
    records that were written whole.
    """

    def __init__(self, path: Path, bounds: Bounds = Bounds()) -> None:
        self.path, self._bounds = path, bounds
        self._file = -1
        self._size = 0
        self._began = 0.0
        self._synced = 0.0

    def write(self, piece: bytes, now: float, *, begins: bool) -> None:
        """Append one record; `begins` where it begins a segment, before which a part may end. `now` is Unix seconds."""
        try:
            if self._file < 0:
                self._open(now)
            elif begins and (self._size >= self._bounds.part_bytes or now - self._began >= self._bounds.part_s):
                self._rotate(now)
            self._append(piece)
            if not 0 <= now - self._synced < SYNCED_S:
                os.fsync(self._file)
                self._synced = now
        except OSError as error:
            self._drop_torn()
            text = f"the tape cannot be written on ({reason(error)}); it keeps what is on it"
            raise Trouble(text, str(self.path)) from error

    def close(self) -> None:
        """Make sure that all of it is on the disk."""
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.fsync(self._file)
            os.close(self._file)
            self._file = -1

    def _open(self, now: float) -> None:
        check_tape(self.path)
        self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._file)
            self._file = -1
            raise Trouble("another recorder writes this tape", str(self.path), "name another one") from error
        self._size = os.fstat(self._file).st_size
        self._began = now
        first = FIRST_LINE % FORMAT
        if self._size < len(first):
            os.ftruncate(self._file, 0)
            self._size = 0
            self._append(first)

    def _append(self, piece: bytes) -> None:
        view = memoryview(piece)
        done = 0
        while done < len(view):
            done += os.write(self._file, view[done:])
        self._size += len(view)

    def _drop_torn(self) -> None:
        """Cut off what was written of a record that could not be written whole."""
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self._size)

    def _rotate(self, now: float) -> None:
        os.fsync(self._file)
        os.close(self._file)
        self._file = -1
        os.replace(self.path, part_name(self.path, self._began))
        self._open(now)
        old = parts_of(self.path)[:-1]
        total = sum(part.stat().st_size for part in old)
        for part in old:
            too_old = self._bounds.most_s is not None and now - part.stat().st_mtime > self._bounds.most_s
            too_large = (
                self._bounds.most_bytes is not None and total + self._bounds.part_bytes > self._bounds.most_bytes
            )
            if not too_old and not too_large:
                break
            total -= part.stat().st_size
            part.unlink()


def write_tape(tape: bytes, path: Path) -> Path:
    """Write a whole tape under a new name, for the user alone to read. Raises OSError."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(tape)
        file.flush()
        os.fsync(file.fileno())
    return path


def check_tape(path: Path) -> None:
    """Raise Trouble where no tape can be begun or continued: another file, or a tape of another format."""
    if path.is_dir():
        raise Trouble("there is a folder of this name", str(path), "name a file")
    if not path.parent.is_dir():
        raise Trouble("no such folder", str(path.parent), "make it, or name another place")
    try:
        with path.open("rb") as file:
            first = file.read(len(FIRST_LINE % FORMAT))
    except FileNotFoundError:
        return
    except OSError as error:
        raise Trouble(f"the tape cannot be opened ({reason(error)})", str(path)) from error
    if first and not (FIRST_LINE % FORMAT).startswith(first):
        raise Trouble(
            "there is another file of this name, and it is no tape of this version", str(path), "name another"
        )


def part_name(path: Path, began: float) -> Path:
    """What a part is called once it is full: the tape's name and when it began."""
    return path.with_name(f"{path.name}.{datetime.fromtimestamp(began, UTC):%Y%m%dT%H%M%S.%fZ}")


def parts_of(path: Path) -> list[Path]:
    """The files of a tape, oldest first."""
    older = sorted(one for one in path.parent.glob(f"{_literal(path.name)}.[0-9]*T[0-9]*Z") if one.is_file())
    return [*older, path]


def _literal(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
