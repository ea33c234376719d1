"""Writes a table as the server's table writer does, also where cells hold tabs and newlines."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LEAST_WIDTH = 8
_PADDING = 1


def render(rows: Sequence[Sequence[str]]) -> bytes:
    """Join cells by a comma and a tab, then align each run of lines that have a cell in a column."""
    text = "".join(",\t".join(row) + "\n" for row in rows)
    lines = [re.split("[\t\v]", line) for line in re.split("[\n\f]", text)[:-1]]
    widths: list[list[int]] = [[] for _ in lines]
    for column in range(max(len(line) for line in lines) - 1):
        start = 0
        while start < len(lines):
            end = start
            while end < len(lines) and len(lines[end]) - 1 > column:
                end += 1
            longest = max((len(line[column]) for line in lines[start:end]), default=0)
            for line in widths[start:end]:
                line.append(max(_LEAST_WIDTH, longest + _PADDING))
            start = end + 1
    padded = (
        "".join(cell.ljust(width) for cell, width in zip(line, [*row_widths, 0], strict=True))
        for line, row_widths in zip(lines, widths, strict=True)
    )
    return "".join(line + "\n" for line in padded).encode("utf-8", "surrogateescape")
