"""`apftop record` as it is run, on the servers of the demo."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from apftop.cli_options import Bytes, Duration
from apftop.demo.running import start_demo
from apftop.tape.parts import parts_of
from apftop.tape.reading import open_tape
from tests.tape.taping import read, samples

LONG_S = 60.0


@pytest.fixture(scope="module")
def servers() -> Iterator[list[str]]:
    demo = start_demo()
    yield [word for url in demo.urls for word in ("--server", url)]
    demo.stop()


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "apftop", "record", *arguments]


def ran(*arguments: str, cwd: Path, head: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", *head, "record", *arguments] if head else command(*arguments)
    env = {**os.environ, "PYTHONPATH": os.getcwd()}
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=LONG_S, cwd=cwd, env=env)


def until_recorded(run: subprocess.Popen[bytes], path: Path, size: int = 20_000) -> None:
    ends = time.monotonic() + LONG_S
    while not path.exists() or path.stat().st_size < size:
        assert run.poll() is None
        assert time.monotonic() < ends, (path.exists(), path.exists() and path.stat().st_size)
        time.sleep(0.05)


def test_it_records_for_a_time_and_says_what_it_did(servers: list[str], tmp_path: Path) -> None:
    run = ran("a.tape", *servers, "--duration", "3s", cwd=tmp_path)

    assert run.returncode == 0
    assert re.fullmatch(
        r"recorded 3s of 3 servers to a\.tape \([0-9.]+ kB\)\nNext: apftop replay a\.tape\n", run.stdout
    )
    assert re.fullmatch(r"apftop: recording \S+, \S+, \S+ to a\.tape; ctrl\+c ends it\n", run.stderr)
    assert {one.replica for one in read(open_tape(tmp_path / "a.tape"))} == {
        word.removeprefix("http://") for word in servers[1::2]
    }


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_well(servers: list[str], tmp_path: Path, number: signal.Signals) -> None:
    path = tmp_path / "tape"
    with subprocess.Popen(command(str(path), *servers), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        until_recorded(run, path)
        run.send_signal(number)
        _, told = run.communicate(timeout=LONG_S)

    assert run.returncode == 0, told
    tape = open_tape(path)
    assert read(tape)
    assert not tape.problems


def test_a_signal_that_was_ignored_before_is_ignored_still(servers: list[str], tmp_path: Path) -> None:
    path = tmp_path / "tape"
    words = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *command(str(path), *servers)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        until_recorded(run, path)
        run.send_signal(signal.SIGHUP)
        until_recorded(run, path, path.stat().st_size + 1)
        run.send_signal(signal.SIGTERM)
        run.communicate(timeout=LONG_S)

    assert run.returncode == 0


def test_where_no_server_answers_it_says_so(tmp_path: Path) -> None:
    run = ran("tape", "--server", "http://127.0.0.1:1", "--duration", "2s", cwd=tmp_path)

    assert run.returncode == 3
    assert "nothing was learnt, for no server gave an answer" in run.stderr
    assert not run.stdout


def test_it_goes_on_when_servers_vanish(tmp_path: Path) -> None:
    demo, path = start_demo(), tmp_path / "tape"
    words = [word for url in demo.urls for word in ("--server", url)]
    with subprocess.Popen(command(str(path), *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        until_recorded(run, path)
        demo.stop()
        ends = time.monotonic() + LONG_S
        while not any(one.error for one in read(open_tape(path))):
            assert time.monotonic() < ends
            time.sleep(0.2)
        assert run.poll() is None
        run.send_signal(signal.SIGTERM)
        out, _ = run.communicate(timeout=LONG_S)

    assert run.returncode == 0
    assert b"of 3 servers" in out


def test_a_full_disk_ends_it_with_one_line(servers: list[str], tmp_path: Path) -> None:
    run = ran("tape", *servers, "--duration", "50s", cwd=tmp_path, head=("tests.tape.full", "30000"))

    assert run.returncode == 3
    assert "the tape cannot be written on (file too large); it keeps what is on it: " in run.stderr
    assert len(run.stderr.splitlines()) == 2
    assert "recorded " in run.stdout
    tape = open_tape(tmp_path / "tape")
    assert read(tape)
    assert not tape.problems


def test_a_full_disk_leaves_the_ring_to_go_on(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tests.tape.full", "40000"],
        capture_output=True,
        text=True,
        check=False,
        timeout=LONG_S,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )

    assert not run.stderr
    failure, kept = run.stdout.splitlines()
    assert failure.startswith("the tape cannot be written on (file too large)")
    assert int(kept) == len(samples())
    tape = open_tape(tmp_path / "tape")
    found = read(tape)
    assert found == samples()[: len(found)]
    assert 0 < len(found) < len(samples())
    assert not tape.problems


@pytest.mark.parametrize(
    ("path", "said"), [(".", "there is a folder"), ("no/tape", "no such folder"), ("notes", "there is another file")]
)
def test_what_is_no_place_for_a_tape_is_refused_before_any_server_is_asked(
    tmp_path: Path, path: str, said: str
) -> None:
    (tmp_path / "notes").write_text("notes")
    run = ran(path, "--server", "http://192.0.2.1", cwd=tmp_path)

    assert run.returncode == 3
    assert run.stderr.startswith(f"apftop: {said}")
    assert len(run.stderr.splitlines()) == 1


def test_bounds_hold_while_it_records(servers: list[str], tmp_path: Path) -> None:
    (tmp_path / "to").mkdir()
    run = ran("to/tape", *servers, "--duration", "8s", "--max-age", "8s", "--max-size", "1MB", cwd=tmp_path)

    assert run.returncode == 0, run.stderr
    parts = parts_of(tmp_path / "to" / "tape")
    assert len(parts) > 3
    assert sum(one.stat().st_size for one in parts) <= 1_000_000
    assert not open_tape(tmp_path / "to" / "tape").problems


@pytest.mark.parametrize("size", ["200", "1XB", "-5MB", "", "MB", "1e9", "0", "5 parsecs", "9" * 400])
def test_a_size_that_makes_no_sense_is_refused_in_one_line(size: str) -> None:
    with pytest.raises(click.UsageError) as failed:
        Bytes().convert(size, None, None)
    assert len(str(failed.value)) < 200


@pytest.mark.parametrize("age", ["7", "d", "-7d", "1.5d", "", "0s", "0d", "7 days", "9" * 400 + "d", "9" * 400 + "h"])
def test_an_age_that_makes_no_sense_is_refused_in_one_line(age: str) -> None:
    with pytest.raises(click.UsageError) as failed:
        Duration().convert(age, None, None)
    assert len(str(failed.value)) < 600


def test_sizes_and_ages_as_people_write_them_are_read() -> None:
    sizes = ("200MB", "1GiB", "1.5g", "2000k", "1 TB", "1000000")
    assert [Bytes().convert(one, None, None) for one in sizes] == [
        200_000_000,
        1 << 30,
        1_500_000_000,
        2_000_000,
        10**12,
        1_000_000,
    ]
    ages = ("24h", "7d", "90m", "1d12h", "90s", "1h30m")
    assert [Duration().convert(one, None, None) for one in ages] == [86400, 604800, 5400, 129600, 90, 5400]


def test_a_token_is_not_on_the_tape(tmp_path: Path) -> None:
    demo, token = start_demo(), "very-secret-bearer-token"
    (tmp_path / "token").write_text(token)
    words = [word for url in demo.urls[:1] for word in ("--server", url)]
    run = ran("tape", *words, "--token-file", "token", "--duration", "2s", cwd=tmp_path)
    demo.stop()

    told = run.stdout + run.stderr
    tape = open_tape(tmp_path / "tape")
    raw = b"".join(data for number in range(len(tape.segments)) for _, _, data in tape._raw(number))
    assert b"apiserver_flowcontrol" in raw
    assert token.encode() not in raw
    assert token not in told
    assert b"authorization" not in raw.lower()
