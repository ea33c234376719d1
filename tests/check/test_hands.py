"""Queues that requests lie in against the hands of their flows."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from apftop.apf.objects import EXEMPT, FieldManager, Meta, Queuing
from apftop.apf.shards import hand as hand_of
from apftop.check.hands import hand, whole_hand
from apftop.check.window import LevelWindow, level_window
from apftop.records.parsed import Details, QueueRow, RequestRow
from tests.check.build import LEVEL, a_config, a_level, a_point, a_row, a_window, held, later
from tests.check.recorded import windows
from tests.recording import recordings

QUEUES, HAND = 16, 4
FLOWS = [f"user{number}" for number in range(9)]


def cards(flow: str, size: int = HAND) -> tuple[int, ...]:
    return hand_of(LEVEL, flow, QUEUES, size)


def rows(places: Iterable[int], *, size: int = HAND, first: float = 21.0) -> list[RequestRow]:
    """One request after the other of several flows, each in such a card of its hand."""
    return [
        a_row(first + number / 1000, queue=cards(flow, size)[place], flow=flow)
        for number, place in enumerate(places)
        for flow in [FLOWS[number % len(FLOWS)]]
    ]


def window(*dumps: list[RequestRow], **more: Any) -> LevelWindow:
    return a_window(
        *(a_point(later(a_level(), 20.0 + 5.0 * number), dump, **more) for number, dump in enumerate(dumps))
    )


def test_requests_in_their_hands_are_counted_once_over_all_dumps() -> None:
    same = rows(range(HAND))
    check = held(hand, window([], same, same))

    assert (check.verdict, check.observed, check.about) == ("ok", 0, "4 requests of 4 flows")


def test_one_request_outside_of_its_hand_is_off() -> None:
    flow = FLOWS[0]
    stray = next(queue for queue in range(QUEUES) if queue not in cards(flow))
    check = held(hand, window([], [*rows(range(HAND)), a_row(22.0, queue=stray, flow=flow)]))

    assert check.verdict == "off" and check.observed == 1
    assert check.about == f"load/{flow} in queue {stray}, its hand is {' '.join(map(str, cards(flow)))}"
    assert "1 of 5 requests" in check.reason


@pytest.mark.parametrize("told", [2, 3])
def test_a_smaller_hand_than_the_servers_is_off(told: int) -> None:
    level = window([], rows([0, 1, 2, 3] * 3), config=a_config(hand=told))

    assert held(hand, level).verdict == "off"


@pytest.mark.parametrize(("told", "needed"), [(5, 52), (6, 29)])
def test_a_larger_hand_than_the_servers_shows_in_cards_that_never_come(told: int, needed: int) -> None:
    places = [number % HAND for number in range(needed)]
    off = held(whole_hand, window([], rows(places), config=a_config(hand=told)))
    few = held(whole_hand, window([], rows(places[1:]), config=a_config(hand=told)))

    assert held(hand, window([], rows(places), config=a_config(hand=told))).verdict == "ok"
    assert (off.verdict, off.observed, off.expected) == ("off", 4, (told, told))
    assert f"the last {told - HAND} of its {told} cards" in off.reason
    assert few.verdict == "unknown" and f"{needed} would tell" in few.missing


def test_one_request_in_a_last_card_is_enough() -> None:
    assert held(whole_hand, window([], rows([0] * 100 + [3]))).verdict == "ok"


def test_a_light_flow_that_keeps_out_of_a_heavy_ones_queues_raises_no_alarm() -> None:
    """It finds its first cards empty each time; the heavy flow fills all of its own."""
    light = [a_row(21.0 + number / 100, queue=cards("light")[0], flow="light") for number in range(200)]
    heavy = [
        a_row(21.0 + number / 100, queue=cards("heavy")[number % HAND], index=number // HAND, flow="heavy")
        for number in range(24)
    ]

    assert held(whole_hand, window([], [*light, *heavy])).verdict == "ok"


def test_requests_dealt_as_a_server_does_raise_no_alarm() -> None:
    """Idle queues: the first card that is tried moves on with each request of any flow."""
    chance = random.Random(7)
    for _ in range(200):
        seen = [number % HAND for number in range(300) if chance.random() < 0.3]
        assert held(whole_hand, window([], rows(seen))).verdict == "ok"


def test_requests_from_before_the_object_was_written_are_left_out() -> None:
    written = replace(
        a_config(), meta=Meta(LEVEL, managers=(FieldManager("kubectl", "Update", "2023-11-14T22:13:36Z", ""),))
    )
    before = [a_row(20.9, queue=1, flow=FLOWS[0], index=0)]
    assert 1 not in cards(FLOWS[0])

    assert "came after" in held(hand, window([], before, config=written)).missing
    assert held(hand, window([], [*before, *rows([0], first=21.1)], config=written)).verdict == "ok"


def test_a_status_that_is_written_changes_no_hand() -> None:
    status = FieldManager("kube-apiserver", "Apply", "2023-11-14T22:13:44Z", "status")
    config = replace(a_config(), meta=Meta(LEVEL, creation="2023-11-14T22:00:00Z", managers=(status,)))

    assert held(hand, window([], rows([0]), config=config)).verdict == "ok"


def test_a_hand_that_changed_in_the_window_is_unknown() -> None:
    before = a_point(later(a_level(), 20.0), config=a_config(hand=6))
    level = a_window(before, a_point(later(a_level(), 30.0), rows([0])))

    assert "changed" in held(hand, level).missing and "changed" in held(whole_hand, level).missing


def test_queues_that_still_drain_leave_it_unknown() -> None:
    level = window([], rows([0]), queue_rows=[queue(number) for number in range(QUEUES + 3)])

    assert "draining" in held(hand, level).missing


def test_fewer_queues_than_the_object_asks_for_are_off() -> None:
    level = window([], rows([0]), queue_rows=[queue(number) for number in range(8)])
    check = held(hand, level)

    assert (check.verdict, check.observed, check.expected, check.unit) == ("off", 8, (16, 16), "queues")
    assert held(whole_hand, level).verdict == "unknown"


def test_what_is_missing_is_said() -> None:
    for law in (hand, whole_hand):
        assert "object" in held(law, window([], rows([0]), configs=None)).missing
        assert held(law, a_window(a_point(later(a_level(), 20.0), None))).missing == "a dump of requests"
        assert "request" in held(law, window([], [])).missing


def test_levels_that_deal_no_hands_have_no_such_law() -> None:
    for config in (a_config(queues=None), a_config(queues=1, hand=1)):
        level = window([], [a_row(21.0, queue=0, flow="")], config=config)
        assert hand(level) is None and whole_hand(level) is None
    exempt = a_window(a_point(later(a_level(), 20.0), name=EXEMPT), name=EXEMPT)
    assert hand(exempt) is None and whole_hand(exempt) is None


def test_a_row_whose_flow_cannot_be_read_is_left_out() -> None:
    """A tab in a user's name takes the columns of a dump apart."""
    broken = replace(
        a_row(22.0, queue=1, flow="some"),
        details=Details("some\tbody", "create", "/api", "", "", "v1", "configmaps", ""),
    )

    assert held(hand, window([], [*rows([0]), broken])).about == "1 requests of 1 flows"


def queue(index: int) -> QueueRow:
    return QueueRow(LEVEL, index, 0, 0, 0, 0, 0, 0, 0)


LOADED = [recording for recording in recordings() if recording.level == LEVEL]


@pytest.mark.parametrize("recording", LOADED, ids=lambda one: one.name)
def test_real_servers_deal_as_they_should(recording: Any) -> None:
    found = [level for track, points in windows(recording) if (level := level_window(LEVEL, points, track.born))]

    assert found
    for level in found:
        assert held(hand, level).verdict != "off" and held(whole_hand, level).verdict != "off"


@pytest.mark.parametrize("told", [2, 3])
@pytest.mark.parametrize("recording", LOADED, ids=lambda one: one.name)
def test_a_hand_told_too_small_is_off_in_every_window_with_requests(recording: Any, told: int) -> None:
    found = [
        held(hand, level)
        for track, points in windows(recording, hand=told)
        if (level := level_window(LEVEL, points, track.born))
        and sum(len(one.rows or ()) for one in level.instants) > 20
    ]

    assert found and all(check.verdict == "off" for check in found)


def test_a_hand_that_cannot_be_dealt_is_unknown() -> None:
    config = replace(a_config(), queuing=Queuing(4, 6, 10))

    assert "be dealt" in held(hand, window([], rows([0]), config=config)).missing
