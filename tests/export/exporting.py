"""Exports of cases and of tapes, for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from apftop.cli import cli
from tests.tape.taping import record, samples

CASES = Path(__file__).parents[1] / "cases"
BUNDLES = [CASES / name for name in ("C01", "C03", "C05", "C07")]


def run(*words: object) -> Result:
    """The command with these words; what it raises is in the result's `exception`."""
    return CliRunner().invoke(cli, ["export", *map(str, words)], standalone_mode=False)


def tape(folder: Path, number: int = 0) -> Path:
    """A tape of a recording of real servers."""
    record(folder / "t.apftape", samples(number))
    return folder / "t.apftape"


def rows(table: str, source: Path, *words: object) -> list[dict[str, Any]]:
    """The rows of one table, as JSON Lines have them."""
    result = run(source, "--to", "jsonl", "--table", table, *words)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def reported(source: Path, *words: object) -> dict[str, Any]:
    """The report of the same source as JSON."""
    result = CliRunner().invoke(cli, ["report", str(source), "-o", "json", *map(str, words)], standalone_mode=False)
    found: dict[str, Any] = json.loads(result.stdout)
    return found
