"""Shuffle sharding: which queues a flow may use (releases 1.26 to 1.37)."""

from __future__ import annotations

import hashlib


def flow_hash(schema: str, distinguisher: str) -> int:
    """The 64-bit hash of a flow: the first 8 bytes, little-endian, of SHA-256 of schema, NUL, distinguisher."""
    digest = hashlib.sha256(schema.encode() + b"\x00" + distinguisher.encode(errors="surrogateescape")).digest()
    return int.from_bytes(digest[:8], "little")


def deal(hash_value: int, queues: int, hand_size: int) -> tuple[int, ...]:
    """The hand of a hash: `hand_size` different queue indexes out of `queues`, in the order dealt.

    Raises ValueError unless 1 <= hand_size <= queues.
    """
    if not 1 <= hand_size <= queues:
        raise ValueError(f"a hand of {hand_size} cannot be dealt from {queues} queues")
    remainders: list[int] = []
    for index in range(hand_size):
        hash_value, remainder = divmod(hash_value, queues - index)
        remainders.append(remainder)
    cards: list[int] = []
    for index, card in enumerate(remainders):
        # Each remainder counts places in a deck from which the earlier cards are gone, newest first.
        for earlier in reversed(remainders[:index]):
            if card >= earlier:
                card += 1
        cards.append(card)
    return tuple(cards)


def hand(schema: str, distinguisher: str, queues: int, hand_size: int) -> tuple[int, ...]:
    """The queues that a flow may use, in the order dealt; empty for a level with at most one queue."""
    if queues <= 1:
        return ()
    return deal(flow_hash(schema, distinguisher), queues, hand_size)
