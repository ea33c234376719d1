"""`apftop report --prometheus` as it is called."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from apftop.history.opened import NOT_KEPT
from apftop.present import utc
from tests.prometheus.api import Api
from tests.prometheus.kept import recorded

BEGIN, END = (recorded()[at].received or 0.0 for at in (0, -1))


def apftop(*arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "apftop", "report", *arguments]
    return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("form", ["text", "html", "json"])
def test_a_time_is_reported_in_each_form(api: Api, form: str) -> None:
    done = apftop("--prometheus", api.url, "--at", utc(END), "-o", form)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(NOT_KEPT) == 1
    assert f"Prometheus at {api.url}" in done.stdout.replace("`", "")
    if form == "json":
        made = json.loads(done.stdout)
        assert set(made["replicas"]) == {"0", "1", "2"}
        assert made["requests"] is None or made["requests"] == []


def test_a_span_is_reported_at_each_interval_and_says_what_holds_for_all_once(api: Api) -> None:
    done = apftop("--prometheus", api.url, "--between", utc(END - 15), utc(END), "-d", "5", "-o", "json")
    assert done.returncode == 0, done.stderr
    times = [json.loads(line)["taken"]["t1"] for line in done.stdout.splitlines()]
    assert len(times) == 4
    assert times == sorted(times)
    assert done.stderr.count(NOT_KEPT) == 1


def test_a_token_that_is_refused_is_told_and_not_shown(api: Api, tmp_path: Path) -> None:
    api.instead = 401, "text/html", b"no"
    token = tmp_path / "token"
    token.write_text("s3cret")
    done = apftop("--prometheus", api.url, "--prometheus-token-file", str(token))
    assert done.returncode == 3
    assert done.stderr.startswith("apftop: it refuses who asks (HTTP 401)")
    assert len(done.stderr.splitlines()) == 1
    assert "s3cret" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "arguments",
    [("--prometheus", "http://127.0.0.1:1", "-n", "2"), ("--selector", 'job="a"'), ("--prometheus-tenant", "a")],
)
def test_options_that_make_no_sense_together_are_refused(arguments: tuple[str, ...]) -> None:
    assert apftop(*arguments).returncode == 2
