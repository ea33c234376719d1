"""One direction: a room imports only from rooms to its left, and heavy libraries only where they are used."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import apftop

PACKAGE = Path(apftop.__file__).parent
CASES = Path(__file__).parent / "cases"
TAPE = Path(__file__).parent / "tape" / "format-1.apftape"
ROOMS = (
    "apf",
    "trials",
    "records",
    "rules",
    "errors",
    "news",
    "other_body",
    "http_text",
    "daemon",
    "access",
    "credentials",
    "plugin",
    "oidc",
    "kubeconfig",
    "cluster",
    "names",
    "failures",
    "session",
    "fetch",
    "poll",
    "bundle_times",
    "bundle_files",
    "bundle_answers",
    "bundle",
    "parse",
    "logs",
    "live",
    "present",
    "prometheus",
    "kept",
    "doubt",
    "lanes",
    "join",
    "derive",
    "check",
    "simulating",
    "tape",
    "redacting",
    "findings",
    "baselines",
    "trends",
    "causes",
    "changes",
    "remembering",
    "deriving",
    "noting",
    "recording",
    "reel",
    "course",
    "glimpse",
    "played",
    "replaying",
    "history",
    "watching",
    "sheets",
    "output",
    "cli_options",
    "classifying",
    "report",
    "export",
    "diff",
    "lint",
    "probe",
    "classify",
    "collect",
    "record",
    "doctor",
    "demo",
    "ui",
    "cli",
    "__main__",
)
ONLY_IN = {
    "textual": ("ui",),
    "kubernetes": ("oidc", "kubeconfig", "cluster"),
    "pandas": ("export",),
    "pyarrow": ("export",),
    "aiohttp": ("names", "failures", "session", "fetch", "poll", "demo"),
    "prometheus_api_client": ("promql", "prometheus"),
}


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        inner = path.relative_to(PACKAGE)
        if inner.name == "__init__.py" and len(inner.parts) == 1:
            continue
        yield inner.parts[0].removesuffix(".py"), path


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""


@pytest.mark.parametrize(("room", "path"), list(modules()), ids=lambda one: str(one).removeprefix(str(PACKAGE)))
def test_a_module_imports_only_from_its_left(room: str, path: Path) -> None:
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "apftop" and len(parts) > 1:
            other = parts[1]
            assert ROOMS.index(other) <= ROOMS.index(room), f"{path} imports {name}"
        elif parts[0] in ONLY_IN:
            assert room in ONLY_IN[parts[0]], f"{path} imports {name}"


def test_apf_imports_nothing_else_of_ours() -> None:
    for room, path in modules():
        if room == "apf":
            assert all(name.startswith("apftop.apf") for name in imported(path) if name.startswith("apftop"))


def loaded(*arguments: str) -> set[str]:
    """Top-level modules that one run of the command line has loaded."""
    code = (
        "import sys; from apftop.cli import cli\n"
        "try: cli.main(sys.argv[1:], standalone_mode=False)\n"
        "except SystemExit: pass\n"
        "print('LOADED', *sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    run = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return set(run.stdout.rpartition("LOADED ")[2].split())


HEAVY = {
    "kubernetes",
    "aiohttp",
    "textual",
    "rich",
    "pandas",
    "numpy",
    "pyarrow",
    "prometheus_api_client",
    "requests",
    "matplotlib",
}


@pytest.mark.parametrize("command", ["", "report", "record", "replay", "collect", "export", "diff"])
def test_help_loads_no_heavy_library(command: str) -> None:
    assert not loaded(*command.split(), "--help") & {*HEAVY, "yaml", "msgspec", "backports"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", str(CASES / "C03")),
        ("report", str(TAPE)),
        ("report", str(TAPE), "--output", "html"),
        ("diff", str(CASES / "C03"), str(CASES / "C01")),
        ("export", str(CASES / "C03"), "--to", "csv", "--table", "levels"),
        ("export", str(TAPE), "--to", "openmetrics"),
        ("lint", str(CASES / "C17" / "edited.yaml")),
        ("classify", str(CASES / "C15"), "--requests", str(CASES / "C15" / "requests.json")),
    ],
    ids=lambda arguments: " ".join((arguments[0], Path(arguments[1]).name, *arguments[2:4])),
)
def test_what_is_read_from_files_loads_no_heavy_library(arguments: tuple[str, ...]) -> None:
    assert not loaded(*arguments) & HEAVY
