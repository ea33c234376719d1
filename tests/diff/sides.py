"""Looks at cases and at tapes, and comparisons by the command, for tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from apftop.cli import cli
from apftop.report.look import Look
from apftop.report.looks import looks

CASES = Path(__file__).parents[1] / "cases"
BUNDLES = sorted({path.parent for path in CASES.glob("*/scrape.json")} | set(CASES.glob("C09/*/")) | {CASES / "C35"})
ASKED: dict[str, Any] = {"at": None, "between": None, "interval": 5.0, "request_timeout": None, "count": 1}


@cache
def look(path: Path, at: str | None = None) -> Look:
    """One look at a bundle, or at a tape at a time of it."""
    return next(looks(path, {**ASKED, "at": at, "client_logs": (), "audit_logs": ()}))


def run(*words: object) -> Result:
    """The command with these words; what it raises is in the result's `exception`."""
    return CliRunner().invoke(cli, ["diff", *map(str, words)], standalone_mode=False)


def changes(*words: object) -> list[dict[str, Any]]:
    """The changes of a comparison as JSON has them."""
    result = run(*words, "--output", "json")
    found: list[dict[str, Any]] = json.loads(result.stdout)["changes"]
    return found


def beyond(found: Sequence[dict[str, Any]], section: str) -> list[dict[str, Any]]:
    """Those of a section that are more than noise."""
    return [one for one in found if one["section"] == section and one["how"] in ("changed", "added", "removed")]
