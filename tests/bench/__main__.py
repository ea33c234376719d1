"""Run all rows and print one table: `python -m tests.bench [--json] [--short] [--recordings FOLDER ...]`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from tests.bench import bands, calibration, classify, crosscheck, fairness, keys, queueset, replay, tape
from tests.bench.row import Row

ROWS: tuple[Callable[..., Iterator[Row]], ...] = (
    queueset.rows,
    bands.rows,
    classify.rows,
    keys.rows,
    fairness.rows,
    replay.rows,
    tape.rows,
)
RECORDED: tuple[Callable[..., Iterator[Row]], ...] = (crosscheck.rows, calibration.rows)
"""Rows about recorded control planes."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON array instead of a table")
    parser.add_argument("--short", action="store_true", help="one run of each figure instead of the best of several")
    parser.add_argument("--recordings", type=Path, nargs="*", default=(), help="recorded control planes to check")
    options = parser.parse_args()
    found = [row for rows in ROWS for row in rows(short=options.short)]
    folders = tuple(options.recordings)
    found += [row for rows in RECORDED for row in rows(short=options.short, folders=folders)]
    if options.json:
        print(json.dumps([asdict(row) | {"met": row.met} for row in found], indent=2))
        return
    for row in found:
        print(_line(row))


def _line(row: Row) -> str:
    verdict = {None: "", True: "met", False: "MISSED"}[row.met]
    target = "" if row.target is None else f"target {_number(row.target)}"
    figure = f"{row.number:>2}  {row.what:<66} {_number(row.figure):>12} {row.unit:<11}"
    return f"{figure} {target:<16} {verdict:<7} {row.reference}".rstrip()


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    main()
