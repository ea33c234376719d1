"""What classify prints as JSON follows the schema that ships with the package."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from tests.case_values import printed

CASES = Path(__file__).parents[1] / "cases"
EXEC = ["--user", "jane", "--verb", "create", "--resource", "pods/exec", "-n", "a"]


@pytest.mark.parametrize(
    "asked",
    [
        [str(CASES / "C15")],
        [str(CASES / "C19"), "--expect", "backup"],
        [str(CASES / "C03"), "--user", "jane", "--kubectl", "kubectl get pods -A"],
        ["--path", "/livez", "--expect", "prober"],
        EXEC,
    ],
    ids=["a bundle's requests", "a dangling schema expected", "a line", "no such schema expected", "unseen"],
)
def test_it_is_valid(asked: list[str]) -> None:
    schema = json.loads(files("apftop.classifying").joinpath("schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)

    jsonschema.Draft202012Validator(schema).validate(printed(["classify", *asked]))
