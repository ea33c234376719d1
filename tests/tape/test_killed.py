"""Recorders that are killed at any point: what was written whole is read, and another recorder goes on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hypothesis import settings

TIMES = 1000 if settings.get_current_profile_name() == "thorough" else 50


def test_a_recorder_that_is_killed_at_any_point_has_lost_nothing_that_it_had_written(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.tape.killed", str(TIMES), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=50 + TIMES,
    )

    assert not ran.stderr
    *wrong, last = ran.stdout.splitlines()
    assert not wrong
    assert last.startswith(f"{TIMES} recorders were killed, ")
    assert ", 0 in the middle" not in last
