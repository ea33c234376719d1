"""Changes that meet known defects of API servers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.apf.builtins import mandatory_level
from apftop.apf.objects import CATCH_ALL, EXEMPT, Meta
from apftop.apf.release import Release
from apftop.lint.defects import defects
from apftop.lint.gather import policy_of
from apftop.lint.policy import Objects
from tests.lint.policies import cluster, codes, exempt, found, level, lint

NARROW: dict[str, Any] = {"nominalConcurrencyShares": 30, "lendablePercent": 50, "borrowingLimitPercent": 1}


def all_narrow() -> str:
    """All limited levels that may change, with hardly any borrowing."""
    names = ("system", "node-high", "leader-election", "workload-high", "workload-low", "global-default")
    return "".join(level(name, **NARROW) for name in names)


def queues(number: int) -> dict[str, Any]:
    return {"queuing": {"queues": number, "handSize": 4, "queueLengthLimit": 10}}


@pytest.mark.fires("fewer-queues")
def test_fewer_queues_can_crash_a_server() -> None:
    (fault,) = found(lint(level("batch", **queues(16)), before=level("batch", **queues(64))), "fewer-queues")

    assert (fault.gravity, fault.place) == ("warning", "spec.limited.limitResponse")
    assert fault.text.startswith("fewer queues (64 -> 16)")


@pytest.mark.fires("fewer-queues")
def test_reject_takes_all_queues_away() -> None:
    after = level("batch", limitResponse={"type": "Reject"})

    (fault,) = found(lint(after, before=level("batch", **queues(64))), "fewer-queues")

    assert fault.text.startswith("fewer queues (64 -> 0)")


@pytest.mark.spares("fewer-queues")
def test_more_or_as_many_queues_and_a_new_level_are_harmless() -> None:
    assert "fewer-queues" not in codes(level("batch", **queues(64)), before=level("batch", **queues(16)))
    assert "fewer-queues" not in codes(level("batch", **queues(16)), before=level("batch", **queues(16)))
    assert "fewer-queues" not in codes(level("batch", **queues(16)))
    assert "fewer-queues" not in codes(level("batch"), before=level("batch", limitResponse={"type": "Reject"}))


@pytest.mark.fires("allocation-fails")
@pytest.mark.parametrize("target", ["1.31", "1.34", "1.37"])
def test_shares_of_exempt_with_narrow_borrowing_stop_the_sharing(target: str) -> None:
    catch_all = level("catch-all", nominalConcurrencyShares=5, borrowingLimitPercent=0)
    text = exempt(nominalConcurrencyShares=100) + all_narrow() + catch_all

    (fault,) = found(lint(text, target), "allocation-fails")

    assert (fault.gravity, fault.name, fault.place) == (
        "error",
        "catch-all",
        "spec.limited.borrowingLimitPercent",
    )
    assert "the upper limits sum to 401, below the 606 nominal seats with those of `exempt`" in fault.text


@pytest.mark.spares("allocation-fails")
@pytest.mark.parametrize("target", ["1.28", "1.30"])
def test_up_to_1_30_the_exempt_level_shares_too(target: str) -> None:
    catch_all = level("catch-all", nominalConcurrencyShares=5, borrowingLimitPercent=0)

    assert "allocation-fails" not in codes(exempt(nominalConcurrencyShares=100) + all_narrow() + catch_all, target)


@pytest.mark.spares("allocation-fails")
@given(
    st.integers(0, 10_000),
    st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 100), st.integers(0, 100)), max_size=5),
    st.integers(1, 5000),
)
def test_no_policy_with_catch_all_as_it_is_fixed_stops_the_sharing(
    shares: int, others: list[tuple[int, int, int]], seats: int
) -> None:
    levels = {
        f"l{number}": replace(
            mandatory_level(CATCH_ALL),
            meta=Meta(f"l{number}"),
            shares=one,
            lendable_percent=lend,
            borrowing_limit_percent=most,
        )
        for number, (one, lend, most) in enumerate(others)
    }
    levels |= {CATCH_ALL: mandatory_level(CATCH_ALL), EXEMPT: replace(mandatory_level(EXEMPT), shares=shares)}

    made = policy_of((), Objects(levels=levels), Release(1, 37), seats)

    assert not [fault for fault in defects(made) if fault.code == "allocation-fails"]


@pytest.mark.spares("allocation-fails")
def test_without_shares_of_exempt_the_sum_is_reached() -> None:
    assert "allocation-fails" not in codes(
        all_narrow() + level("catch-all", nominalConcurrencyShares=5, borrowingLimitPercent=0)
    )


@pytest.mark.fires("demand-leak")
def test_a_level_that_lends_below_its_widest_write_may_leak_demand() -> None:
    (fault,) = found(lint(level("batch", nominalConcurrencyShares=10, lendablePercent=90)), "demand-leak")

    assert (fault.gravity, fault.place) == ("note", "spec.limited.lendablePercent")
    assert fault.text.startswith("its limit may fall to 2 seats, and a write that many watch takes up to 4")
    assert fault.advice == "lend less, so that 4 seats stay"


@pytest.mark.fires("demand-leak")
def test_before_1_26_8_a_write_takes_up_to_10_seats_of_any_level() -> None:
    (fault,) = found(lint(level("batch", "v1beta3", nominalConcurrencyShares=2), "1.26.0"), "demand-leak")

    assert fault.advice == "give more shares, so that 10 seats stay"


@pytest.mark.spares("demand-leak")
def test_writes_take_10_seats_at_most_though_lists_take_100_since_1_34() -> None:
    wide = {"queues": 128, "handSize": 6, "queueLengthLimit": 50}

    text = level("batch", nominalConcurrencyShares=100, lendablePercent=90, queuing=wide)

    # 172 nominal seats: a list may take 26, and the limit falls to 17.
    assert "demand-leak" not in codes(text)


@pytest.mark.spares("demand-leak")
def test_where_each_write_is_one_seat_no_limit_that_serves_it_is_smaller() -> None:
    # 3 nominal seats, and 0 when all are lent: then nothing is served.
    assert "demand-leak" not in codes(level("batch", nominalConcurrencyShares=1, lendablePercent=100))


@pytest.mark.spares("demand-leak")
def test_levels_that_reject_or_lend_nothing_and_builtin_ones_are_not_told() -> None:
    assert "demand-leak" not in codes(level("batch", limitResponse={"type": "Reject"}, lendablePercent=90))
    assert "demand-leak" not in codes(level("batch"))
    assert not found(cluster(), "demand-leak")
