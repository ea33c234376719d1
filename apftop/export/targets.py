"""Where an export is written to: it is there as a whole or not at all, for its user alone."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from apftop.errors import Trouble, reason


def check_file(target: Path, *, force: bool) -> None:
    """Raise Trouble where no file can be written under that name, as far as that shows before."""
    _check_parent(target)
    if target.is_dir():
        raise Trouble("there is a folder already", str(target), "name a file")
    if target.is_symlink() or (os.path.lexists(target) and not target.is_file()):
        raise Trouble("there is something that is no file", str(target), "name another file")
    if os.path.lexists(target) and not force:
        raise Trouble("there is something already", str(target), "name another file, or replace it with --force")


def check_folder(target: Path, *, force: bool) -> None:
    """Raise Trouble where no folder can be written under that name; an empty one is as good as none."""
    _check_parent(target)
    if os.path.lexists(target) and not target.is_dir():
        raise Trouble("there is a file already", str(target), "name a folder: each table is a file in it")
    if target.is_dir() and any(target.iterdir()) and not force:
        todo = "name another one, or replace the files of the same names in it with --force"
        raise Trouble("there is something in this folder already", str(target), todo)


def _check_parent(target: Path) -> None:
    if not target.parent.is_dir():
        raise Trouble("no such folder", str(target.parent), "make it, or name another place")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise Trouble("this folder cannot be written to", str(target.parent), "name another place")


@contextlib.contextmanager
def new_file(target: Path, *, force: bool) -> Iterator[Path]:
    """An empty file (0600) beside the target to write to; it takes the target's name if all goes well, else it is gone.

    Raises Trouble where it cannot be written.
    """
    with _told(target):
        check_file(target, force=force)
        descriptor, name = tempfile.mkstemp(".partial", f".{target.name[:100]}-", target.parent)
        os.close(descriptor)
        partial = Path(name)
        try:
            yield partial
            _settle(partial)
            check_file(target, force=force)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)


@contextlib.contextmanager
def new_folder(target: Path, *, force: bool) -> Iterator[Path]:
    """An empty folder (0700) beside the target for files; they lie in the target if all goes well, else they are gone.

    Other files that are in the target stay. Raises Trouble where it cannot be written.
    """
    with _told(target):
        check_folder(target, force=force)
        partial = Path(tempfile.mkdtemp(".partial", f".{target.name[:100]}-", target.parent))
        try:
            yield partial
            files = sorted(partial.iterdir())
            for file in files:
                file.chmod(0o600)
                _settle(file)
            check_folder(target, force=force)
            if target.is_dir() and any(target.iterdir()):
                for file in files:
                    file.replace(target / file.name)
            else:
                partial.rename(target)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


@contextlib.contextmanager
def spool() -> Iterator[IO[bytes]]:
    """A file without a name for what does not fit into memory. Raises Trouble where there is no room for it."""
    with _told(Path(tempfile.gettempdir())), tempfile.TemporaryFile() as file:
        yield file


@contextlib.contextmanager
def _told(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Trouble(f"the export cannot be written, nothing is saved ({reason(error)})", str(target)) from error


def _settle(file: Path) -> None:
    """Make what was written outlive a loss of power."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
