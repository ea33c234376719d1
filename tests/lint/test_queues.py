"""Queues of levels: one alone, hands that collide, short ones, and the cap of seats that follows from the hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lint.policies import cluster, codes, found, level, lint, policy, resources, rule, schema, user

GROUP = {"kind": "Group", "group": {"name": "builders"}}
MANY = schema("mine", priorityLevelConfiguration={"name": "batch"}, rules=[rule(subjects=[GROUP])])
ONE = schema("mine", priorityLevelConfiguration={"name": "batch"})


def batch(queues: int, hand: int, length: int = 50, **fields: Any) -> str:
    return level("batch", queuing={"queues": queues, "handSize": hand, "queueLengthLimit": length}, **fields)


@pytest.mark.fires("one-queue")
def test_many_clients_in_one_queue_are_not_told_apart() -> None:
    (fault,) = found(lint(MANY + batch(1, 1)), "one-queue")

    assert (fault.gravity, fault.place) == ("warning", "spec.limited.limitResponse.queuing.queues")


@pytest.mark.fires("one-queue")
def test_two_schemas_of_one_user_each_are_two_flows() -> None:
    other = schema("other", priorityLevelConfiguration={"name": "batch"}, rules=[rule(subjects=[user("joe")])])

    assert "one-queue" in codes(ONE + other + batch(1, 1))


@pytest.mark.spares("one-queue", "hands-collide")
def test_one_user_needs_no_more_than_one_queue() -> None:
    assert "one-queue" not in codes(ONE + batch(1, 1))
    assert "hands-collide" not in codes(ONE + batch(4, 4))


@pytest.mark.fires("hands-collide")
@pytest.mark.parametrize(
    ("queues", "hand", "text"),
    [
        (8, 8, "handSize is as large as queues: one flow can fill them all, and then all others wait behind it"),
        (4, 2, "a flow that fills its queues leaves another one none of its own with a chance of 16.7%"),
        (64, 1, "a flow that fills its queues leaves another one none of its own with a chance of 1.6%"),
    ],
)
def test_flows_that_often_share_all_their_queues_are_told(queues: int, hand: int, text: str) -> None:
    (fault,) = found(lint(MANY + batch(queues, hand)), "hands-collide")

    assert (fault.gravity, fault.place) == ("warning", "spec.limited.limitResponse.queuing.handSize")
    assert fault.text == text


@pytest.mark.spares("hands-collide", "one-queue")
@pytest.mark.parametrize(("queues", "hand"), [(128, 1), (16, 2), (16, 4), (64, 6)])
def test_flows_that_seldom_meet_are_not_told(queues: int, hand: int) -> None:
    assert not codes(MANY + batch(queues, hand)) & {"hands-collide", "one-queue"}


@pytest.mark.spares("hands-collide")
def test_a_hand_that_cannot_be_dealt_is_another_fault() -> None:
    assert "hands-collide" not in codes(MANY + batch(4, 5))


@pytest.mark.fires("short-queues")
def test_a_level_that_holds_fewer_requests_of_a_flow_than_half_its_seats_refuses_bursts() -> None:
    (fault,) = found(lint(MANY + batch(64, 2, 2)), "short-queues")

    assert (fault.gravity, fault.place) == ("note", "spec.limited.limitResponse.queuing.queueLengthLimit")
    assert fault.text.startswith("4 requests of one flow can wait (2 x 2), and 12 are served at once")


@pytest.mark.spares("short-queues")
def test_queues_for_half_the_seats_are_long_enough() -> None:
    assert "short-queues" not in codes(MANY + batch(64, 2, 3))


@pytest.mark.fires("seat-cap-one")
@pytest.mark.parametrize(
    ("hand", "shares", "seats", "advice"),
    [
        (8, 5, 12, "with 16 seats or more wide requests cost more, or with a smaller handSize"),
        (1, 2, 5, "with 7 seats or more wide requests cost more"),
    ],
)
def test_a_small_level_counts_each_request_as_one_seat(hand: int, shares: int, seats: int, advice: str) -> None:
    (fault,) = found(lint(MANY + batch(128, hand, nominalConcurrencyShares=shares)), "seat-cap-one")

    assert fault.gravity == "note"
    assert f"{seats} nominal seats, hand {hand}" in fault.text
    assert fault.advice == advice


@pytest.mark.spares("seat-cap-one")
@pytest.mark.parametrize("target", ["1.26", "1.26.7", "1.27.4"])
def test_older_releases_have_no_cap_by_level(target: str) -> None:
    assert "seat-cap-one" not in codes(MANY + level("batch", "v1beta3", queuing={"handSize": 8}), target)


@pytest.mark.fires("seat-cap-one")
@pytest.mark.parametrize("target", ["1.26.8", "1.27.5", "1.28"])
def test_the_cap_came_with_patches(target: str) -> None:
    assert "seat-cap-one" in codes(MANY + level("batch", "v1beta3", queuing={"handSize": 8}), target)


@pytest.mark.spares("seat-cap-one")
def test_a_level_whose_lists_may_cost_two_seats_is_not_told() -> None:
    assert "seat-cap-one" not in codes(MANY + batch(64, 6))


@pytest.mark.spares("seat-cap-one", "short-queues", "one-queue", "hands-collide")
@pytest.mark.parametrize("target", [f"1.{minor}" for minor in range(26, 38)])
def test_the_builtin_levels_are_as_they_are(target: str) -> None:
    made = cluster(target=target)

    for code in ("seat-cap-one", "short-queues", "one-queue", "hands-collide"):
        assert not found(made, code)


def test_a_level_without_queues_has_no_faults_of_queues() -> None:
    made = policy(
        MANY + level("batch", limitResponse={"type": "Reject"}) + schema("x", rules=[rule(resourceRules=[resources()])])
    )

    assert not [fault for code in ("seat-cap-one", "short-queues", "one-queue") for fault in found(made, code)]
