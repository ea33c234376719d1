"""What deriving a frame costs, with many levels and many replicas."""

from __future__ import annotations

import pytest

from apftop.derive.deltas import subtract
from apftop.derive.frame import frame
from apftop.live import fold
from apftop.records.parsed import Histogram
from apftop.records.raw import Sample
from tests.derive.build import a_sample, dispatched, exposition, histogram


def test_a_replica_that_has_said_nothing_since_is_not_derived_anew() -> None:
    state = fold([a_sample(exposition(dispatched(1)), 0.0, replica=name) for name in ("a", "b")])
    seen = frame(state)
    later = fold([a_sample(exposition(dispatched(9)), 10.0, replica="a")], state)
    again = frame(later, before=(state, seen))

    assert again == frame(later)
    assert again.replicas["b"] is seen.replicas["b"]
    assert again.replicas["a"] is not seen.replicas["a"]


def test_many_levels_cost_no_more_each_than_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(later: Histogram, earlier: Histogram | None) -> Histogram | None:
        calls.append(1)
        return subtract(later, earlier)

    def answer(levels: int, samples: int) -> Sample:
        lines = [
            line
            for level in range(levels)
            for line in histogram(
                "priority_level_seat_utilization", [0.5] * samples, ("0", "1"), priority_level=f"l{level}"
            )
        ]
        return a_sample(exposition(dispatched(1), *lines), 10.0 * samples)

    def rises(levels: int) -> int:
        state = fold([answer(levels, 1), answer(levels, 2)])
        calls.clear()
        assert frame(state).replicas["kas"].levels["l0"].utilization is not None
        return len(calls)

    monkeypatch.setattr("apftop.derive.deltas.subtract", counted)

    assert 0 < rises(80) <= 10 * rises(8)
