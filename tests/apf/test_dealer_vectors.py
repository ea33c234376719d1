"""Flow hash, hand and validity of a hand against the upstream library."""

from __future__ import annotations

from apftop.apf.shards import deal, deal_fault, entropy_bits, flow_hash
from tests.apf.vectors import vectors


def test_hashes_are_those_of_the_library() -> None:
    named = [vector for vector in vectors("dealer") if "fs" in vector]

    assert named
    assert [flow_hash(one["fs"], one.get("fd", "")) for one in named] == [one["hash"] for one in named]


def test_hands_are_those_of_the_library_in_the_order_dealt() -> None:
    dealt = [vector for vector in vectors("dealer") if "cards" in vector]

    assert dealt
    assert [list(deal(one["hash"], one["deck"], one["hand"])) for one in dealt] == [one["cards"] for one in dealt]


def test_the_library_refuses_the_same_decks_and_hands() -> None:
    for one in vectors("dealer"):
        assert (deal_fault(one["deck"], one["hand"]) is not None) == ("error" in one), one
        if one["deck"] > 0 and one["hand"] > 0:
            assert entropy_bits(one["deck"], one["hand"]) == one["entropy_bits"]
