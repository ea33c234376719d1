"""SARIF is valid by the schema of the standard, and is what code hosts take."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Any

import jsonschema
import pytest

from apftop.lint.sarif import sarif, uri_of
from apftop.records.linting import Fault, Linted
from tests.lint.written import LEVEL, SCHEMA, WRONG
from tests.test_bad_input import apftop

BOOK = json.loads((Path(__file__).parent / "sarif-schema-2.1.0.json").read_bytes())
VALIDATOR = jsonschema.Draft7Validator(BOOK)
URI = re.compile(r"(?:[a-z]+:)?[A-Za-z0-9._~!$&'()*+,;=:@/-]*(?:%[0-9A-F]{2}[A-Za-z0-9._~!$&'()*+,;=:@/-]*)*")
AT = Path("/repo")


def made(*faults: Fault, files: Sequence[str] = (), problems: Sequence[str] = ()) -> dict[str, Any]:
    """The run, which is valid."""
    whole = sarif(Linted("1.37", 600, faults), AT, files, problems)
    VALIDATOR.validate(whole)
    run: dict[str, Any] = whole["runs"][0]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        for location in result["locations"]:
            uri = location.get("physicalLocation", {}).get("artifactLocation", {}).get("uri", "")
            assert URI.fullmatch(uri), uri
    return run


def at(file: str, line: int | None = 3, **more: Any) -> Fault:
    return Fault("broken", "error", "a is b", "do c", "FlowSchema", "x", "spec.a", file, line, **more)


def test_nothing_that_is_wrong_is_a_valid_run_without_results() -> None:
    run = made()

    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"] is True


def test_a_fault_of_a_file_has_its_line_and_its_object() -> None:
    [result] = made(at("policy/x.yaml"))["results"]

    assert result["message"]["text"] == "FlowSchema x: a is b. Do c."
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "policy/x.yaml", "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": 3},
            },
            "logicalLocations": [{"fullyQualifiedName": "FlowSchema/x#spec.a", "kind": "object"}],
        }
    ]


def test_rules_are_named_once_and_say_what_to_do() -> None:
    rules = made(at("x.yaml"), at("y.yaml"), Fault("no-rules", "warning", "none"))["tool"]["driver"]["rules"]

    assert [rule["id"] for rule in rules] == ["broken", "no-rules"]
    assert all(rule["help"]["text"] and rule["fullDescription"]["text"] for rule in rules)


def test_objects_of_a_server_have_their_name_for_a_place() -> None:
    [result] = made(at("", None))["results"]

    assert list(result["locations"][0]) == ["logicalLocations"]


def test_what_is_about_all_files_is_shown_at_the_first_one() -> None:
    """Code hosts refuse all results where one has no file."""
    [result] = made(Fault("others-shrink", "warning", "much"), files=["", "-", "b.yaml", "a.yaml"])["results"]

    assert result["locations"] == [
        {"physicalLocation": {"artifactLocation": {"uri": "b.yaml", "uriBaseId": "%SRCROOT%"}}}
    ]


def test_standard_input_is_no_file() -> None:
    [result] = made(at("-"), files=["-"])["results"]

    assert "physicalLocation" not in result["locations"][0]


def test_what_could_not_be_read_is_a_failed_run() -> None:
    [invocation] = made(problems=["x.yaml: broken YAML"])["invocations"]

    assert invocation["executionSuccessful"] is False
    assert invocation["toolExecutionNotifications"][0]["message"]["text"] == "x.yaml: broken YAML"


@pytest.mark.parametrize(
    ("path", "base", "uri"),
    [
        (PurePosixPath("a b/ü.yaml"), PurePosixPath("/repo"), "a%20b/%C3%BC.yaml"),
        (PurePosixPath("/repo/a:b#c?.yaml"), PurePosixPath("/repo"), "a%3Ab%23c%3F.yaml"),
        (PurePosixPath("/else/x y.yaml"), PurePosixPath("/repo"), "file:///else/x%20y.yaml"),
        (PurePosixPath("back\\slash\n.yaml"), PurePosixPath("/repo"), "back%5Cslash%0A.yaml"),
        (PurePosixPath("latin\udcfc.yaml"), PurePosixPath("/repo"), "latin%FC.yaml"),
        (PureWindowsPath("a b\\x.yaml"), PureWindowsPath("C:\\repo"), "a%20b/x.yaml"),
        (PureWindowsPath("c:\\Repo\\x.yaml"), PureWindowsPath("C:\\repo"), "x.yaml"),
        (PureWindowsPath("D:\\else\\x.yaml"), PureWindowsPath("C:\\repo"), "file:///D:/else/x.yaml"),
        (PureWindowsPath("\\\\host\\share\\x.yaml"), PureWindowsPath("C:\\repo"), "file://host/share/x.yaml"),
    ],
)
def test_files_below_the_working_directory_are_named_from_there(path: PurePath, base: PurePath, uri: str) -> None:
    assert uri_of(path, base) == (uri, not uri.startswith("file:"))
    assert URI.fullmatch(uri)


def test_a_way_up_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "repo" / "sub").mkdir(parents=True)
    (tmp_path / "out.yaml").write_text(WRONG)
    (tmp_path / "repo" / "in.yaml").write_text(WRONG)
    monkeypatch.chdir(tmp_path / "repo")

    run = apftop("lint", "-o", "sarif", "sub/../in.yaml", "../out.yaml")
    whole = json.loads(run.stdout)
    VALIDATOR.validate(whole)
    found = [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in whole["runs"][0]["results"]]
    assert "in.yaml" in found
    assert (tmp_path / "out.yaml").as_uri() in found


def test_a_finding_keeps_its_identity_when_lines_move() -> None:
    def marks(*faults: Fault) -> list[str]:
        return [one["partialFingerprints"]["primaryLocationLineHash"] for one in made(*faults)["results"]]

    first = marks(at("x.yaml", 3), at("x.yaml", 9), at("y.yaml", 3))
    assert first == marks(at("x.yaml", 13), at("/repo/x.yaml", 19), at("y.yaml", None))
    assert len(set(first)) == 3


def test_a_run_on_broken_files_alone_is_valid_and_failed(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("a: [\n")

    run = apftop("lint", "-o", "sarif", str(tmp_path / "broken.yaml"))
    whole = json.loads(run.stdout)
    VALIDATOR.validate(whole)
    assert run.returncode == 3
    assert whole["runs"][0]["invocations"][0]["executionSuccessful"] is False


def test_a_run_on_files_good_and_bad_is_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.yaml").write_text(LEVEL)
    Path("faulty\x1b[31m.yaml").write_text(SCHEMA.replace("ByNamespace", "ByName"))
    Path("broken.yaml").write_text("a: [\n")

    run = apftop("lint", "-o", "sarif", "good.yaml", "faulty\x1b[31m.yaml", "broken.yaml")
    whole = json.loads(run.stdout)
    VALIDATOR.validate(whole)
    assert run.returncode == 3
    assert "\x1b" not in run.stdout
    assert all(one["locations"][0]["physicalLocation"] for one in whole["runs"][0]["results"])
    assert whole["runs"][0]["invocations"][0]["executionSuccessful"] is False
