"""Every code of a fault has a test that fires it, and a near miss that does not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from apftop.lint.codes import codes

HERE = Path(__file__).parent


@cache
def marked(marker: str) -> frozenset[str]:
    """The codes that tests of this folder are marked with."""
    return frozenset(code for file in HERE.glob("test_*.py") for code in _marked(file, marker))


def _marked(file: Path, marker: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == marker:
            yield from (one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str))


@pytest.mark.parametrize("code", codes())
def test_each_code_is_fired_by_a_test_and_spared_by_another(code: str) -> None:
    assert code in marked("fires")
    assert code in marked("spares")


def test_no_test_is_about_a_code_that_does_not_exist() -> None:
    assert marked("fires") | marked("spares") == set(codes())
