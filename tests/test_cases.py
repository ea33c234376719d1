"""Real situations as bundles, with the values that a right report has (all that need no judgement)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.case_values import faults, values

CASES = Path(os.environ.get("APFTOP_CASES") or Path(__file__).parent / "cases")
FOLDERS = sorted(folder for folder in CASES.iterdir() if (folder / "expected.json").exists())


@pytest.mark.parametrize("case", FOLDERS, ids=lambda case: case.name)
def test_report_gives_the_values_of_the_case(case: Path) -> None:
    found, unknown = values(json.loads((case / "expected.json").read_text()))

    assert not unknown, f"cases_map.toml has no place for {unknown}"
    assert faults(case, found) == []
