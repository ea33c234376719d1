"""Durations as Go writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.apf.durations import go_duration_ns


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1.5s", 1_500_000_000),
        ("350ms", 350_000_000),
        ("1m2.3s", 62_300_000_000),
        ("1h0m1s", 3_601_000_000_000),
        ("12µs", 12_000),
        ("-2s", -2_000_000_000),
        ("0", 0),
        ("+0", 0),
        (".5s", 500_000_000),
        ("1.s", 1_000_000_000),
        ("+1h30m", 5_400_000_000_000),
        ("0.0000000019s", 1),
        ("0.3333333333333333333h", 1_200_000_000_000),
        ("9223372036854775807ns", 2**63 - 1),
        ("9223372036854775808ns", None),
        ("-9223372036854775808ns", -(2**63)),
        ("3000000h", None),
        (".s", None),
        ("+-1s", None),
        ("1s ", None),
        ("1.5", None),
        ("٣s", None),
        ("", None),
        ("5", None),
        ("s", None),
        ("5 s", None),
        ("1d", None),
    ],
)
def test_a_duration_is_read_as_go_does(text: str, nanoseconds: int | None) -> None:
    assert go_duration_ns(text) == nanoseconds


def test_a_text_of_thousands_of_digits_is_read_too() -> None:
    assert go_duration_ns("9" * 5000 + "s") is None
    assert go_duration_ns("0" * 5000 + "1s") == 10**9
    assert go_duration_ns("0." + "0" * 5000 + "1h") == 0


@given(st.text())
def test_whatever_is_none_raises_nothing(text: str) -> None:
    assert go_duration_ns(text) is None or isinstance(go_duration_ns(text), int)
