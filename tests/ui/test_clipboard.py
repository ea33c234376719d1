"""What is written to the terminal so that it copies."""

from __future__ import annotations

import base64

from apftop.ui.clipboard import MOST_BYTES, copying


def test_a_text_is_copied_by_osc_52() -> None:
    sequence = copying("seats 12/40, 名前", {})

    assert sequence is not None
    assert sequence.startswith("\x1b]52;c;")
    assert sequence.endswith("\a")
    assert base64.b64decode(sequence[7:-1]).decode() == "seats 12/40, 名前"


def test_inside_tmux_it_is_also_passed_through() -> None:
    sequence = copying("x", {"TMUX": "/tmp/tmux-0/default,1,0"})

    assert sequence == "\x1b]52;c;eA==\a\x1bPtmux;\x1b\x1b]52;c;eA==\a\x1b\\"


def test_what_is_longer_than_terminals_take_is_not_sent() -> None:
    assert copying("x" * (MOST_BYTES // 4 * 3), {}) is not None
    assert copying("x" * MOST_BYTES, {}) is None
