"""Every code of a fault has a test that fires it, and a near miss that does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from apftop.lint.codes import codes
from tests.marked import marked

HERE = Path(__file__).parent


@pytest.mark.parametrize("code", codes())
def test_each_code_is_fired_by_a_test_and_spared_by_another(code: str) -> None:
    assert code in marked(HERE, "fires")
    assert code in marked(HERE, "spares")


def test_no_test_is_about_a_code_that_does_not_exist() -> None:
    assert marked(HERE, "fires") | marked(HERE, "spares") == set(codes())
