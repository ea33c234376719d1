"""How counts and names are put."""

from __future__ import annotations

import pytest

from apftop.findings.words.told import counted, wait


@pytest.mark.parametrize(
    ("number", "of", "told"),
    [
        (0, "", "0 seats"),
        (1, "", "1 seat"),
        (1.0, "", "1 seat"),
        (1.5, "", "1.5 seats"),
        (5, "", "5 seats"),
        (None, "", "- seats"),
        (0, "1", "0 of 1 seat"),
        (1, "5", "1 of 5 seats"),
    ],
)
def test_a_noun_agrees_with_its_number(number: float | None, of: str, told: str) -> None:
    assert counted(number, "seat", of) == told


def test_one_waits_and_several_wait() -> None:
    assert [wait(number) for number in (0, 1, 2, None)] == ["0 wait", "1 waits", "2 wait", "- wait"]
