"""A tape that grows on the disk, in parts of bounded size and age, of which the newest has its name."""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from apftop.errors import Trouble, reason
from apftop.tape.found import FIRST, segments_of
from apftop.tape.layout import HEAD, SYNC
from apftop.tape.parts import SUFFIX, older_parts, part_name, parts_of

__all__ = ["SUFFIX", "Bounds", "TapeFile", "check_tape", "parts_of", "write_tape"]

PARTS = 8
"""A bounded tape is kept in so many parts, of which the oldest goes when there is one more."""

SYNCED_S = 10.0
"""What a loss of power may cost; what a crash of this program may cost is the record that is being written."""

_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


@dataclass(frozen=True, slots=True)
class Bounds:
    """How large a tape may get (bytes of all parts) and how old (seconds); None for no bound."""

    most_bytes: int | None = None
    most_s: float | None = None

    @property
    def part_bytes(self) -> float:
        """How large a part gets, but for the sample that fills it."""
        return float("inf") if self.most_bytes is None else self.most_bytes / PARTS

    @property
    def part_s(self) -> float:
        """How long a part gets."""
        return float("inf") if self.most_s is None else self.most_s / PARTS


@dataclass(frozen=True, slots=True)
class _Part:
    """A part that is full, its bytes, and its last moment (Unix seconds)."""

    path: Path
    size: int
    ended: float


class TapeFile:
    """Writes records to a tape, only for the user to read (0600); one that is there is continued.

    All methods but `close` raise Trouble where there is something else under that name, or it cannot be written; after
    that the tape has all records that were written whole.
    """

    def __init__(self, path: Path, bounds: Bounds = Bounds()) -> None:
        self.path, self._bounds = path.resolve() if _trusted(path) else path, bounds
        self._file = -1
        self._size = 0
        self._began = 0.0
        self._synced = 0.0
        self._older: list[_Part] = []

    def full(self, now: float) -> bool:
        """Whether a segment should begin with the next record, so that a part can end; `now` is Unix seconds."""
        if self._file < 0:
            return False
        return self._size >= self._bounds.part_bytes or now - self._began >= self._bounds.part_s

    def write(self, piece: bytes, now: float, *, begins: bool) -> None:
        """Append one record; `begins` where it begins a segment, before which a part may end. `now` is Unix seconds."""
        try:
            if begins and self._file >= 0 and not self._is_ours():
                self.close()
            if self._file < 0:
                self._open(now)
            if begins and self.full(now):
                self._rotate(now)
            self._make_room(len(piece), now)
            self._append(piece)
            if not 0 <= now - self._synced < SYNCED_S:
                os.fsync(self._file)
                self._synced = now
                if not self.path.parent.is_dir():
                    raise Trouble("the folder of the tape was removed", str(self.path.parent))
        except OSError as error:
            self._drop_torn()
            text = f"the tape cannot be written on ({reason(error)}); it keeps what is on it"
            raise Trouble(text, str(self.path)) from error

    def close(self) -> None:
        """Make sure that all of it is on the disk. Raises Trouble where that is not known."""
        if self._file < 0:
            return
        file, self._file = self._file, -1
        try:
            os.fsync(file)
        except OSError as error:
            raise Trouble(f"the end of the tape may not be on the disk ({reason(error)})", str(self.path)) from error
        finally:
            os.close(file)

    def _open(self, now: float) -> None:
        check_tape(self.path)
        self._file = os.open(self.path, _FLAGS, 0o600)
        try:
            _lock(self._file, self.path)
            _check_file(self._file, self.path)
        except Trouble:
            os.close(self._file)
            self._file = -1
            raise
        self._older = [_part(one) for one in older_parts(self.path)]
        self._size = os.fstat(self._file).st_size
        began = _began(self._file)
        self._began = now if began is None else began
        if self._size < len(FIRST):
            os.ftruncate(self._file, 0)
            self._size = 0
            self._append(FIRST)
            _sync_folder(self.path.parent)

    def _is_ours(self) -> bool:
        """Whether the file that is written has still the name of the tape, and was not cut by others."""
        ours = os.fstat(self._file)
        if ours.st_size < self._size:
            raise Trouble("something else has cut the tape short", str(self.path), "see what does, such as logrotate")
        try:
            return os.path.samestat(ours, self.path.stat())
        except FileNotFoundError:
            return False

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
        # Under its lock up to the end, so that no other recorder takes a part for a tape.
        os.replace(self.path, part_name(self.path, self._began, [one.path for one in self._older]))
        self.close()
        self._open(now)

    def _make_room(self, size: int, now: float) -> None:
        """Drop the oldest parts that leave no room for so many bytes, or whose end is too old."""
        most = self._bounds.most_bytes
        while self._older:
            too_old = self._bounds.most_s is not None and now - self._older[0].ended > self._bounds.most_s
            # A part that begins takes its first line too.
            total = sum(one.size for one in self._older) + self._size + size + len(FIRST)
            if not too_old and (most is None or total <= most):
                return
            self._older.pop(0).path.unlink(missing_ok=True)
        if most is not None and self._size + size > most:
            raise Trouble("a moment of these servers takes more than --max-size", str(self.path), "give it more")


def write_tape(tape: bytes, path: Path) -> Path:
    """Write a whole tape under a new name, for the user alone to read. Raises OSError."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(tape)
        file.flush()
        os.fsync(file.fileno())
    return path


def check_tape(path: Path) -> None:
    """Raise Trouble where no tape can be begun or continued, as far as that can be told without making a file."""
    if not _trusted(path):
        raise Trouble("this is a link that another user made", str(path), "name the file itself")
    try:
        if not path.resolve().parent.is_dir():
            raise Trouble("no such folder", str(path.resolve().parent), "make it, or name another place")
        if path.is_dir():
            raise Trouble("there is a folder of this name", str(path), "name a file")
        if not path.exists():
            _check_folder(path.resolve().parent)
            return
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise Trouble(f"the tape cannot be opened ({reason(error)})", str(path)) from error
    try:
        _check_file(file, path)
        _lock(file, path)
    finally:
        os.close(file)


def _check_folder(folder: Path) -> None:
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Trouble("no file can be made in this folder", str(folder), "name another place")


def _check_file(file: int, path: Path) -> None:
    seen = os.fstat(file)
    if not stat.S_ISREG(seen.st_mode):
        raise Trouble("this is no file that a tape could be in", str(path), "name another")
    if seen.st_uid != os.geteuid():
        raise Trouble("this file is another user's", str(path), "name another")
    first = os.pread(file, len(FIRST), 0)
    if first and not FIRST.startswith(first):
        raise Trouble(
            "there is another file of this name, and it is no tape of this version", str(path), "name another"
        )


def _lock(file: int, path: Path) -> None:
    """Be the only recorder of a file."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise Trouble("another recorder writes this tape", str(path), "name another one") from error


def _trusted(path: Path) -> bool:
    """Whether a name may be followed: no link, or one that this user or root made."""
    try:
        seen = path.lstat()
    except OSError:
        return True
    return not stat.S_ISLNK(seen.st_mode) or seen.st_uid in (0, os.geteuid())


def _began(file: int) -> float | None:
    """When a tape that is there began (Unix seconds), by its first record; None where it has none."""
    head = os.pread(file, HEAD.size, len(FIRST) + len(SYNC))
    return float(HEAD.unpack(head)[3]) if len(head) == HEAD.size else None


def _part(path: Path) -> _Part:
    """A file of a tape as it is; where nothing of it can be read it is as old as can be."""
    size = path.stat().st_size
    if not size:
        return _Part(path, 0, 0.0)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        found = segments_of(0, data)
    return _Part(path, size, found[-1].ended if found else 0.0)


def _sync_folder(folder: Path) -> None:
    """Make sure that a new name is on the disk."""
    file = os.open(folder, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
