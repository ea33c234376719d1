"""Which files are meant by paths: those that are named, those of folders, and standard input."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import yaml

from apftop.parse.objects import GROUP
from apftop.records.linting import Fault

STDIN = Path("-")
SUFFIXES = (".yaml", ".yml", ".json")
KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")


def files_of(paths: tuple[Path, ...]) -> tuple[tuple[Path, ...], tuple[Fault, ...]]:
    """The files that are meant, and those that cannot be judged by themselves.

    Meant are those that are named, and of folders all with YAML or JSON in them, however deep and each once. A folder
    that cannot be read is among them: whoever reads it is told why. Patches of kustomize are parts of objects.
    """
    found: list[Path] = []
    for path in paths:
        found += _walk(path) if path.is_dir() else [path]
    patches = {patch: path for path in found if path.name in KUSTOMIZATIONS for patch in _patches(path)}
    left = {path: patches.get(os.path.realpath(path)) for path in found if path not in paths}
    faults = tuple(
        Fault("not-rendered", "note", f"a patch of {by}, which is not judged", _build(by), file=str(path))
        for path, by in left.items()
        if by is not None and names_group(_content(path))
    )
    files = (path for path in found if left.get(path) is None and (path in paths or path.name not in KUSTOMIZATIONS))
    return tuple(files), faults


def body_of(path: Path) -> bytes:
    """What a file holds, or standard input where the path is `-`; raises OSError."""
    if path != STDIN:
        return path.read_bytes()
    if sys.stdin is None:
        raise OSError(errno.EBADF, "there is no standard input")
    return sys.stdin.buffer.read()


def names_group(body: bytes) -> bool:
    """Whether the API group of the objects is named somewhere in a file, be it in UTF-8 or UTF-16."""
    return any(GROUP.encode(encoding) in body for encoding in ("utf-8", "utf-16-le", "utf-16-be"))


def _walk(top: Path) -> Iterator[Path]:
    """The files of a folder; links are followed, and what several of them lead to comes once."""
    seen: set[str] = set()
    unread: list[OSError] = []
    for folder, inner, files in os.walk(top, followlinks=True, onerror=unread.append):
        inner[:] = sorted(name for name in inner if name != ".git" and _is_new(os.path.join(folder, name), seen))
        for name in sorted(files):
            path = Path(folder, name)
            meant = path.suffix.lower() in SUFFIXES or name in KUSTOMIZATIONS
            # A link to nothing is not passed over: reading it says so. Pipes and sockets are.
            if meant and (path.is_file() or not path.exists()) and _is_new(path, seen):
                yield path
    yield from (Path(error.filename) for error in unread)


def _is_new(path: str | Path, seen: set[str]) -> bool:
    real = os.path.realpath(path)
    if real in seen:
        return False
    seen.add(real)
    return True


def _patches(path: Path) -> Iterable[str]:
    """The real paths of the files that a kustomization takes patches from; none where it cannot be read."""
    try:
        held = yaml.safe_load(path.read_bytes())
    except (OSError, yaml.YAMLError, ValueError):
        return
    if not isinstance(held, Mapping):
        return
    for key in ("patches", "patchesStrategicMerge", "patchesJson6902"):
        given = held.get(key)
        for one in given if isinstance(given, list) else ():
            name = one.get("path") if isinstance(one, Mapping) else one
            # A patch may stand here itself, on several lines.
            if isinstance(name, str) and "\n" not in name:
                yield os.path.realpath(path.parent / name)


def _build(kustomization: Path) -> str:
    return f"build it first: kubectl kustomize {kustomization.parent} | apftop lint -"


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
