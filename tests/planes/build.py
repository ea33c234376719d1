"""Builds kube-apiserver and etcd from their public Go modules into a cache folder outside the repository."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Name = Literal["kube-apiserver", "etcd"]

APISERVER_VERSIONS = ("1.30.4", "1.37.2")
ETCD_VERSION = "3.6.16"
BUILD_SECONDS = 3600.0
LOG_TAIL_LINES = 25
BUILD_FLAGS = ("-p", "2", "-mod=mod", "-trimpath", "-buildvcs=false")


class BuildError(RuntimeError):
    """A binary could not be built; the message holds the end of the build log."""


class GoMissingError(BuildError):
    """The binary is not cached and there is no Go to build it with."""


@dataclass(frozen=True)
class Recipe:
    """How one binary is made: its module, the folder of our main and the package variables set by the linker."""

    module: str
    folder: str
    stamps: tuple[str, ...]


RECIPES: Mapping[Name, Recipe] = {
    "kube-apiserver": Recipe(
        module="k8s.io/kubernetes",
        folder="apiserver",
        stamps=tuple(
            f"k8s.io/{package}.{variable}"
            for package in ("component-base/version", "client-go/pkg/version")
            for variable in (
                "gitVersion=v{version}",
                "gitMajor={major}",
                "gitMinor={minor}",
                "gitCommit=unknown",
                "gitTreeState=clean",
            )
        ),
    ),
    "etcd": Recipe(module="go.etcd.io/etcd/server/v3", folder="etcd", stamps=()),
}


def cache_folder() -> Path:
    """Where the binaries and build logs are kept."""
    if own := os.environ.get("APFTOP_PLANE_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "apftop-planes"


def cached(name: Name, version: str) -> Path | None:
    """The binary if it is built already."""
    path = _binary_path(name, version)
    return path if path.is_file() else None


def go_command() -> str | None:
    """The Go command, if there is one."""
    return shutil.which("go")


def binary(name: Name, version: str) -> Path:
    """The binary of that version, built on first use."""
    path = _binary_path(name, version)
    if path.is_file():
        return path
    go = go_command()
    if go is None:
        raise GoMissingError(f"{name} {version} is not in {path.parent} and Go is not installed")
    path.parent.mkdir(parents=True, exist_ok=True)
    with held(path.with_name("lock")):
        if not path.is_file():
            _build(go, name, version, path)
    return path


def _binary_path(name: Name, version: str) -> Path:
    recipe = RECIPES[name]
    inputs = [_main_file(recipe).read_text(), *recipe.stamps, *BUILD_FLAGS, platform.system(), platform.machine()]
    key = hashlib.sha256("\0".join(inputs).encode()).hexdigest()[:12]
    return cache_folder() / f"{name}-{version}-{key}" / name


def _main_file(recipe: Recipe) -> Path:
    return Path(__file__).parent / "go" / recipe.folder / "main.go"


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Holds an exclusive lock that other processes see; the system frees it if the holder dies."""
    deadline = time.monotonic() + BUILD_SECONDS
    with path.open("a") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise BuildError(f"another process holds {path} for too long") from None
                time.sleep(0.5)
        yield


def _build(go: str, name: Name, version: str, target: Path) -> None:
    recipe = RECIPES[name]
    source = target.with_name("source")
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir()
    shutil.copy(_main_file(recipe), source / "main.go")
    log = target.with_name("build.log")
    log.write_text("")
    (source / "go.mod").write_text(_go_mod(_upstream_go_mod(go, recipe.module, version, source, log), recipe, version))
    # Renamed at the end, so that an interrupted build never leaves half a binary under the final name.
    unfinished = target.with_name(f"{name}.unfinished")
    command = [go, "build", *BUILD_FLAGS, "-ldflags", _ldflags(recipe, version), "-o", str(unfinished), "."]
    run_logged(command, source, log)
    unfinished.replace(target)


def _upstream_go_mod(go: str, module: str, version: str, folder: Path, log: Path) -> str:
    answer = run_logged([go, "mod", "download", "-json", f"{module}@v{version}"], folder, log)
    return Path(json.loads(answer)["GoMod"]).read_text()


def _go_mod(upstream: str, recipe: Recipe, version: str) -> str:
    """Our go.mod: the go and godebug lines decide run-time defaults, so they are upstream's own."""
    lines = [f"module apftop.test/{recipe.folder}"]
    lines += re.findall(r"^(?:go|godebug) \S+$", upstream, flags=re.MULTILINE)
    if block := re.search(r"^godebug \(.*?^\)$", upstream, flags=re.MULTILINE | re.DOTALL):
        lines.append(block.group())
    lines.append(f"require {recipe.module} v{version}")
    # Upstream keeps these modules in its own tree; they are published under the same minor and patch version.
    published = "v0." + version.split(".", 1)[1]
    for staging in re.findall(r"^(?:\s+|replace )(\S+) => \./staging/\S+$", upstream, flags=re.MULTILINE):
        lines.append(f"replace {staging} => {staging} {published}")
    return "\n".join(lines) + "\n"


def _ldflags(recipe: Recipe, version: str) -> str:
    major, minor = version.split(".")[:2]
    stamps = (stamp.format(version=version, major=major, minor=minor) for stamp in recipe.stamps)
    return " ".join(["-s", "-w", *(f"-X {stamp}" for stamp in stamps)])


def run_logged(command: list[str], folder: Path, log: Path) -> str:
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "", "GOWORK": "off"}
    with log.open("a") as errors:
        print("$", *command, file=errors, flush=True)
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                timeout=BUILD_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise BuildError(f"{command[:2]} took more than {BUILD_SECONDS:.0f} s; see {log}") from None
        errors.write(done.stdout)
    if done.returncode:
        tail = "\n".join(log.read_text().splitlines()[-LOG_TAIL_LINES:])
        raise BuildError(f"{' '.join(command[:3])} ended with code {done.returncode}; end of {log}:\n{tail}")
    return done.stdout


def main() -> int:
    """Warms the cache."""
    wanted: list[tuple[Name, str]] = [("etcd", ETCD_VERSION)]
    wanted += [("kube-apiserver", version) for version in APISERVER_VERSIONS]
    for name, version in wanted:
        was_cached = cached(name, version) is not None
        started = time.monotonic()
        try:
            path = binary(name, version)
        except BuildError as error:
            print(f"{name} {version}: {error}", file=sys.stderr)
            return 1
        took = f"built in {time.monotonic() - started:.0f} s"
        print(f"{name} {version}: {'already there' if was_cached else took}: {path}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
