"""Vectors that the upstream library made: all where APFTOP_ORACLE names their folder, else a few copied here."""

from __future__ import annotations

import gzip
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(os.environ.get("APFTOP_ORACLE") or Path(__file__).parent / "oracle")
VERSIONS = ("v0.30.4", "v0.37.2")
TOLERANCE = 1e-9

each_version = pytest.mark.parametrize("version", VERSIONS)


@cache
def vectors(name: str) -> list[dict[str, Any]]:
    """All lines of the files whose name is `name`, or begins with it and a hyphen. Callers must not change them."""
    found = sorted([*FOLDER.glob(f"{name}.jsonl.gz"), *FOLDER.glob(f"{name}-*.jsonl.gz")])
    assert found, f"no vectors {name} in {FOLDER}"
    lines: list[dict[str, Any]] = []
    for path in found:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            lines += (json.loads(line) for line in file)
    return lines


def close(found: float, wanted: float) -> bool:
    """Equal where whole numbers are wanted, else to a relative 1e-9."""
    if isinstance(wanted, int) and isinstance(found, int):
        return found == wanted
    return abs(found - wanted) <= TOLERANCE * max(abs(found), abs(wanted))
