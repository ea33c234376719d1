"""Every report follows the JSON Schema that ships with the package."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from tests.case_values import report

CASES = Path(__file__).parent / "cases"
BUNDLES = sorted({path.parent for path in CASES.glob("*/scrape.json")} | set(CASES.glob("C09/*/")) | {CASES / "C35"})


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda path: str(path.relative_to(CASES)))
def test_report_is_valid(bundle: Path) -> None:
    schema = json.loads(files("apftop.report").joinpath("schema.json").read_text())

    jsonschema.Draft202012Validator(schema).validate(report(bundle))


def test_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(files("apftop.report").joinpath("schema.json").read_text()))
