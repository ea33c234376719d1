"""Corners of the queue set, reckoned by hand from the rules."""

from __future__ import annotations

import pytest

from apftop.apf.objects import Queuing
from apftop.apf.queueset import QueueSet
from apftop.apf.request import Request

MS = 1_000_000


def level(queues: int, limit: int, hand_size: int = 1, length: int = 10) -> QueueSet[Request]:
    return QueueSet(Queuing(queues, hand_size, length), limit)


def test_seats_held_without_a_queue_do_not_move_virtual_time() -> None:
    reject: QueueSet[Request] = QueueSet(None, 10)
    reject.arrive(0, Request(initial_seats=4))
    reject.reconfigure(0, Queuing(1, 1, 10), 10)
    reject.arrive(0, Request(initial_seats=2))

    reject.set_limit(10 * MS, 10)

    # Two seats of one active queue for 10 ms, in units of 1e-8 seat-second; the four have no queue.
    assert reject.r == 2 * 10 * MS // 10
    assert reject.demand == 6


def test_seats_that_linger_in_a_removed_queue_do_not_move_virtual_time() -> None:
    shrinking = level(2, 10)
    lingering = Request(1, initial_seats=1, final_seats=3, additional_latency_ns=100 * MS)
    other, staying = Request(1), Request(0, initial_seats=2)
    for one in (lingering, other, staying):
        shrinking.arrive(0, one)
    assert (lingering.queue, other.queue) == (shrinking.queues[1], shrinking.queues[1])
    shrinking.reconfigure(0, Queuing(1, 1, 10), 10)

    shrinking.finish(0, lingering)
    assert len(shrinking.queues) == 2
    shrinking.finish(0, other)
    assert len(shrinking.queues) == 1
    shrinking.set_limit(10 * MS, 10)
    assert shrinking.r == 2 * 10 * MS // 10
    shrinking.release(10 * MS, lingering)

    assert (shrinking.seats_in_use, shrinking.executing, len(shrinking.queues)) == (2, 1, 1)
    shrinking.set_limit(20 * MS, 10)
    assert shrinking.r == 2 * 20 * MS // 10


def test_hands_are_dealt_anew_when_queues_have_moved() -> None:
    shrinking = level(3, 10)
    requests = [Request(card) for card in range(3)]
    for one in requests:
        shrinking.arrive(0, one)
    assert [one.queue for one in requests] == shrinking.queues
    shrinking.reconfigure(0, Queuing(2, 1, 10), 10)
    shrinking.finish(0, requests[0])

    later = Request(1)
    shrinking.arrive(0, later)

    assert [queue.index for queue in shrinking.queues] == [0, 1]
    assert later.queue is requests[2].queue
    assert requests[0].queue is not None
    assert requests[0].queue.index == -1


def test_a_wide_head_holds_back_narrow_requests() -> None:
    blocked = level(2, 4)
    first, wide, narrow = Request(0, initial_seats=3), Request(0, initial_seats=2), Request(1)
    blocked.arrive(0, first)
    blocked.arrive(0, wide)
    # Its own queue is new, so that it is first in virtual time; then the wide one is.
    assert blocked.arrive(0, narrow) == [narrow]
    blocked.finish(0, narrow)
    blocked.arrive(MS, Request(0))

    assert (blocked.waiting, blocked.seats_in_use) == (2, 3)
    assert blocked.finish(2 * MS, first)[0] is wide


def test_zero_seats_start_nothing_from_a_queue_but_let_through_what_is_refused_otherwise() -> None:
    jail, leak = level(1, 0), QueueSet[Request](None, 0)
    one, two = Request(), Request()

    assert jail.arrive(0, Request()) == ()
    assert jail.waiting == 1
    assert leak.arrive(0, one) == (one,)
    assert leak.arrive(0, two) == ()
    assert two.refusal == "concurrency-limit"


def test_final_seats_over_the_limit_leave_waiting_seats_behind() -> None:
    small = level(1, 3)
    cut = Request(initial_seats=1, final_seats=8, additional_latency_ns=6 * MS)

    small.arrive(0, cut)

    assert (cut.final_seats, cut.width, cut.additional_latency_ns) == (3, 3, 16 * MS)
    assert (small.waiting, small.seats_waiting, small.demand) == (0, 5, 8)


def test_only_a_waiting_request_can_give_up() -> None:
    busy = level(1, 1)
    one = Request()
    busy.arrive(0, one)

    with pytest.raises(ValueError, match="executing"):
        busy.give_up(0, one)


def test_a_hand_that_cannot_be_dealt_is_refused() -> None:
    with pytest.raises(ValueError, match="handSize is 3"):
        level(2, 1, hand_size=3)
    with pytest.raises(ValueError, match="96 bits of hash"):
        level(64, 1, hand_size=16)


def test_hands_are_forgotten_when_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apftop.apf.queueset.MOST_HANDS", 3)
    many = level(8, 100, hand_size=2)
    for flow in range(50):
        many.arrive(0, Request(flow))

    assert many.executing == 50


def test_the_round_robin_index_stays_on_its_queue_when_one_before_it_goes() -> None:
    shrinking = level(2, 3)
    first, second, third = Request(0), Request(1), Request(0)
    for one in (second, first, third):
        shrinking.arrive(0, one)
    assert shrinking.robin == 0
    shrinking.reconfigure(0, Queuing(1, 1, 10), 3)
    shrinking.finish(0, first)
    shrinking.finish(0, third)
    assert (len(shrinking.queues), shrinking.robin) == (1, -1)

    shrinking.arrive(0, Request(0, initial_seats=3))

    # A look at all queues ends where it began, and counts that place from the other side.
    assert shrinking.robin == 0
    assert shrinking.waiting == 1


def test_a_full_level_starts_no_more_though_nothing_limits_it() -> None:
    turning = level(1, 2)
    for _ in range(5):
        turning.arrive(0, Request())

    started = turning.reconfigure(0, None, 3, exempt=True)

    assert len(started) == 1
    assert (turning.waiting, turning.seats_in_use) == (2, 3)
    extra = Request()
    assert turning.arrive(0, extra) == (extra,)


def test_before_1_28_5_waits_end_only_when_another_request_comes_to_the_queue() -> None:
    lazy: QueueSet[Request] = QueueSet(Queuing(2, 1, 2), 1, lazy_limit_ns=10 * MS)
    running, *waiting = (Request(0) for _ in range(3))
    lazy.arrive(0, running)
    for one in waiting:
        lazy.arrive(MS, one)
    lazy.arrive(30 * MS, Request(1))
    assert (lazy.waiting, lazy.overdue) == (3, [])

    on_time = level(2, 1, length=2)
    for at in (0, MS, MS):
        on_time.arrive(at, Request(0))
    refused, admitted = Request(0), Request(0)
    on_time.arrive(11 * MS, refused)
    lazy.arrive(30 * MS, admitted)

    assert refused.refusal == "queue-full"
    assert (lazy.overdue, admitted.state) == (waiting, "waiting")
    assert [one.state for one in waiting] == ["gone", "gone"]
    assert lazy.seats_waiting == lazy.waiting == 2
    lazy.reconfigure(30 * MS, None, 9, exempt=True)
    lazy.arrive(99 * MS, Request())
    assert lazy.overdue == ()


def test_a_wait_just_as_long_as_the_limit_goes_on() -> None:
    lazy: QueueSet[Request] = QueueSet(Queuing(1, 1, 9), 0, lazy_limit_ns=10 * MS)
    lazy.arrive(MS, Request())

    lazy.arrive(11 * MS, Request())
    assert (lazy.waiting, lazy.overdue) == (2, [])
    lazy.arrive(11 * MS + 1, Request())
    assert lazy.waiting == 2
