"""What a redacted bundle says, told back in true names, against what the plain one says."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from click.testing import CliRunner

from apftop.cli import cli

Mapped = Mapping[str, Mapping[str, str]]
"""By kind and pseudonym, the name."""


def run(*arguments: str | Path, code: tuple[int, ...] = (0,)) -> str:
    """What a command prints."""
    result = CliRunner().invoke(cli, [str(one) for one in arguments], catch_exceptions=False, standalone_mode=False)
    assert (result.return_value or result.exit_code) in code, result.output
    return result.stdout


def redacted(path: Path, folder: Path, *options: str) -> tuple[Path, Mapped]:
    """A bundle or tape redacted, and who is who."""
    target, mapping = folder / "redacted", folder / "names.json"
    run("collect", path, *options, "--redact", "-o", target, "--keep-mapping", mapping, code=(0, 3))
    return target, json.loads(mapping.read_bytes())


def told_back(text: str, names: Mapped) -> str:
    """A text with names for pseudonyms."""
    back = {pseudonym: name for found in names.values() for pseudonym, name in found.items()}
    ordered = sorted(back, key=len, reverse=True)
    if not ordered:
        return text
    pattern = re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, ordered))})(?![^\W_])")
    return pattern.sub(lambda found: back[found[0]], text)


def values(document: Any, names: Mapped | None = None) -> Any:
    """A document with names for pseudonyms in all texts and keys; what only says where it is from is left out."""
    if isinstance(document, dict):
        return {
            values(key, names): values(value, names)
            for key, value in document.items()
            if key not in ("source", "problems")
        }
    if isinstance(document, list):
        return [values(one, names) for one in document]
    return told_back(document, names) if isinstance(document, str) and names else document


def report(path: Path, output: str = "json") -> str:
    return run("report", path, "--output", output, code=(0, 3))


def files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """All files with their names, unpacked."""
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            body = file.read_bytes()
            yield str(file.relative_to(folder)), gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body


def found_in(folder: Path, names: Iterable[str]) -> set[tuple[str, str]]:
    """Which of some names are in which files, also in their paths, raw, in base64, in hex or percent-encoded.

    Names shorter than four letters are in everything.
    """
    found: set[tuple[str, str]] = set()
    there = list(files(folder))
    for name in {one for one in names if len(one) >= 4}:
        raw = name.encode("utf-8", "surrogateescape")
        forms = {raw, raw.hex().encode(), raw.hex().upper().encode(), quote(name, safe="", errors="replace").encode()}
        forms |= {json.dumps(name).encode()[1:-1], base64.b64encode(raw).rstrip(b"=")}
        pattern = re.compile(
            b"|".join(rb"(?<![A-Za-z0-9_-])" + re.escape(one) + rb"(?![A-Za-z0-9_-])" for one in forms)
        )
        found |= {(name, path) for path, body in there if pattern.search(body) or pattern.search(path.encode())}
    return found
