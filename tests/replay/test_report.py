"""Reports of a tape: which time is meant, and what was not recorded."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from apftop.cli import cli
from apftop.tape.reading import open_tape
from tests.replay.living import interrupted_for

HOUR_S, DAY_S = 3600.0, 86400.0


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tape of a few seconds on one day, and of a few at the same hour of the next one."""
    return interrupted_for(tmp_path_factory.mktemp("report") / "tape", DAY_S)


def report(path: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["report", str(path), *arguments])


def clock(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%H:%M:%S}"


def test_a_time_that_is_not_on_the_tape_is_named_with_those_that_are(interrupted: Path) -> None:
    found = report(interrupted, "--at", "2020-01-31T14:03:20Z")

    assert found.exit_code != 0
    assert "nothing was recorded at 2020-01-31T14:03:20.000Z" in str(found.exception)
    assert "the tape is of 20" in str(found.exception)


def test_an_hour_that_is_there_on_two_days_is_that_of_the_last_one_and_said_so(interrupted: Path) -> None:
    first, _ = open_tape(interrupted).span
    found = report(interrupted, "--at", clock(first + 2.0))

    assert "is on this tape on several days" in found.stderr
    assert f"{datetime.fromtimestamp(first + DAY_S, UTC):%Y-%m-%d}" in found.stdout


def test_a_look_into_a_gap_says_how_old_is_what_is_known(interrupted: Path) -> None:
    first, _ = open_tape(interrupted).span
    found = report(interrupted, "--at", datetime.fromtimestamp(first + HOUR_S, UTC).isoformat())

    assert "nothing was recorded at" in found.stderr
    assert "known 60m before" in found.stderr or "known 1h" in found.stderr or "known 59m" in found.stderr


def test_a_time_within_what_was_recorded_is_reported_without_such_words(interrupted: Path) -> None:
    assert "nothing was recorded" not in report(interrupted, "--at", "-1s").stderr


def test_between_two_times_there_is_a_line_of_json_for_each_interval(interrupted: Path) -> None:
    found = report(interrupted, "--between", "-3s", "-0s", "-d", "1", "-o", "json")

    assert [json.loads(line)["schema"] for line in found.stdout.splitlines()] == ["apftop.report/1"] * 4


def test_one_time_and_two_are_refused_together(interrupted: Path) -> None:
    found = report(interrupted, "--at", "-1s", "--between", "-3s", "-2s")

    assert found.exit_code == 2
    assert "name either" in found.stderr
