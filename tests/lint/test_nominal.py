"""What a change does to the nominal seats of every level."""

from __future__ import annotations

import pytest

from apftop.lint.all import linted
from apftop.lint.gather import policy_of
from tests.lint.policies import cluster, codes, exempt, found, level, lint


@pytest.mark.fires("others-shrink")
def test_a_level_that_takes_a_fifth_of_the_others_is_told_at_its_shares() -> None:
    (fault,) = found(lint(level("batch", nominalConcurrencyShares=100)), "others-shrink")

    assert (fault.gravity, fault.name) == ("warning", "batch")
    assert fault.line is not None
    assert fault.text == (
        "it takes 174 more of 600 nominal seats, and other levels lose over 20% of theirs with this change: "
        "catch-all 13 -> 9, global-default 49 -> 35, leader-election 25 -> 18, node-high 98 -> 70, system 74 -> 53, "
        "workload-high 98 -> 70, workload-low 245 -> 174"
    )


@pytest.mark.fires("others-shrink")
def test_shares_of_exempt_make_the_others_smaller_since_1_28() -> None:
    assert "others-shrink" in codes(exempt(nominalConcurrencyShares=100), "1.28")


@pytest.mark.spares("others-shrink")
def test_shares_of_exempt_count_for_nothing_before_1_28() -> None:
    assert "others-shrink" not in codes(exempt("v1beta3", nominalConcurrencyShares=100), "1.27")


@pytest.mark.spares("others-shrink")
def test_a_small_level_and_one_that_is_made_smaller_itself_are_not_told() -> None:
    assert "others-shrink" not in codes(level("batch", nominalConcurrencyShares=50))
    assert "others-shrink" not in codes(level("workload-low", nominalConcurrencyShares=20))


@pytest.mark.spares("others-shrink")
def test_a_seat_that_rounding_takes_is_not_told() -> None:
    # Half of what `system` has of 10 seats, and still one seat.
    made = lint(level("batch", nominalConcurrencyShares=60), seats=10)

    assert (made.nominal_before["system"], made.nominal_after["system"]) == (2, 1)
    assert not found(made, "others-shrink")


@pytest.mark.spares("others-shrink")
def test_the_objects_of_a_cluster_by_themselves_change_nothing() -> None:
    assert not found(cluster(level("batch", nominalConcurrencyShares=500)), "others-shrink")


def test_the_table_has_levels_that_come_and_those_that_go() -> None:
    before, after = cluster(level("older")), cluster(level("batch"))

    made = linted(policy_of(after.given, before.after, after.target, 600, whole=True))

    assert (made.nominal_before["older"], made.nominal_after.get("older")) == (12, None)
    assert (made.nominal_before.get("batch"), made.nominal_after["batch"]) == (None, 12)


def test_mandatory_levels_count_though_their_objects_are_missing() -> None:
    without = cluster(without={"PriorityLevelConfiguration/catch-all"})

    assert linted(without).nominal_after == linted(cluster()).nominal_after
