"""Seats of levels: none, unlimited borrowing, and lending the last one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lint.policies import cluster, codes, found, level, lint, schema

REJECT = {"type": "Reject"}
TO_BATCH = schema("mine", priorityLevelConfiguration={"name": "batch"})


@pytest.mark.fires("zero-seats-queue")
def test_zero_seats_with_queues_serve_nothing() -> None:
    (fault,) = found(lint(TO_BATCH + level("batch", nominalConcurrencyShares=0)), "zero-seats-queue")

    assert (fault.gravity, fault.place) == ("error", "spec.limited.nominalConcurrencyShares")


@pytest.mark.fires("zero-seats-queue")
def test_a_borrowing_limit_in_percent_of_nothing_is_nothing() -> None:
    text = TO_BATCH + level("batch", nominalConcurrencyShares=0, borrowingLimitPercent=500)

    assert "zero-seats-queue" in codes(text)


@pytest.mark.fires("zero-seats-reject")
@pytest.mark.spares("zero-seats-queue")
def test_zero_seats_with_reject_do_not_block() -> None:
    given = codes(TO_BATCH + level("batch", nominalConcurrencyShares=0, limitResponse=REJECT))

    assert "zero-seats-reject" in given
    assert "zero-seats-queue" not in given


@pytest.mark.fires("no-guaranteed-seats")
@pytest.mark.spares("zero-seats-queue", "zero-seats-reject", "borrowing-unset")
@pytest.mark.parametrize("response", [REJECT, None])
def test_zero_shares_that_may_borrow_are_served_from_what_others_lend(response: dict[str, Any] | None) -> None:
    fields: dict[str, Any] = {"limitResponse": response} if response else {}
    given = codes(TO_BATCH + level("batch", nominalConcurrencyShares=0, borrowingLimitPercent=None, **fields))

    assert "no-guaranteed-seats" in given
    assert not given & {"zero-seats-queue", "zero-seats-reject", "borrowing-unset"}


@pytest.mark.spares("no-guaranteed-seats", "zero-seats-queue", "zero-seats-reject")
def test_one_share_is_a_seat_or_more() -> None:
    given = codes(TO_BATCH + level("batch", nominalConcurrencyShares=1))

    assert not given & {"no-guaranteed-seats", "zero-seats-queue", "zero-seats-reject"}


@pytest.mark.fires("leads-to-no-seats")
@pytest.mark.parametrize(
    ("fields", "gravity", "text"),
    [
        ({}, "error", "its level batch has no seats: none of its requests is ever served"),
        ({"limitResponse": REJECT}, "warning", "its level batch has no seats: one request at a time is served"),
    ],
)
def test_a_schema_for_a_level_without_seats_is_told(fields: dict[str, Any], gravity: str, text: str) -> None:
    there = level("batch", nominalConcurrencyShares=0, **fields)

    (fault,) = found(lint(TO_BATCH, before=there), "leads-to-no-seats")

    assert (fault.gravity, fault.text) == (gravity, text)
    assert fault.place == "spec.priorityLevelConfiguration.name"


@pytest.mark.spares("leads-to-no-seats")
def test_a_level_that_may_borrow_or_that_is_told_of_itself_is_no_fault_of_the_schema() -> None:
    borrows = level("batch", nominalConcurrencyShares=0, borrowingLimitPercent=None)

    assert "leads-to-no-seats" not in codes(TO_BATCH, before=borrows)
    assert "leads-to-no-seats" not in codes(TO_BATCH + level("batch", nominalConcurrencyShares=0))


@pytest.mark.fires("borrowing-unset")
def test_no_borrowing_limit_is_told_with_what_others_lend() -> None:
    (fault,) = found(lint(TO_BATCH + level("batch", borrowingLimitPercent=None)), "borrowing-unset")

    assert fault.gravity == "note"
    assert fault.text == "borrowingLimitPercent is not set: with what others lend it may have up to 348 of 600 seats"
    assert fault.advice == "set it if a limit is meant; 0 means no borrowing"


@pytest.mark.spares("borrowing-unset")
def test_zero_is_a_limit_and_builtin_levels_and_old_ones_are_no_news() -> None:
    unset = level("batch", borrowingLimitPercent=None)

    assert "borrowing-unset" not in codes(TO_BATCH + level("batch"))
    assert "borrowing-unset" not in codes(level("workload-low", borrowingLimitPercent=None))
    assert "borrowing-unset" not in codes(level("batch", borrowingLimitPercent=None, lendablePercent=10), before=unset)


@pytest.mark.fires("lends-all")
@pytest.mark.parametrize(
    ("fields", "then"),
    [
        ({"lendablePercent": 100}, "its first requests wait for up to 10 s"),
        # 90% of 5 seats are rounded to 5.
        ({"lendablePercent": 90, "nominalConcurrencyShares": 2}, "its first requests wait for up to 10 s"),
        ({"lendablePercent": 100, "limitResponse": REJECT}, "one request at a time is let in for up to 10 s"),
    ],
)
def test_a_level_that_may_lend_its_last_seat_is_told(fields: dict[str, Any], then: str) -> None:
    (fault,) = found(lint(TO_BATCH + level("batch", **fields)), "lends-all")

    assert (fault.gravity, fault.place) == ("warning", "spec.limited.lendablePercent")
    assert fault.text.endswith(then)


@pytest.mark.fires("lends-all")
def test_a_level_of_one_seat_may_lend_its_only_one() -> None:
    (fault,) = found(lint(level("batch", lendablePercent=50, nominalConcurrencyShares=1), seats=100), "lends-all")

    assert fault.text.startswith("it may lend its only seat: when")


@pytest.mark.spares("lends-all")
def test_a_level_that_keeps_a_seat_is_not_told() -> None:
    assert "lends-all" not in codes(TO_BATCH + level("batch", lendablePercent=90))


@pytest.mark.spares("lends-all", "borrowing-unset", "no-guaranteed-seats")
@pytest.mark.parametrize("target", [f"1.{minor}" for minor in range(26, 38)])
def test_the_builtin_levels_have_their_seats(target: str) -> None:
    made = cluster(target=target)

    for code in ("lends-all", "borrowing-unset", "no-guaranteed-seats"):
        assert not found(made, code)
