"""Run all rows and print one table: `python -m tests.bench [--json] [--short]`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict

from tests.bench import queueset
from tests.bench.row import Row

ROWS: tuple[Callable[..., Iterator[Row]], ...] = (queueset.rows,)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON array instead of a table")
    parser.add_argument("--short", action="store_true", help="one run of each figure instead of the best of several")
    options = parser.parse_args()
    found = [row for rows in ROWS for row in rows(short=options.short)]
    if options.json:
        print(json.dumps([asdict(row) | {"met": row.met} for row in found], indent=2))
        return
    for row in found:
        print(_line(row))


def _line(row: Row) -> str:
    verdict = {None: "", True: "met", False: "MISSED"}[row.met]
    target = "" if row.target is None else f"target {row.target:,.0f}"
    return (
        f"{row.number:>2}  {row.what:<66} {row.figure:>12,.0f} {row.unit:<11} {target:<16} {verdict:<7} {row.reference}"
    )


if __name__ == "__main__":
    main()
