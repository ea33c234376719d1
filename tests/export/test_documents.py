"""Reports as pages and as Markdown are those of `apftop report`."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from apftop.cli import cli
from tests.export.exporting import BUNDLES, run, tape


def reported(source: Path, to: str, *words: str) -> str:
    return CliRunner().invoke(cli, ["report", str(source), "-o", to, *words], standalone_mode=False).stdout


@pytest.mark.parametrize("to", ["html", "md"])
def test_a_document_is_the_report_of_the_same_source(tmp_path: Path, to: str) -> None:
    assert run(BUNDLES[1], "--to", to, "-o", tmp_path / "it").exit_code == 0

    assert (tmp_path / "it").read_text() == reported(BUNDLES[1], to)
    assert (tmp_path / "it").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("to", ["html", "md"])
def test_of_a_tape_it_is_of_the_same_times(tmp_path: Path, to: str) -> None:
    path = tape(tmp_path)

    assert run(path, "--to", to, "--at", "-8s").stdout == reported(path, to, "--at", "-8s")
    assert run(path, "--to", to, "--between", "-20s", "-8s").stdout == reported(path, to, "--between", "-20s", "-8s")
