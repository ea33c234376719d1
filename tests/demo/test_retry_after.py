"""The seconds that refused clients are told to wait."""

from __future__ import annotations

from apftop.demo.retry_after import RetryAfter

SEEN = ((0, 5, 1), (1, 11, 2), (2, 1, 2), (3, 11, 4), (4, 1, 4), (7, 1, 8), (11, 1, 8), (15, 1, 7), (17, 1, 6))
LATER = ((21, 14, 5), (22, 1, 10))
START = 1_800_000_000


def test_it_doubles_under_many_refusals_and_falls_under_few() -> None:
    told = RetryAfter()
    for second, refusals, expected in (*SEEN, *LATER):
        for _ in range(refusals):
            value = told.refuse(START + second)
        assert value == expected, f"second {second}"
