"""The codes that tests say they are about, by `pytest.mark.fires` and `pytest.mark.spares`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path


@cache
def marked(folder: Path, marker: str) -> frozenset[str]:
    """The codes that tests of a folder are marked with."""
    return frozenset(code for file in folder.glob("test_*.py") for code in _marked(file, marker))


def _marked(file: Path, marker: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == marker:
            yield from (one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str))
