"""Checks as the report's text has them."""

from __future__ import annotations

import pytest

from apftop.records.checks import Check
from apftop.report.checks import told


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (
            Check("arrivals", "off", 923, (863.0, 863.0), 25.66, "requests", seconds=9.96),
            "923 requests over 10 s against 863, give or take 25.66",
        ),
        (Check("wait-limit", "off", 63.2, (None, 60.0), 2.0, "s"), "63.2 s against at most 60, give or take 2"),
        (Check("seats-within-limit", "off", 12, (None, 8.0), 0.0, "seats"), "12 seats against at most 8"),
        (Check("overtaking", "off", 1.2, (5.0, None), 0.0, "%"), "1.2 % against at least 5"),
        (Check("fair-fraction", "off", 0.5, (2.0, 2.0), 0.002), "0.5 against 2, give or take 0.002"),
        (Check("clock", "off", -2.0, (0.0, 0.01), 0.02, "s"), "-2 s against 0 to 0.01, give or take 0.02"),
        (Check("order", "unknown", missing="a dump of requests"), ""),
    ],
)
def test_both_values_are_told_with_their_unit_and_tolerance(check: Check, text: str) -> None:
    assert told(check) == text
