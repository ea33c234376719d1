"""The screen in a real terminal: how it ends, what it gives back, which colours it sends."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ui.terminal import HAS_TMUX, LEAVE_SCREEN, Pty, environment, in_tmux

PROGRAM = (sys.executable, "-m", "tests.ui.program")
READY = "3 of 3 replicas"
AT_ONCE_S, ATTEMPTS = 1.0, 3
DEFAULT_COLOURS = (39, 49)
SGR = re.compile(rb"\x1b\[([0-9;]*)m")


def program(kind: str, *options: str, size: tuple[int, int] = (80, 24), **env: str) -> Pty:
    return Pty((*PROGRAM, kind, *options), size, environment(**env))


@pytest.mark.parametrize(
    ("how", "code"),
    [(b"q", 0), (b"\x03", 130), (signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=["q", "ctrl-c", "SIGINT", "SIGTERM", "SIGHUP"],
)
@pytest.mark.parametrize(("kind", "ready"), [("calm", READY), ("hung", "connecting to prod"), ("flood", READY)])
def test_each_way_out_gives_the_terminal_back_at_once(
    kind: str, ready: str, how: bytes | signal.Signals, code: int
) -> None:
    assert_ends_at_once(kind, ready, how, code)


def assert_ends_at_once(kind: str, ready: str, how: bytes | signal.Signals, code: int) -> None:
    """It always ends properly, and at once unless the machine itself is slow each time."""
    times: list[float] = []
    while not times or (min(times) >= AT_ONCE_S and len(times) < ATTEMPTS):
        with program(kind) as terminal:
            terminal.wait_for(ready)
            terminal.send(how) if isinstance(how, bytes) else terminal.signal(how)
            ended, took = terminal.until_end()
            assert ended == code
            assert terminal.is_given_back()
            times.append(took)
    assert min(times) < AT_ONCE_S


def test_a_fault_gives_the_terminal_back_says_one_line_and_is_no_success(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with program("broken", "log", str(log)) as terminal:
        ended, _ = terminal.until_end()
        assert ended == 1
        assert terminal.is_given_back()
        told = terminal.text(terminal.output.rindex(LEAVE_SCREEN)).strip()
    assert told == (
        "apftop: the screen failed: RuntimeError: broken [/by] design; run again with --debug FILE for a traceback"
    )
    assert "Traceback" in log.read_text()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_screen_that_does_not_come_back_is_ended_all_the_same(number: signal.Signals, code: int) -> None:
    assert_ends_at_once("deaf", "connecting to prod", number, code)


def test_a_terminal_that_takes_nothing_does_not_keep_the_process() -> None:
    with program("flood", size=(200, 50)) as terminal:
        terminal.wait_for(READY)
        # The screen goes on for long enough to fill everything that lies between it and its reader.
        time.sleep(3)
        terminal.signal(signal.SIGTERM)
        assert terminal.process.wait(5) == 143


@pytest.mark.parametrize("kind", ["calm", "flood"])
def test_the_process_ends_with_its_terminal(kind: str) -> None:
    with program(kind) as terminal:
        terminal.wait_for(READY)
        terminal.hang_up()
        assert terminal.process.wait(5) == 129


def test_without_colour_no_code_for_a_colour_is_sent() -> None:
    for started in (program("calm", NO_COLOR="1"), program("calm", "no-color")):
        with started as terminal:
            terminal.wait_for(READY)
            for key in (b"j", b"2", b"/", b"x", b"\x1b", b"?", b"q", b":"):
                terminal.send(key)
                terminal.read(0.3)
            terminal.send(b"\x03")
            terminal.until_end()
            assert {1, 4, 7} <= set(codes(terminal.output)) <= {0, 1, 2, 4, 7, *DEFAULT_COLOURS}


def test_an_empty_no_color_asks_for_nothing() -> None:
    with program("calm", NO_COLOR="") as terminal:
        terminal.wait_for(READY)
        terminal.send(b"q")
        terminal.until_end()
        assert 31 in codes(terminal.output)


def codes(output: bytes) -> list[int]:
    return list(_codes(output))


def _codes(output: bytes) -> Iterator[int]:
    for found in SGR.findall(output):
        for code in found.split(b";"):
            yield int(code or 0)


@pytest.mark.parametrize("kind", ["dumb", ""])
def test_a_terminal_that_cannot_place_its_cursor_is_refused(kind: str) -> None:
    with program("calm", TERM=kind) as terminal:
        ended, _ = terminal.until_end()
        assert ended == 3
        assert "apftop report -b" in terminal.text()
        assert b"\x1b" not in terminal.output


def test_where_there_is_no_terminal_the_batch_report_is_named() -> None:
    run = subprocess.run([*PROGRAM, "calm"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert run.returncode == 3
    assert run.stderr == (
        "apftop: the screen needs a terminal: standard input is none; `apftop report -b` needs none\n"
    )
    assert run.stdout == ""


@pytest.mark.skipif(not HAS_TMUX, reason="tmux is not installed")
def test_in_tmux_the_screen_is_drawn_resized_and_left() -> None:
    with in_tmux(["sh", "-c", f"{' '.join(PROGRAM)} calm; echo code $?; sleep 60"]) as tmux:
        lines = tmux.wait_for(READY).split("\n")
        assert lines[4].split()[:3] == ["workload-low", "kas-1", "saturated"]
        tmux.resize(120, 40)
        tmux.wait_for("TREND")
        tmux.send("2")
        tmux.wait_for("schemas, each replica")
        tmux.send("q")
        screen = tmux.wait_for("code 0")
        assert READY not in screen


@pytest.mark.skipif(not HAS_TMUX, reason="tmux is not installed")
def test_ctrl_z_gives_the_terminal_to_the_shell_and_fg_brings_the_whole_screen_back() -> None:
    with in_tmux(["bash", "--norc", "-i"]) as tmux:
        tmux.send(f"{' '.join(PROGRAM)} calm", "Enter")
        before = tmux.wait_for(READY)
        tmux.send("C-z")
        assert READY not in tmux.wait_for("Stopped")
        tmux.send("fg", "Enter")
        after = tmux.wait_for("levels, each replica")
        assert after.split("\n")[4:] == before.split("\n")[4:]
        tmux.send("q")


def test_the_screen_loads_no_library_that_it_does_not_need() -> None:
    code = "import sys, apftop.ui.app; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "textual" in run.stdout.split()
    assert not {"pandas", "numpy", "kubernetes", "aiohttp", "yaml"} & set(run.stdout.split())
