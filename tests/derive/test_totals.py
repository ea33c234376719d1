"""Sums over replicas."""

from __future__ import annotations

import pytest

from apftop.derive.frame import frame
from apftop.live import fold
from apftop.records.raw import Endpoint
from tests.derive.build import a_sample, dispatched, exposition, rejected
from tests.derive.test_frame import levels_dump, limit


def test_a_total_leaves_out_a_replica_on_which_the_level_is_gone() -> None:
    both = exposition(limit("nominal", 10, "load"), limit("nominal", 10, "other"), dispatched(1))
    found = frame(
        fold(
            [
                a_sample(both, 0.0, replica="a"),
                a_sample(both, 0.0, replica="b"),
                # It still drains on one of the two.
                a_sample(levels_dump("load", "other"), 0.0, Endpoint.LEVELS, "a"),
                a_sample(levels_dump("other"), 0.0, Endpoint.LEVELS, "b"),
            ]
        )
    )

    assert found.replicas["b"].levels["load"].state == "stale"
    assert (found.totals.levels["load"].replicas, found.totals.levels["load"].nominal) == (1, 10)
    assert (found.totals.levels["other"].replicas, found.totals.levels["other"].nominal) == (2, 20)


def test_a_share_over_several_servers_is_of_rates_for_their_windows_differ() -> None:
    def body(decided: int, refused: int) -> bytes:
        return exposition(limit("nominal", 10, "load"), dispatched(decided - refused), rejected(refused, "queue-full"))

    found = frame(
        fold(
            [
                a_sample(body(0, 0), 0.0, replica="a"),
                a_sample(body(1000, 0), 10.0, replica="a"),
                a_sample(body(0, 0), 5.0, replica="b"),
                a_sample(body(500, 500), 10.0, replica="b"),
            ]
        )
    )

    # Both decide 100 a second; by counts it would be a third.
    assert found.totals.levels["load"].refused_share == pytest.approx(0.5)
    assert found.totals.refused_share == pytest.approx(0.5)
