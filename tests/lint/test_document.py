"""What lint prints as JSON follows the schema that ships with the package."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from tests.case_values import printed

CASES = Path(__file__).parents[1] / "cases"
C17 = CASES / "C17"
CHANGE = [str(C17 / "edited.yaml"), "--against", str(C17 / "live.yaml")]


@pytest.mark.parametrize("given", [CHANGE, [str(CASES / "C19")], [str(CASES / "C25" / "without")]], ids=len)
def test_it_is_valid(given: list[str]) -> None:
    schema = json.loads(files("apftop.lint").joinpath("schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)

    jsonschema.Draft202012Validator(schema).validate(printed(["lint", *given]))


def test_what_becomes_of_an_object_is_a_text_and_an_outcome() -> None:
    document = printed(["lint", *CHANGE])
    level = "PriorityLevelConfiguration/workload-low"

    assert document["outcomes"][level] == "reverted"
    assert document["fate"][level].startswith("reverted: servers look after it")
    assert document["fate"].keys() == document["outcomes"].keys()
