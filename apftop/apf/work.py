"""Work of a request in the server's own fixed point: units of 1e-8 seat-second (1.26 to 1.37)."""

from __future__ import annotations

SERVICE_TIME_GUESS_NS = 3_000_000
"""What a request is assumed to take until it is done: 3 ms in all releases."""


def work(seats: int, duration_ns: int) -> int:
    """Seats times duration in units of 1e-8 seat-second, halves rounded up; both must be >= 0."""
    return (seats * duration_ns + 5) // 10


def total_work(initial_seats: int, final_seats: int, additional_latency_ns: int) -> int:
    """The work that a request is charged at dispatch, in units of 1e-8 seat-second."""
    initial = work(initial_seats, SERVICE_TIME_GUESS_NS)
    return initial + work(final_seats, additional_latency_ns) if final_seats else initial


def duration_per_seat_ns(amount: int, seats: int) -> int:
    """How long an amount of work takes on so many seats (at least 1), in whole nanoseconds, the rest cut off."""
    return int(amount / seats * 10)
