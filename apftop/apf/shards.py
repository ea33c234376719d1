"""Shuffle sharding: which queues a flow may use (releases 1.26 to 1.37)."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence

from apftop.apf.objects import PriorityLevelConfiguration


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


def undealt(hand: Sequence[int], queues: int) -> int:
    """The least hash that is dealt this hand out of so many queues: what `deal` takes apart, put together again."""
    value = 0
    for index in reversed(range(len(hand))):
        # A card's place in a deck from which the earlier cards are gone.
        place = hand[index] - sum(earlier < hand[index] for earlier in hand[:index])
        value = value * (queues - index) + place
    return value


MOST_QUEUES = 10_000_000
LARGEST_DECK = 1 << 26
MOST_ENTROPY_BITS = 60


def entropy_bits(queues: int, hand_size: int) -> int:
    """Bits of hash that dealing a hand needs: ceil(log2(queues) * hand size); both must be positive."""
    return math.ceil(math.log2(queues) * hand_size)


def deal_fault(queues: int, hand_size: int) -> str | None:
    """Why no hand of this size can be dealt from this many queues (1.26 to 1.37); None if it can."""
    if queues < 1 or hand_size < 1:
        return f"queues {queues} and handSize {hand_size} must both be at least 1"
    if hand_size > queues:
        return f"handSize is {hand_size}, not between 1 and the {queues} queues"
    if queues > LARGEST_DECK:
        return f"queues is {queues}, over {LARGEST_DECK}"
    bits = entropy_bits(queues, hand_size)
    if bits > MOST_ENTROPY_BITS:
        return f"queues {queues} and handSize {hand_size} need {bits} bits of hash, over {MOST_ENTROPY_BITS}"
    return None


def dealable(configs: Iterable[PriorityLevelConfiguration]) -> tuple[PriorityLevelConfiguration, ...]:
    """The levels that a server runs: it skips one whose hand cannot be dealt, as if it had no object (1.26 to 1.37)."""
    return tuple(
        config
        for config in configs
        if config.queuing is None or deal_fault(config.queuing.queues, config.queuing.hand_size) is None
    )


def hand_fault(queues: int, hand_size: int) -> str | None:
    """Why the API refuses a level of these queues and hand size (1.26 to 1.37); None if it does not."""
    if not 1 <= queues <= MOST_QUEUES:
        return f"queues is {queues}, not between 1 and {MOST_QUEUES}"
    if not 1 <= hand_size <= queues:
        return f"handSize is {hand_size}, not between 1 and the {queues} queues"
    return deal_fault(queues, hand_size)


def hand(schema: str, distinguisher: str, queues: int, hand_size: int) -> tuple[int, ...]:
    """The queues that a flow may use, in the order dealt; empty for a level with at most one queue.

    Raises ValueError for a hand that cannot be dealt (see `hand_fault`).
    """
    if queues <= 1:
        return ()
    return deal(flow_hash(schema, distinguisher), queues, hand_size)
