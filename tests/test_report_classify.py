"""What a report says of the requests in question that lie with a bundle."""

from __future__ import annotations

import gzip
import json
import shutil
import tarfile
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from apftop.cli import cli

CASES = Path(__file__).parent / "cases"
C15, C19 = CASES / "C15", CASES / "C19"
EXPECTED = json.loads((C15 / "expected.json").read_text())["classify"]


def report(path: Path, output: str = "json") -> Result:
    return CliRunner().invoke(cli, ["report", str(path), "--output", output], standalone_mode=False)


def document(path: Path, code: int = 0) -> dict[str, Any]:
    """What the report of a bundle says, which ends with a code and follows the schema."""
    result = report(path)
    assert result.return_value == code, result.stderr
    made: dict[str, Any] = json.loads(result.stdout)
    schema = json.loads(files("apftop.report").joinpath("schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(made)
    return made


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    shutil.copytree(C15, tmp_path / "bundle")
    return tmp_path / "bundle"


def test_they_are_classified_by_the_objects_of_the_bundle() -> None:
    assert document(C15)["classify"] == EXPECTED


def test_an_archive_and_packed_files_say_the_same(bundle: Path) -> None:
    body = (bundle / "requests.json").read_bytes()
    (bundle / "requests.json").unlink()
    (bundle / "requests.json.gz").write_bytes(gzip.compress(body))
    with tarfile.open(bundle.with_suffix(".tgz"), "w:gz") as archive:
        archive.add(bundle, "some/where")

    assert document(bundle)["classify"] == document(bundle.with_suffix(".tgz"))["classify"] == EXPECTED


def test_a_bundle_without_them_says_null() -> None:
    assert document(CASES / "C03")["classify"] is None


def test_text_has_a_line_for_each() -> None:
    told = report(C15, "text").stdout.splitlines()
    begun = told.index("requests in question")

    assert len(told) - begun - 1 == len(EXPECTED)
    assert "  kubelet-lease           system-node-high / node-high, flow system:node:n7" in told[begun:]
    assert "  anon-livez              probes / exempt" in told[begun:]


def test_text_without_them_has_no_such_lines() -> None:
    assert "requests in question" not in report(CASES / "C03", "text").stdout


def test_markdown_has_them_as_they_are(bundle: Path) -> None:
    asked = [{"id": "**bold** ``` <b>", "user": "jane", "verb": "get", "path": "/version"}]
    (bundle / "requests.json").write_text(json.dumps(asked))
    told = report(bundle, "md").stdout

    assert "## Requests in question\n\n````text\n**bold** ``` <b>  global-default / global-default" in told


def test_a_request_that_flow_control_does_not_see_has_empty_texts(bundle: Path) -> None:
    asked = [
        {"id": "exec", "user": "jane", "verb": "create", "resource": "pods", "subresource": "exec", "namespace": "a"}
    ]
    (bundle / "requests.json").write_text(json.dumps(asked))

    assert document(bundle)["classify"] == {"exec": ["", "", ""]}
    assert "exec  not seen by flow control" in report(bundle, "text").stdout


@pytest.mark.parametrize("body", [b"{", b'[{"verb": "get"}]', b"<html>", b"[" * 100_000])
def test_a_file_that_cannot_be_read_is_a_problem_that_is_named(body: bytes, bundle: Path) -> None:
    (bundle / "requests.json").write_bytes(body)
    made = document(bundle, code=3)

    assert made["classify"] is None
    assert [one for one in made["problems"] if one.startswith("requests.json: ")]


def test_without_schemas_nobody_can_tell_and_the_report_says_so(bundle: Path) -> None:
    (bundle / "flowschemas.yaml").unlink()
    made = document(bundle)

    assert made["classify"] is None
    assert [one for one in made["problems"] if "no flow schemas could be read" in one]


def test_nor_can_anybody_where_one_is_broken(bundle: Path) -> None:
    schemas = (bundle / "flowschemas.yaml").read_text()
    (bundle / "flowschemas.yaml").write_text(schemas.replace("matchingPrecedence: 9900", "matchingPrecedence: last"))
    made = document(bundle)

    assert made["classify"] is None
    assert [one for one in made["problems"] if "not all objects could be read" in one]


def test_without_levels_those_are_taken_that_servers_bring(bundle: Path) -> None:
    (bundle / "prioritylevels.yaml").unlink()
    made = document(bundle)

    assert made["classify"] == EXPECTED
    assert [one for one in made["problems"] if "by the built-in levels" in one]


def test_a_schema_whose_level_is_missing_takes_nothing() -> None:
    assert document(C19)["classify"] == json.loads((C19 / "expected.json").read_text())["classify"]


def test_collected_answers_do_not_hide_them(bundle: Path) -> None:
    entries = [
        {"replica": "a", "endpoint": endpoint, "status": 200, "file": f"{endpoint}.yaml"}
        for endpoint in ("flowschemas", "prioritylevels")
    ]
    (bundle / "answers.json").write_text(json.dumps(entries))
    made = document(bundle)

    assert made["classify"] == EXPECTED
    assert made["problems"] == []
