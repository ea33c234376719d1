"""The files of a bundle, out of a folder or a tar archive, without unpacking anything to disk."""

from __future__ import annotations

import gzip
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from apftop.errors import Trouble

CHUNK = 1 << 16
MOST_BYTES = 256 << 20
MOST_FILES = 5000

Pick = Callable[[Iterable[bytes], str, str], tuple[bytes, str]]
"""Chunks, content type and content encoding to the bytes that apftop reads and their content type."""


@dataclass
class Files:
    """File contents by their path within the bundle; of metrics only the picked families, with their content type."""

    bodies: dict[PurePosixPath, bytes] = field(default_factory=dict)
    content_types: dict[PurePosixPath, str] = field(default_factory=dict)
    faults: dict[PurePosixPath, str] = field(default_factory=dict)


def read_files(path: Path, pick: Pick, wanted: Callable[[PurePosixPath], bool]) -> Files:
    """Read the wanted files. A file that cannot be read is named in `faults`; a path that is no bundle is Trouble."""
    if path.is_dir():
        entries = _folder(path)
    elif path.is_file():
        if not tarfile.is_tarfile(path):
            raise Trouble(
                "not a bundle", str(path), "give a folder or a .tgz that holds metrics.txt, dump_requests.txt ..."
            )
        entries = _archive(path)
    else:
        raise Trouble("no such file or folder", str(path), "give the path of a bundle")
    files = Files()
    for name, opened in entries:
        if not wanted(name):
            continue
        try:
            with opened() as stream:
                _read(files, name, stream, pick)
        except (OSError, EOFError, zlib.error, tarfile.TarError, ValueError) as error:
            files.faults[name] = f"{name}: {error}"
    return files


def _read(files: Files, name: PurePosixPath, stream: IO[bytes], pick: Pick) -> None:
    chunks = iter(lambda: stream.read(CHUNK), b"")
    if name.name.startswith("metrics") and "http" not in name.parts[:-1]:
        content_type = "application/vnd.google.protobuf" if ".pb" in name.suffixes else ""
        files.bodies[name], files.content_types[name] = pick(chunks, content_type, "")
        return
    with gzip.open(stream) if name.suffix == ".gz" else stream as unpacked:
        body = unpacked.read(MOST_BYTES + 1)
    if len(body) > MOST_BYTES:
        raise ValueError(f"larger than {MOST_BYTES >> 20} MiB, not read")
    files.bodies[name] = body


def _folder(path: Path) -> Iterator[tuple[PurePosixPath, Callable[[], IO[bytes]]]]:
    for number, file in enumerate(sorted(path.rglob("*"))):
        if number >= MOST_FILES:
            raise Trouble(f"more than {MOST_FILES} files", str(path), "give the folder of one bundle")
        if file.is_file():
            yield PurePosixPath(file.relative_to(path).as_posix()), lambda file=file: file.open("rb")  # type: ignore[misc]


def _archive(path: Path) -> Iterator[tuple[PurePosixPath, Callable[[], IO[bytes]]]]:
    try:
        with tarfile.open(path, mode="r:*") as archive:
            members = [member for member in archive if member.isfile()]
            if len(members) > MOST_FILES:
                raise Trouble(f"more than {MOST_FILES} files", str(path), "give an archive of one bundle")
            names = [_safe(member.name, path) for member in members]
            top = _common_top(names)
            for member, name in zip(members, names, strict=True):
                stream = archive.extractfile(member)
                if stream is not None:
                    yield PurePosixPath(*name.parts[top:]), lambda stream=stream: stream  # type: ignore[misc]
    except (tarfile.TarError, EOFError, OSError) as error:
        raise Trouble(f"the archive is torn: {error}", str(path), "save it again") from error


def _safe(name: str, path: Path) -> PurePosixPath:
    parts = PurePosixPath(name)
    if parts.is_absolute() or ".." in parts.parts:
        raise Trouble(f"refused: a member leads out of the archive ({name[:80]!r})", str(path))
    return parts


def _common_top(names: list[PurePosixPath]) -> int:
    """How many folders all members share, as `tar czf bundle.tgz some/bundle` makes them."""
    shared = 0
    while all(len(name.parts) > shared + 1 for name in names) and names:
        tops = {name.parts[shared] for name in names}
        if len(tops) > 1 or tops & {"replicas", "http"}:
            break
        shared += 1
    return shared
