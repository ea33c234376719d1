"""Logs in the report: named by options, and joined to what the servers say."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from apftop.cli import cli
from apftop.records.logs import NO_LOGS, Caller, ClientLog, Logs
from apftop.report.logs import MOST_CALLERS, logs_json
from tests.logs.build import AGENT, ARGO, line
from tests.logs.test_client_log import WORDINGS

CASES = Path(__file__).parent.parent / "cases"


def reported(*arguments: str) -> tuple[int, dict[str, Any], str]:
    run = CliRunner().invoke(cli, ["report", *arguments, "--output", "json"])
    return run.exit_code, json.loads(run.stdout), run.stderr


def test_logs_that_are_named_are_in_the_report(tmp_path: Path) -> None:
    client, audit = tmp_path / "client.txt", tmp_path / "audit.txt"
    client.write_text(WORDINGS["since 1.33"] + "\n")
    audit.write_bytes(line(1) + line(2) + line(3)[:80])
    code, made, said = reported(str(CASES / "C03"), "--client-log", str(client), "--audit-log", str(audit))
    schema = json.loads(files("apftop.report").joinpath("schema.json").read_text())
    problem = f"{audit}: 1 of 3 lines cannot be read, the first is line 3"

    jsonschema.Draft202012Validator(schema).validate(made)
    assert code == 0, "a torn line is no failure"
    assert made["client_log"] == {"lines": 1, "max_wait_s": 1.2, "sum_wait_s": 1.2}
    assert [(one["user"], one["user_agent"], one["requests"]) for one in made["callers"]] == [(ARGO, AGENT, 2)]
    assert made["logs"]["requests"] == 2
    assert problem in made["problems"] and problem in said


@pytest.mark.parametrize("option", ["--client-log", "--audit-log"])
def test_a_log_that_is_not_there_is_a_usage_error(option: str, tmp_path: Path) -> None:
    run = CliRunner().invoke(cli, ["report", str(CASES / "C03"), option, str(tmp_path / "gone")])

    assert run.exit_code == 2
    assert "does not exist" in run.stderr


def test_what_no_log_tells_is_null() -> None:
    made = logs_json(NO_LOGS)
    (caller,) = logs_json(Logs(callers=(Caller("", "", "", requests=1),)))["callers"]

    assert made["client_log"] is None and made["callers"] == []
    assert caller["user"] is caller["source"] is caller["priority_level"] is caller["queued"]["max_s"] is None
    assert logs_json(Logs(ClientLog(0, 0.0, 0.0)))["client_log"] == {"lines": 0, "max_wait_s": 0, "sum_wait_s": 0}


def test_of_many_callers_the_first_are_listed_and_all_are_counted() -> None:
    many = tuple(Caller(f"user-{number}", "a", "10.0.0.1", requests=1) for number in range(MOST_CALLERS + 7))
    made = logs_json(Logs(callers=many, entries=len(many)))

    assert len(made["callers"]) == MOST_CALLERS
    assert made["logs"]["callers"] == made["logs"]["requests"] == MOST_CALLERS + 7
