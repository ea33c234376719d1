"""Bundles onto the disk: a folder or a .tgz that is there as a whole or not at all."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from apftop.collect.layout import About, Files, layout
from apftop.errors import Trouble, reason
from apftop.records.raw import Sample

ARCHIVES = (".tgz", ".tar.gz")


def write_bundle(samples: Sequence[Sample], target: Path, about: About) -> Path:
    """Write samples as a bundle, and give its path: a .tgz where `target` ends so, else a folder.

    Only the user may read it (0600, 0700). The same samples make the same bytes. Raises Trouble where there is
    something already or where it cannot be written; then nothing of it stays.
    """
    check_target(target)
    files = layout(samples, about)
    newest = int(max((sample.received or 0.0 for sample in samples), default=0.0))
    try:
        with _partial(target) as partial:
            if is_archive(target):
                _archive(partial, files, f"apftop-{target.name[: target.name.lower().rindex('.t')]}", newest)
            else:
                _folder(partial, files)
            check_target(target)
            partial.rename(target)
            _settle(target.parent)
    except OSError as error:
        raise Trouble(f"the bundle cannot be written, nothing is saved ({reason(error)})", str(target)) from error
    return target


def is_archive(target: Path) -> bool:
    """Whether a bundle of this name is an archive."""
    return target.name.lower().endswith(ARCHIVES)


def check_target(target: Path) -> None:
    """Raise Trouble where no bundle can be written, as far as that shows before: no folder, or something is there.

    An empty folder is as good as none.
    """
    todo = "name another one: nothing is overwritten"
    try:
        if os.path.lexists(target) and (target.is_symlink() or not target.is_dir() or any(target.iterdir())):
            raise Trouble("there is something already", str(target), todo)
        if target.is_dir() and is_archive(target):
            raise Trouble("there is a folder already", str(target), todo)
        if not target.parent.is_dir():
            raise Trouble("no such folder", str(target.parent), "make it, or name another place")
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise Trouble("this folder cannot be written to", str(target.parent), "name another place")
    except OSError as error:
        raise Trouble(f"no bundle can be written ({reason(error)})", str(target), "name another place") from error


@contextlib.contextmanager
def _partial(target: Path) -> Iterator[Path]:
    """A place beside the target to write to; whatever goes wrong, it is gone afterwards."""
    prefix = f".{target.name[:100]}-"
    if is_archive(target):
        descriptor, name = tempfile.mkstemp(".partial", prefix, target.parent)
        os.close(descriptor)
    else:
        name = tempfile.mkdtemp(".partial", prefix, target.parent)
    partial = Path(name)
    try:
        yield partial
    finally:
        if partial.is_dir():
            shutil.rmtree(partial, ignore_errors=True)
        else:
            partial.unlink(missing_ok=True)


def _folder(root: Path, files: Files) -> None:
    for name, body in files.items():
        for above in reversed(name.parents):
            (root / above).mkdir(mode=0o700, exist_ok=True)
        with open(os.open(root / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())


def _archive(path: Path, files: Files, top: str, newest: int) -> None:
    """A .tgz of one folder `top`, whose name is neither `http` nor `replicas`, which mean something in a bundle."""
    with path.open("wb") as raw:
        with (
            gzip.GzipFile("", "wb", 6, raw, newest) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            for name, body in sorted(files.items()):
                member = tarfile.TarInfo(f"{top}/{name}")
                member.size, member.mode, member.mtime = len(body), 0o600, newest
                archive.addfile(member, io.BytesIO(body))
        raw.flush()
        os.fsync(raw.fileno())


def _settle(folder: Path) -> None:
    """Make a new name in a folder outlive a loss of power, where the file system can do so."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
