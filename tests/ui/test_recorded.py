"""`--record`: the screen with a tape beside it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from apftop.tape.reading import open_tape
from tests.ui.terminal import Pty

DEMO = (sys.executable, "-m", "apftop", "demo", "--scenario", "calm", "--record")


def test_what_is_seen_is_on_the_tape_once_the_screen_is_left(tmp_path: Path) -> None:
    path = tmp_path / "demo.apftape"
    with Pty((*DEMO, str(path)), (120, 30)) as terminal:
        terminal.wait_for("REC demo.apftape")
        terminal.wait_for("3 of 3 replicas")
        terminal.send(b"q")
        code, _ = terminal.until_end()
        assert code == 0
        assert "next: apftop replay" in terminal.text()

    tape = open_tape(path)
    state, _ = tape.opening(0)
    assert not state.replicas
    assert not tape.problems
    assert len({one.what.replica for one in tape.taken(0) if hasattr(one.what, "replica")}) == 3


def test_a_tape_that_cannot_be_is_refused_before_the_screen(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("not a tape")
    with Pty((*DEMO, str(other)), (120, 30)) as terminal:
        code, _ = terminal.until_end()
        assert code == 3
        assert "notes.txt" in terminal.text()
    assert other.read_text() == "not a tape"


@pytest.mark.parametrize("options", [("--max-size", "5MB"), ("--serve", "--record", "x")])
def test_options_that_make_no_sense_together_are_wrong_usage(options: tuple[str, ...]) -> None:
    with Pty((*DEMO[:4], *options), (120, 30)) as terminal:
        code, _ = terminal.until_end()
        assert code == 2
