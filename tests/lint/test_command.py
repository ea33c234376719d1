"""`apftop lint` as a person and a CI job run it: exit codes, streams, and what is explained."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from apftop.cli import cli
from apftop.lint.codes import codes
from tests.lint.permissions import permissions_that_count
from tests.lint.written import LEVEL, SCHEMA, WRONG
from tests.test_bad_input import apftop

NOTED = LEVEL.replace("    borrowingLimitPercent: 0\n", "")
"""A note: borrowing has no limit."""

WARNED = SCHEMA.replace("  distinguisherMethod:\n    type: ByNamespace\n", "").replace("name: reader", 'name: "*"')
"""A warning: all accounts are one flow."""


def file(tmp_path: Path, text: str, name: str = "x.yaml") -> str:
    (tmp_path / name).write_text(text)
    return str(tmp_path / name)


def shell(line: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """A line of a shell in which $LINT is the command."""
    env = {**os.environ, "LINT": f"{sys.executable} -m apftop lint"}
    return subprocess.run(
        ["bash", "-c", line], input=text, capture_output=True, text=True, env=env, timeout=60, check=False
    )


@pytest.mark.parametrize(
    ("text", "codes_by_limit"),
    [
        (f"{LEVEL}---\n{SCHEMA}", (0, 0, 0, 0)),
        (f"{NOTED}---\n{SCHEMA}", (0, 0, 0, 1)),
        (f"{LEVEL}---\n{WARNED}", (0, 0, 1, 1)),
        (f"{LEVEL}---\n{WRONG}", (0, 1, 1, 1)),
    ],
    ids=["good", "note", "warning", "error"],
)
def test_the_exit_code_is_1_for_what_is_as_grave_as_asked(
    text: str, codes_by_limit: tuple[int, ...], tmp_path: Path
) -> None:
    path = file(tmp_path, text)

    found = [apftop("lint", path, "--fail-on", limit).returncode for limit in ("never", "error", "warning", "note")]
    assert tuple(found) == codes_by_limit
    assert apftop("lint", path).returncode == codes_by_limit[1]


def test_wrong_usage_is_2() -> None:
    for options in (
        (),
        ("nowhere.yaml",),
        ("--fail-on", "hint"),
        ("--namespace", "ci", "-"),
        ("--resource", "pods", "-"),
    ):
        run = apftop("lint", *options)
        assert (run.returncode, run.stdout) == (2, ""), options


@pytest.mark.parametrize("limit", ["never", "error"])
def test_what_cannot_be_read_is_3_and_the_rest_is_linted(limit: str, tmp_path: Path) -> None:
    broken = file(tmp_path, "a: [\n", "broken.yaml")
    run = apftop("lint", broken, file(tmp_path, WRONG), "--fail-on", limit)

    assert run.returncode == 3
    assert "invalid-precedence" in run.stdout
    assert run.stderr == f"apftop: {broken}: broken YAML at line 2, column 1: did not find expected node content\n"


def test_a_named_file_that_may_not_be_read_is_3_and_the_rest_is_linted(tmp_path: Path) -> None:
    shut = file(tmp_path, LEVEL, "shut.yaml")
    Path(shut).chmod(0)
    with permissions_that_count():
        run = CliRunner().invoke(cli, ["lint", shut, file(tmp_path, WRONG)], standalone_mode=False)

    assert run.return_value == 3
    assert "invalid-precedence" in run.stdout
    assert run.stderr == f"apftop: {shut}: permission denied\n"


def test_files_that_hold_nothing_of_the_kind_are_not_called_well(tmp_path: Path) -> None:
    run = apftop("lint", file(tmp_path, "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n"))

    assert run.returncode == 3
    assert "nothing is wrong" not in run.stdout


def test_standard_input_is_read_where_the_path_is_a_dash() -> None:
    run = apftop("lint", "-", text=f"{LEVEL}---\n{WRONG}")

    assert run.returncode == 1
    assert run.stdout.startswith("stdin:22: error: FlowSchema batch: precedence 20000")
    for run in (apftop("lint", "-"), shell("$LINT - <&-")):
        assert run.returncode == 3
        assert "Traceback" not in run.stderr and "--debug" not in run.stderr


def test_a_reader_that_goes_away_is_no_crash() -> None:
    run = shell('$LINT - | head -c 1; echo " ${PIPESTATUS[0]}"', WRONG)

    assert run.stderr == ""
    assert run.stdout.split()[-1] in ("1", "141")


def test_a_fault_of_a_file_is_not_the_clusters(tmp_path: Path) -> None:
    tie = f"{LEVEL}---\n{SCHEMA}".replace("1000", "9000")
    run = apftop("lint", file(tmp_path, tie), "--fail-on", "never")

    assert "cluster" not in run.stdout


def test_json_names_files_and_lines(tmp_path: Path) -> None:
    path = file(tmp_path, WRONG)
    run = apftop("lint", path, "--output", "json")

    fault = next(one for one in json.loads(run.stdout)["faults"] if one["code"] == "invalid-precedence")
    assert (fault["file"], fault["line"]) == (path, 8)


def test_a_code_is_explained() -> None:
    run = apftop("lint", "--explain", "shadowed-schema")

    assert run.returncode == 0
    for part in ("shadowed-schema: ", "What it means: ", "What to do: ", "queries/runbooks/lint.md#shadowed-schema"):
        assert part in run.stdout
    assert max(map(len, run.stdout.splitlines())) <= 80


def test_codes_that_are_near_are_named_for_one_that_there_is_not() -> None:
    for asked in ("shadowed-shema", "SHADOWED"):
        run = apftop("lint", "--explain", asked)
        assert run.returncode == 2
        assert "did you mean " in run.stderr and "shadowed-schema" in run.stderr
    assert "--codes" in apftop("lint", "--explain", "zzz").stderr


def test_all_codes_are_listed() -> None:
    run = apftop("lint", "--codes")

    assert [line.split()[0] for line in run.stdout.splitlines()] == sorted(codes())
