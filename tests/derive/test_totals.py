"""Sums over replicas."""

from __future__ import annotations

from apftop.derive.frame import frame
from apftop.live import fold
from apftop.records.raw import Endpoint
from tests.derive.build import a_sample, dispatched, exposition
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
