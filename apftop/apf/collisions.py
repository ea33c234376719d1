"""Whether flows get into each other's way: chances over all hands, and facts about given ones.

A hand counts as drawn at random, each set of `hand_size` queues out of `queues` being equally likely; a hash of 64 bits
comes so close that no count of requests would show the difference. Chances are summed as whole numbers, so that the
small ones are right to the last digit. All functions raise ValueError unless 1 <= hand_size <= queues.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import comb


def overlap_chance(queues: int, hand_size: int, shared: int) -> float:
    """The chance that the hands of two flows have exactly `shared` queues in common."""
    _check(queues, hand_size)
    if not 0 <= shared <= hand_size:
        return 0.0
    ways = comb(hand_size, shared) * comb(queues - hand_size, hand_size - shared)
    return float(Fraction(ways, comb(queues, hand_size)))


def meeting_chance(queues: int, hand_size: int) -> float:
    """The chance that the hands of two flows have any queue in common."""
    _check(queues, hand_size)
    return float(1 - Fraction(comb(queues - hand_size, hand_size), comb(queues, hand_size)))


def squeezed_chance(queues: int, hand_size: int, heavy: int, free: int = 0) -> float:
    """The chance that `heavy` flows leave a victim exactly `free` queues of its hand that none of them may use.

    With `free` = 0 it is the chance that every queue of the victim is shared with some heavy flow. By inclusion and
    exclusion over the queues of the victim that all heavy hands avoid.
    """
    _check(queues, hand_size)
    if heavy < 0:
        raise ValueError(f"heavy is {heavy}, below 0")
    if not 0 <= free <= hand_size:
        return 0.0
    hands = comb(queues, hand_size)
    total = sum(
        (-1) ** more * comb(hand_size - free, more) * comb(queues - free - more, hand_size) ** heavy
        for more in range(hand_size - free + 1)
    )
    return float(Fraction(comb(hand_size, free) * total, hands**heavy))


def shared_queues(one: Iterable[int], other: Iterable[int]) -> frozenset[int]:
    """The queues that two given hands have in common."""
    return frozenset(one) & frozenset(other)


def free_queues(victim: Sequence[int], heavy: Iterable[Iterable[int]]) -> tuple[int, ...]:
    """The queues of a given hand that none of the given heavy hands holds, in the order dealt."""
    taken = {queue for hand in heavy for queue in hand}
    return tuple(queue for queue in victim if queue not in taken)


def _check(queues: int, hand_size: int) -> None:
    if not 1 <= hand_size <= queues:
        raise ValueError(f"a hand of {hand_size} cannot be dealt from {queues} queues")
