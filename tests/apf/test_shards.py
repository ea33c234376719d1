"""Hands of queues: vectors that real servers agree with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.apf.shards import deal, deal_fault, flow_hash, hand, hand_fault
from tests.apf.naive_queueset import naive_hand

VECTORS = [
    ("service-accounts", "system:serviceaccount:default:default", 128, "ba4dd08bd6ad597f", (127, 66, 18, 15, 64, 74)),
    ("global-default", "system:anonymous", 128, "529714ada962409c", (28, 42, 66, 34, 23, 24)),
    ("kube-controller-manager", "", 128, "c5de3c89e5a0a139", (57, 103, 71, 102, 95, 91)),
    ("system-nodes", "system:node:node-1", 64, "a54580566ae0e4df", (31, 41, 53, 23, 38, 17)),
    ("system-nodes", "ünïcode-☃", 255, f"{14502354731975791645:016x}", (220, 244, 235, 212)),
]


@pytest.mark.parametrize(("schema", "distinguisher", "queues", "hashed", "cards"), VECTORS)
def test_the_hand_of_a_flow(schema: str, distinguisher: str, queues: int, hashed: str, cards: tuple[int, ...]) -> None:
    assert f"{flow_hash(schema, distinguisher):016x}" == hashed
    assert hand(schema, distinguisher, queues, len(cards)) == cards


def test_hands_at_the_ends_of_the_hash() -> None:
    assert deal(0, 6, 6) == (0, 1, 2, 3, 4, 5)
    assert deal(2**64 - 1, 64, 6) == (63, 15, 55, 23, 31, 2)
    assert deal(2**64 - 1, 128, 6) == (127, 1, 7, 56, 91, 6)


def test_a_level_of_one_queue_deals_no_hand() -> None:
    assert hand("schema", "user", 1, 1) == ()


def test_a_deck_may_be_larger_than_the_api_allows() -> None:
    assert deal_fault(2**26, 2) is None
    assert "over" in (deal_fault(2**26 + 1, 2) or "")
    assert hand_fault(2**26, 2) is not None


def test_a_hand_larger_than_the_deck_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be dealt"):
        deal(1, 4, 5)


@pytest.mark.parametrize(
    ("queues", "hand_size", "fault"),
    [
        (16, 15, None),
        (16, 16, "bits"),
        (512, 6, None),
        (512, 7, "bits"),
        (10_000_000, 2, None),
        (10_000_001, 2, "queues is"),
        (3, 6, "handSize is 6"),
        (3, -1, "handSize is -1"),
        (0, 1, "queues is 0"),
    ],
)
def test_hands_that_the_server_refuses(queues: int, hand_size: int, fault: str | None) -> None:
    found = hand_fault(queues, hand_size)

    assert found is None if fault is None else found is not None and fault in found


@given(st.integers(0, 2**64 - 1), st.integers(1, 200), st.data())
def test_a_hand_holds_different_queues_of_the_deck(hashed: int, queues: int, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, min(queues, 12)))
    cards = deal(hashed, queues, size)

    assert list(cards) == naive_hand(hashed, queues, size)
    assert len(set(cards)) == size
    assert all(0 <= card < queues for card in cards)
