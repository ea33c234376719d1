"""Exit codes of the whole program: 2 for words that make no sense, 3 for what cannot be read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tape.taping import record, samples

CASES = Path(__file__).parent / "cases"


@pytest.fixture(scope="module")
def tape(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("codes") / "t.apftape"
    record(path, samples())
    return path


def ended(tmp_path: Path, *words: object) -> tuple[int, str]:
    """The exit code, and the last line of what is said."""
    argv = [sys.executable, "-m", "apftop", *map(str, words)]
    run = subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path, stdin=subprocess.DEVNULL)
    assert run.stdout == ""
    assert "Traceback" not in run.stderr
    return run.returncode, run.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("report", ("--at", "soon")),
        ("replay", ("--at", "soon")),
        ("replay", ("--between", "+0s", "+1s")),
        ("export", ("--to", "csv", "--table", "levels", "--at", "25:99")),
        ("collect", ("-o", "bundle", "--at", "soon")),
        ("diff", ("--at", "soon")),
        ("export", ("--to", "csv", "--table", "pods")),
        ("export", ("--to", "openmetrics", "--table", "clients")),
    ],
)
def test_words_that_make_no_sense_end_it_with_2(
    command: str, words: tuple[str, ...], tape: Path, tmp_path: Path
) -> None:
    assert ended(tmp_path, command, tape, *words)[0] == 2


@pytest.mark.parametrize("command", ["report", "replay", "export --to csv --table levels", "collect -o bundle", "diff"])
@pytest.mark.parametrize(("name", "content"), [("empty", b""), ("notes.txt", b"notes"), ("broken.tgz", b"\x1f\x8bnot")])
def test_what_is_neither_a_tape_nor_a_bundle_ends_it_with_3(
    command: str, name: str, content: bytes, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    code, line = ended(tmp_path, *command.split(), name, *([CASES / "C03"] if command == "diff" else []))

    assert (code, name in line) == (3, True)
    assert "bundle" in line


@pytest.mark.parametrize("command", ["report", "replay", "export --to csv --table levels", "collect -o bundle", "diff"])
def test_what_is_not_there_ends_it_with_3(command: str, tmp_path: Path) -> None:
    code, line = ended(tmp_path, *command.split(), "nothing-here", *([CASES / "C03"] if command == "diff" else []))

    assert (code, "nothing-here" in line) == (3, True)


@pytest.mark.parametrize("command", ["report", "replay", "export --to csv --table levels", "collect -o bundle", "diff"])
def test_a_time_that_is_not_on_the_tape_ends_it_with_3_and_says_which_are(
    command: str, tape: Path, tmp_path: Path
) -> None:
    name, *words = command.split()
    code, line = ended(tmp_path, name, tape, *words, "--at", "2020-01-31T14:03:20Z")

    assert code == 3
    assert "the tape is of 20" in line
