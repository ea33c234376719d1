"""Builds a Prometheus and its promtool from their public Go module into the cache folder of the control planes."""

from __future__ import annotations

import hashlib
import platform
import shutil
import sys
import time
from pathlib import Path
from typing import Literal, get_args

from tests.planes.build import (
    BUILD_FLAGS,
    BuildError,
    GoMissingError,
    cache_folder,
    go_command,
    held,
    run_logged,
)

Name = Literal["prometheus", "promtool"]
NAMES: tuple[Name, ...] = get_args(Name)
VERSION = "3.16.0"
MODULE = "github.com/prometheus/prometheus"
# A release 3.x.y is published as the module version v0.3xx.y.
MODULE_VERSION = "v0.316.0"
# Of its ways to discover targets none is needed: without them it takes half the time and space.
FLAGS = (*BUILD_FLAGS, "-tags", "remove_all_sd", "-ldflags", "-s -w")
GO_MOD = f"module apftop.test/prometheus\n\ngo 1.25.0\n\nrequire {MODULE} {MODULE_VERSION}\n"


def path(name: Name) -> Path:
    """Where a binary is once it is built."""
    inputs = [GO_MOD, *FLAGS, platform.system(), platform.machine()]
    key = hashlib.sha256("\0".join(inputs).encode()).hexdigest()[:12]
    return cache_folder() / f"prometheus-{VERSION}-{key}" / name


def binary(name: Name) -> Path:
    """The binary; all are built on first use of any. Raises BuildError, and GoMissingError where there is no Go."""
    target = path(name)
    if target.is_file():
        return target
    go = go_command()
    if go is None:
        raise GoMissingError(f"{name} {VERSION} is not in {target.parent} and Go is not installed")
    target.parent.mkdir(parents=True, exist_ok=True)
    with held(target.with_name("lock")):
        if not target.is_file():
            _build(go, target.parent)
    return target


def _build(go: str, folder: Path) -> None:
    source, log, unfinished = (folder / name for name in ("source", "build.log", "unfinished"))
    for one in (source, unfinished):
        shutil.rmtree(one, ignore_errors=True)
        one.mkdir()
    (source / "go.mod").write_text(GO_MOD)
    log.write_text("")
    # In one go, for they share nearly all of their packages.
    packages = [f"{MODULE}/cmd/{name}" for name in NAMES]
    run_logged([go, "build", *FLAGS, "-o", f"{unfinished}/", *packages], source, log)
    for name in NAMES:
        (unfinished / name).replace(folder / name)
    unfinished.rmdir()


def main() -> int:
    """Warms the cache."""
    for name in NAMES:
        was_there, started = path(name).is_file(), time.monotonic()
        try:
            built = binary(name)
        except BuildError as error:
            print(f"{name} {VERSION}: {error}", file=sys.stderr)
            return 1
        took = "already there" if was_there else f"built in {time.monotonic() - started:.0f} s"
        print(f"{name} {VERSION}: {took}: {built}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
