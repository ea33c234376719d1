"""Real situations as bundles, with the values that a right report has (all that need no judgement)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.case_values import faults, values

CASES = Path(os.environ.get("APFTOP_CASES") or Path(__file__).parent / "cases")
FOLDERS = sorted(folder for folder in CASES.iterdir() if (folder / "expected.json").exists())


@pytest.mark.parametrize("case", FOLDERS, ids=lambda case: case.name)
def test_commands_give_the_values_of_the_case(case: Path) -> None:
    found, unknown = values(case)

    assert not unknown, f"cases_map.toml has no place for {unknown}"
    assert faults(case, found) == []
