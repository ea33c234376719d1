"""The values of a case: expected.json against apftop's JSON by way of cases_map.toml."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from apftop.cli import cli

MAP = Path(__file__).parent / "cases_map.toml"
_WORD = re.compile(r"\{(\w+)(?:\|(\w+))?(?::([^}]*))?\}")


@dataclass(frozen=True)
class Value:
    """One expected value and where it is to be found."""

    where: str
    expected: Any
    commands: tuple[str, ...]
    folder: str
    path: str
    match: str
    compare: str
    tolerance: float | None


@cache
def the_map() -> dict[str, Any]:
    return tomllib.loads(MAP.read_text())


def values(case: Path) -> tuple[list[Value], list[str]]:
    """The values of a case that the map knows, and the places in its expected.json that it does not."""
    found, unknown = [], []
    entries = [one for one in the_map()["value"] if (case / one.get("with", ".")).exists()]
    for parts, value in _leaves(json.loads((case / "expected.json").read_text()), ()):
        entry = next((one for entry in entries if (one := _bind(entry, parts, value))), None)
        if entry is None:
            unknown.append("/".join(parts))
        else:
            found.append(entry)
    return found, unknown


def _leaves(value: Any, parts: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*parts, key))
    elif isinstance(value, list) and any(isinstance(one, dict) for one in value):
        for index, inner in enumerate(value):
            yield from _leaves(inner, (*parts, str(index)))
    else:
        yield parts, value


def _bind(entry: dict[str, Any], parts: tuple[str, ...], value: Any) -> Value | None:
    patterns = entry["expected"].split("/")
    if len(patterns) != len(parts):
        return None
    bound: dict[str, str] = {}
    for pattern, part in zip(patterns, parts, strict=True):
        match = re.fullmatch(_regex(pattern), part)
        if match is None:
            return None
        bound |= match.groupdict()
    for word in _WORD.finditer(entry["expected"]):
        if word[2] == "dashes":
            bound[word[1]] = bound[word[1]].replace("_", "-")
    commands = entry.get("command", "report")
    return Value(
        where="/".join(parts),
        expected=value,
        commands=(commands,) if isinstance(commands, str) else tuple(commands),
        folder=_filled(entry.get("folder", "."), bound),
        path="\0".join(_filled(part, bound) for part in entry["path"].split("/")),
        match=entry.get("match", "all"),
        compare=entry.get("as", "value"),
        tolerance=entry.get("tolerance"),
    )


def _regex(pattern: str) -> str:
    regex, at = "", 0
    for word in _WORD.finditer(pattern):
        regex += re.escape(pattern[at : word.start()]) + f"(?P<{word[1]}>{word[3] or '.+?'})"
        at = word.end()
    return regex + re.escape(pattern[at:])


def _filled(text: str, bound: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda word: bound.get(word[1], word[0]), text)


def report(folder: Path) -> dict[str, Any]:
    """`apftop report FOLDER --output json`, as a user runs it."""
    return printed(["report", str(folder)])


def printed(words: Sequence[str]) -> dict[str, Any]:
    """The JSON that a command prints."""
    result = CliRunner().invoke(cli, [*words, "--output", "json"])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def faults(case: Path, found: list[Value]) -> list[str]:
    """What differs, one line each."""
    lines: list[str] = []
    documents: dict[tuple[str, Path], dict[str, Any]] = {}
    for value in found:
        folders = (
            sorted(one for one in case.iterdir() if one.is_dir()) if value.folder == "*" else [case / value.folder]
        )
        for command, folder in product(value.commands, folders):
            if (command, folder) not in documents:
                documents[command, folder] = _run(command, case, folder)
            got = select(documents[command, folder], value.path.split("\0"))
            if not _agrees(value, got):
                line = f"{command} {folder.name}: {value.where}: expected {value.expected!r}, got {got!r}"
                lines.append(line)
    return lines


def _run(command: str, case: Path, folder: Path) -> dict[str, Any]:
    """What a command says of a folder, or of the files of the case that it names itself.

    Files in the case's root hold for each of its subfolders.
    """
    if "{case}" in command:
        return printed([word.replace("{case}", str(case)) for word in shlex.split(command)])
    if folder == case:
        return printed([*shlex.split(command), str(folder)])
    with tempfile.TemporaryDirectory() as merged:
        shutil.copytree(folder, merged, dirs_exist_ok=True)
        for file in case.iterdir():
            if file.is_file() and not (folder / file.name).exists():
                shutil.copy(file, merged)
        return printed([*shlex.split(command), merged])


def select(document: dict[str, Any], parts: list[str]) -> list[Any]:
    """All values at a path; a missing key gives nothing."""
    found: list[Any] = [document]
    for part in parts:
        for word, key in (("{busiest}", "dispatched_per_s"), ("{fullest}", "waiting")):
            part = part.replace(word, _top(document, key)) if word in part else part
        found = [inner for one in found for inner in _step(one, part)]
    return found


def _step(value: Any, part: str) -> list[Any]:
    if isinstance(value, list):
        if part == "*":
            return list(value)
        if part.startswith("["):
            key, equals, wanted = part[1:-1].partition("=")
            return [[row for row in value if (row.get(key) == wanted if equals else row.get(key) is True)]]
        if part.isdecimal():
            return [value[int(part)]] if int(part) < len(value) else []
        return [[row.get(part) for row in value]]
    if not isinstance(value, dict):
        return []
    if part.startswith("~"):
        return [one for key, one in value.items() if part[1:] in (key, key.rstrip("/"), key.partition("/")[2])]
    if part == "*":
        return [one for one in value.values() if not (isinstance(one, dict) and one.get("kind") == "extension")]
    return [value[part]] if part in value else []


def _top(document: dict[str, Any], key: str) -> str:
    levels = {name: level for name, level in document["totals"]["levels"].items() if name != "exempt"}
    return max(levels, key=lambda name: levels[name][key] or 0.0, default="")


def _agrees(value: Value, got: list[Any]) -> bool:
    got = [_compared(value.compare, one) for one in got]
    if value.match == "any":
        return any(_same(value, one) for one in got)
    return bool(got) and all(_same(value, one) for one in got)


def _compared(by: str, got: Any) -> Any:
    match by:
        case "keys":
            return sorted(got)
        case "set":
            return sorted({one for one in got if one is not None})
        case "time of day":
            return [one.partition("T")[2].removesuffix("Z").partition(".")[0] for one in got]
        case _:
            return got


def _same(value: Value, got: Any) -> bool:
    if value.compare == "among":
        wanted = value.expected if isinstance(value.expected, list) else [value.expected]
        return set(wanted) <= set(got)
    expected = value.expected.partition(",")[0] if value.compare == "kind" else value.expected
    if isinstance(expected, list):
        if not isinstance(got, list) or len(got) != len(expected):
            return False
        pairs = (
            zip(sorted(expected), sorted(got), strict=True) if _unordered(expected) else zip(expected, got, strict=True)
        )
        return all(_equal(a, b, value.tolerance) for a, b in pairs)
    return _equal(expected, got, value.tolerance)


def _unordered(expected: list[Any]) -> bool:
    return all(isinstance(one, str) for one in expected)


def _equal(expected: Any, got: Any, tolerance: float | None) -> bool:
    if isinstance(expected, bool) or not isinstance(expected, (int, float)):
        return bool(expected == got)
    if isinstance(got, bool) or not isinstance(got, (int, float)):
        return False
    if tolerance is None:
        digits = len(repr(expected).partition(".")[2]) if isinstance(expected, float) else 0
        # An integer is exact; a decimal is as exact as it was written.
        tolerance = 0.51 * 10**-digits if isinstance(expected, float) else 1e-9
    return abs(expected - got) <= tolerance
