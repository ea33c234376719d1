"""Chances of colliding hands: against published figures, against counting, and against hands really dealt."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from apftop.apf.collisions import free_queues, meeting_chance, overlap_chance, shared_queues, squeezed_chance
from apftop.apf.shards import hand


@pytest.mark.parametrize(
    ("hand_size", "queues", "one", "four", "sixteen"),
    [
        # The table of the Kubernetes documentation on shuffle sharding.
        (12, 32, 4.428838398950118e-09, 0.11431348830099144, 0.9935089607656024),
        (10, 32, 1.550093439632541e-08, 0.0626479840223545, 0.9753101519027554),
        (10, 64, 6.601827268370426e-12, 0.00045571320990370776, 0.49999929150089345),
        (9, 64, 3.6310049976037345e-11, 0.00045501212304112273, 0.4282314876454858),
        (8, 64, 2.25929199850899e-10, 0.0004886697053040446, 0.35935114681123076),
        (8, 128, 6.994461389026097e-13, 3.4055790161620863e-06, 0.02746173137155063),
        (7, 128, 1.0579122850901972e-11, 6.960839379258192e-06, 0.02406157386340147),
        (7, 256, 7.597695465552631e-14, 6.728547142019406e-08, 0.0006709661542533682),
        (6, 256, 2.7134626662687968e-12, 2.9516464018476436e-07, 0.0008895654642000348),
        (6, 512, 4.116062922897309e-14, 4.982983350480894e-09, 2.26025764343413e-05),
        (6, 1024, 6.337324016514285e-16, 8.09060164312957e-11, 4.517408062903668e-07),
    ],
)
def test_the_published_chances_of_being_squeezed(
    hand_size: int, queues: int, one: float, four: float, sixteen: float
) -> None:
    found = [squeezed_chance(queues, hand_size, heavy) for heavy in (1, 4, 16)]

    assert found == pytest.approx([one, four, sixteen], rel=1e-9)


def test_chances_are_what_counting_all_hands_gives() -> None:
    hands = list(combinations(range(6), 2))
    victim = hands[0]

    for shared in range(3):
        counted = sum(len(shared_queues(victim, other)) == shared for other in hands) / len(hands)
        assert overlap_chance(6, 2, shared) == pytest.approx(counted)
    pairs = list(product(hands, repeat=2))
    for free in range(3):
        counted = sum(len(free_queues(victim, heavy)) == free for heavy in pairs) / len(pairs)
        assert squeezed_chance(6, 2, 2, free) == pytest.approx(counted)
    assert meeting_chance(6, 2) == pytest.approx(1 - overlap_chance(6, 2, 0))


def test_dealt_hands_meet_as_often_as_chance_says() -> None:
    hands = [hand("service-accounts", f"user-{index}", 64, 6) for index in range(2000)]
    met = sum(bool(shared_queues(one, other)) for one, other in zip(hands[::2], hands[1::2], strict=True)) / 1000

    assert met == pytest.approx(meeting_chance(64, 6), abs=0.05)


def test_no_heavy_flow_leaves_all_queues_free() -> None:
    assert squeezed_chance(64, 6, 0, 6) == 1.0
    assert squeezed_chance(64, 6, 0, 5) == 0.0
    assert squeezed_chance(64, 6, 3, 7) == overlap_chance(64, 6, 7) == 0.0
    assert free_queues((5, 1, 3), [(1, 2), (2, 4)]) == (5, 3)


@pytest.mark.parametrize(("queues", "hand_size", "heavy"), [(4, 5, 1), (4, 0, 1), (4, 2, -1)])
def test_what_cannot_be_dealt_has_no_chance(queues: int, hand_size: int, heavy: int) -> None:
    with pytest.raises(ValueError):
        squeezed_chance(queues, hand_size, heavy)
