"""Spans of time and sizes, as people read them."""

from __future__ import annotations

import pytest

from apftop.present import percent, seconds, size, span, whole


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "-"),
        (0.4, "0s"),
        (59.9, "59s"),
        (60, "1m"),
        (3599, "59m"),
        (7500, "2h5m"),
        (90000, "1d1h"),
        (1e8, "1157d9h"),
    ],
)
def test_a_span_has_two_units_at_most(seconds: float | None, text: str) -> None:
    assert span(seconds) == text


@pytest.mark.parametrize(("value", "text"), [(0, "0s"), (-1e-9, "0s"), (2e-6, "2us"), (0.86, "860ms"), (14.9, "14.9s")])
def test_a_duration_too_short_to_show_is_none(value: float, text: str) -> None:
    assert seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0, "0 B"),
        (999, "999 B"),
        (12_345, "12.3 kB"),
        (2.5e6, "2.5 MB"),
        (999_900, "1000 kB"),
        (1e12, "1000 GB"),
    ],
)
def test_a_size_has_the_unit_that_suits_it(value: float | None, text: str) -> None:
    assert size(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0004, "400us"), (0.86, "860ms"), (0.9996, "1000ms"), (1.5, "1.5s"), (999.7, "1000s"), (-0.02, "-20ms")],
)
def test_a_duration_is_never_written_with_an_exponent(value: float, text: str) -> None:
    assert seconds(value) == text


def test_a_gauge_that_is_no_number_is_unknown() -> None:
    assert [whole(float(text)) for text in ("nan", "inf", "-inf")] == ["-"] * 3


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (float("nan"), "-"),
        (0, "0%"),
        (114 / 160, "71.3%"),
        (10 / 160, "6.3%"),
        (36 / 160, "22.5%"),
        (0.0001, "0.0%"),
        (0.9994, "99.9%"),
        (0.9996, "100%"),
        (1, "100%"),
        (1.25, "125%"),
    ],
)
def test_halves_of_a_percent_are_rounded_up(value: float | None, text: str) -> None:
    assert percent(value) == text
