"""What is said beside the data: nothing of it gets among the data, and nobody waits without being told why."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from apftop.output import complain, said_if_slow
from tests.test_bad_input import apftop, one_line, shell


def test_what_nobody_can_be_told_does_not_get_among_the_data(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr", None)

    complain(["no connection"])

    assert capsys.readouterr().out == ""


def test_a_standard_error_that_takes_nothing_costs_no_data() -> None:
    asked = "report --server https://127.0.0.1:1 --interval 0.2 --output json"
    line = f"{sys.executable} -m apftop {asked} 2> /dev/full"
    run = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60, check=False)

    assert run.returncode == 3
    assert json.loads(run.stdout)["replicas"]


def test_help_that_cannot_be_written_is_one_line() -> None:
    one_line(shell("--help > /dev/full"), "No space left", "--debug FILE", code=1)


def test_who_sits_at_a_terminal_is_told_what_takes_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(after_s: float, within_s: float) -> str:
        with said_if_slow("waiting for a plugin", after_s):
            deadline = time.monotonic() + within_s
            text = ""
            while not text and time.monotonic() < deadline:
                time.sleep(0.01)
                text = capsys.readouterr().err
        return text

    assert said(0.01, 0.2) == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert said(60.0, 0.1) == ""
    assert said(0.01, 10.0) == "apftop: waiting for a plugin\n"


@pytest.mark.parametrize("interval", ["nan", "inf", "0.5", "4000", "soon"])
def test_a_pace_that_makes_no_sense(interval: str) -> None:
    run = apftop("top", "--interval", interval)

    assert run.returncode == 2
    assert "seconds" in run.stderr
