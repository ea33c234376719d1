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
EXPOSED = ("metrics", "backend")
"""How the names of files begin that hold metrics."""

FOLDERS = ("", "http", "replicas/*", "replicas/*/http", "targets/*")

Pick = Callable[[Iterable[bytes], str, str], tuple[bytes, str]]
"""Chunks, content type and content encoding to the bytes that apftop reads and their content type."""

Opened = Callable[[], IO[bytes]]
Wanted = Callable[[PurePosixPath], bool]


@dataclass
class Files:
    """File contents by their path within the bundle, without `.gz`; of metrics only the picked families.

    `content_types` are those of the picked metrics; `faults` names what could not be read.
    """

    bodies: dict[PurePosixPath, bytes] = field(default_factory=dict)
    content_types: dict[PurePosixPath, str] = field(default_factory=dict)
    faults: dict[PurePosixPath, str] = field(default_factory=dict)


def is_archive(path: Path) -> bool:
    """Whether a file is a tar archive, packed or not."""
    try:
        return tarfile.is_tarfile(path)
    except (EOFError, zlib.error):
        # One that is cut off in its first bytes.
        return False


def entries(path: Path, wanted: Wanted) -> Iterator[tuple[PurePosixPath, Opened]]:
    """All files with how to open them; `wanted` (asked without `.gz`) tells where in an archive the bundle begins.

    Those of an archive must be read as they come. Raises Trouble for a path that is no bundle.
    """
    if path.is_dir():
        return _folder(path)
    if not path.is_file():
        raise Trouble("no such file or folder", str(path), "give the path of a bundle or a tape")
    if not is_archive(path):
        raise Trouble(
            "neither a tape nor a bundle",
            str(path),
            "give a folder or a .tgz that holds metrics.txt, dump_requests.txt ...",
        )
    return _archive(path, wanted)


def read_files(path: Path, pick: Pick, wanted: Wanted) -> Files:
    """Read the wanted files; `wanted` is asked without `.gz`. Raises Trouble for a path that is no bundle."""
    files = Files()
    for found, opened in entries(path, wanted):
        name = found.with_suffix("") if found.suffix == ".gz" else found
        if not wanted(name):
            continue
        if name in files.bodies or name in files.faults:
            files.faults[name] = f"{found}: there is the same file with and without .gz"
            continue
        try:
            with opened() as stream:
                _read(files, name, stream, pick, packed=name != found)
        except (OSError, EOFError, KeyError, zlib.error, tarfile.TarError, ValueError) as error:
            files.faults[name] = f"{found}: {error}"
    return files


def is_raw(name: PurePosixPath) -> bool:
    """Whether a file is an answer as raw HTTP; a replica may be called `http` as well."""
    return name.parent.name == "http" and name.parts[:-1] != ("replicas", "http")


def _read(files: Files, name: PurePosixPath, stream: IO[bytes], pick: Pick, *, packed: bool) -> None:
    if name.name.startswith(EXPOSED) and not is_raw(name):
        chunks = iter(lambda: stream.read(CHUNK), b"")
        content_type = "application/vnd.google.protobuf" if ".pb" in name.suffixes else ""
        files.bodies[name], files.content_types[name] = pick(chunks, content_type, "")
        return
    with gzip.open(stream) if packed else stream as unpacked:
        body = unpacked.read(MOST_BYTES + 1)
    if len(body) > MOST_BYTES:
        raise ValueError(f"larger than {MOST_BYTES >> 20} MiB, not read")
    files.bodies[name] = body


def _folder(path: Path) -> Iterator[tuple[PurePosixPath, Opened]]:
    """The entries of the folders that a bundle has; what is no file gives its fault when it is opened."""
    number = 0
    for pattern in FOLDERS:
        for folder in sorted(path.glob(pattern)) if pattern else [path]:
            if not folder.is_dir():
                continue
            for entry in sorted(folder.iterdir()):
                number += 1
                if number > MOST_FILES:
                    raise Trouble(f"more than {MOST_FILES} files", str(path), "give the folder of one bundle")
                yield PurePosixPath(entry.relative_to(path).as_posix()), _opener(entry)


def _opener(entry: Path) -> Opened:
    def opened() -> IO[bytes]:
        if not entry.is_file():
            raise OSError("not a file")
        return entry.open("rb")

    return opened


def _archive(path: Path, wanted: Wanted) -> Iterator[tuple[PurePosixPath, Opened]]:
    try:
        with tarfile.open(path, mode="r:*") as archive:
            members = [member for member in archive if not member.isdir()]
            if len(members) > MOST_FILES:
                raise Trouble(f"more than {MOST_FILES} files", str(path), "give an archive of one bundle")
            root = _root([_safe(member.name, path) for member in members], path, wanted)
            for member in members:
                name = PurePosixPath(member.name)
                if name.is_relative_to(root):
                    yield name.relative_to(root), _member_opener(archive, member)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise Trouble(f"the archive is torn ({error})", str(path), "save it again") from error


def _member_opener(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Opened:
    def opened() -> IO[bytes]:
        # A link is followed within the archive only.
        stream = archive.extractfile(member)
        if stream is None:
            raise OSError("not a file")
        return stream

    return opened


def _safe(name: str, path: Path) -> PurePosixPath:
    parts = PurePosixPath(name)
    if parts.is_absolute() or ".." in parts.parts:
        raise Trouble(f"refused: a member leads out of the archive ({name[:80]!r})", str(path))
    return parts


def _root(names: list[PurePosixPath], path: Path, wanted: Wanted) -> PurePosixPath:
    """The folder within the archive that is the bundle: the topmost one that holds something wanted."""
    found: set[PurePosixPath] = set()
    for name in names:
        bare = name.with_suffix("") if name.suffix == ".gz" else name
        for depth in range(len(bare.parts)):
            if wanted(PurePosixPath(*bare.parts[depth:])):
                found.add(PurePosixPath(*bare.parts[:depth]))
                break
    top = min((len(root.parts) for root in found), default=0)
    roots = sorted(root for root in found if len(root.parts) == top)
    if len(roots) > 1:
        raise Trouble(f"several bundles in one archive ({roots[0]}, {roots[1]} ...)", str(path), "save one by one")
    return roots[0] if roots else PurePosixPath()
