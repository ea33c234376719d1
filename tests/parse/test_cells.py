"""Times, durations and seat-seconds are read exactly, and nothing else is taken for one."""

from __future__ import annotations

import pytest

from apftop.parse.cells import duration_ns, seat_seconds, unix_ns
from tests.parse.dump_samples import SECOND

# Typed cells


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("0s", 0),
        ("5ms", 5_000_000),
        ("1.5s", 1_500_000_000),
        ("833.333µs", 833_333),
        ("833.333μs", 833_333),
        ("833.333us", 833_333),
        ("1m0s", 60_000_000_000),
        ("1h2m3.5s", 3_723_500_000_000),
        ("100ns", 100),
        ("-1.000000001s", -1_000_000_001),
        ("-7ms", -7_000_000),
    ],
)
def test_durations_are_exact(text: str, nanoseconds: int) -> None:
    assert duration_ns(text) == nanoseconds


@pytest.mark.parametrize("text", ["", "5", "5m", "1h", "1.5ns", "s", "1s ", "+1s", "1.0000000001s", "٣s"])
def test_what_go_does_not_print_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        duration_ns(text)


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:01.5Z", 1_500_000_000),
        ("2026-04-12T10:03:20.000000001Z", SECOND + 1),
        ("2026-04-12T12:03:20.25+02:00", SECOND + 250_000_000),
        ("1969-12-31T23:59:59.9Z", -100_000_000),
    ],
)
def test_times_are_exact(text: str, nanoseconds: int) -> None:
    assert unix_ns(text) == nanoseconds


@pytest.mark.parametrize(
    "text", ["", "2026-04-12", "2026-02-30T00:00:00Z", "2026-04-12T10:03:20.Z", "2026-04-12 10:03:20Z"]
)
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match=r"not an RFC 3339 time|day is out of range"):
        unix_ns(text)


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("0.00000000ss", 0),
        ("1523.40012500ss", 152_340_012_500),
        ("-0.00000001ss", -1),
        ("184467440737.09551615ss", 2**64 - 1),
    ],
)
def test_seat_seconds_are_exact(text: str, units: int) -> None:
    assert seat_seconds(text) == units


@pytest.mark.parametrize("text", ["0.0000000ss", "1ss", "1.00000000s", "nan"])
def test_what_is_no_number_of_seat_seconds(text: str) -> None:
    with pytest.raises(ValueError, match="seat-seconds"):
        seat_seconds(text)
