"""Times of a tape that are exported or collected: those that are on it, and none at which nothing was recorded."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from apftop.cli import cli
from apftop.errors import Trouble
from apftop.tape.reading import open_tape
from tests.export.exporting import run
from tests.replay.living import interrupted_for

HOUR_S = 3600.0


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tape of a few seconds, and of a few an hour later."""
    return interrupted_for(tmp_path_factory.mktemp("times") / "tape", HOUR_S)


def test_there_is_no_row_of_a_time_at_which_nothing_was_recorded(interrupted: Path) -> None:
    first, last = open_tape(interrupted).span
    found = run(interrupted, "--to", "jsonl", "--table", "replicas", "--every", "60")
    times = {datetime.fromisoformat(json.loads(line)["time"]).timestamp() for line in found.stdout.splitlines()}

    assert min(times) == pytest.approx(first, abs=0.01)
    assert max(times) == pytest.approx(last, abs=0.01)
    assert not [at for at in times if first + 60 < at < last - 60]
    assert found.stderr.count("nothing was recorded from") == 1


@pytest.mark.parametrize(
    "words",
    [
        ("export", "--to", "csv", "--table", "levels", "--at", "2020-01-31T14:03:20Z"),
        ("export", "--to", "openmetrics", "--between", "2020-01-31T14:03:20Z", "2020-01-31T14:04:20Z"),
        ("collect", "-o", "bundle", "--at", "2020-01-31T14:03:20Z"),
    ],
    ids=lambda words: " ".join(words[:3]),
)
def test_a_time_that_is_not_on_the_tape_is_refused(
    words: tuple[str, ...], interrupted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(cli, [words[0], str(interrupted), *words[1:]], standalone_mode=False)

    assert isinstance(found.exception, Trouble)
    assert "the tape is of 20" in str(found.exception)
    assert found.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_bundle_of_a_gap_says_how_old_is_what_is_in_it(interrupted: Path, tmp_path: Path) -> None:
    at = datetime.fromtimestamp(open_tape(interrupted).span[0] + HOUR_S / 2, UTC).isoformat()
    found = CliRunner().invoke(cli, ["collect", str(interrupted), "--at", at, "-o", str(tmp_path / "bundle")])

    assert "nothing was recorded at" in found.stderr
    assert (tmp_path / "bundle").is_dir()
