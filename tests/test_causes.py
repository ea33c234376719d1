"""Findings from moment to moment: since when each has been there, and what is remembered for that."""

from __future__ import annotations

from dataclasses import replace

from apftop.causes import FRAMES_KEPT, KEPT_S, Causes, Lasting, causes, lasting, remembered
from apftop.records.findings import Finding
from apftop.records.frame import Frame
from tests.findings.cluster import Did, Of, a_cluster, busier, quiet

FULL = Finding("level-saturated", "critical", "workload-low", "it is full")
STORM = Finding("retry-storm", "warning", "workload-low", "they try again")
SCENE = a_cluster(*quiet())


def test_a_finding_is_there_since_it_was_first_seen() -> None:
    first = lasting({}, (FULL,), 100.0)
    second = lasting(first, (FULL, STORM), 105.0)

    assert second == {FULL.key: Lasting(100.0, 105.0), STORM.key: Lasting(105.0, 105.0)}


def test_one_that_is_missing_for_some_moments_has_not_begun_anew() -> None:
    known = lasting({}, (FULL,), 100.0)
    for now in (102.0, 104.0, 106.0, 108.0):
        known = lasting(known, (), now)

    assert lasting(known, (FULL,), 110.0)[FULL.key].since == 100.0


def test_one_that_was_gone_for_longer_has() -> None:
    gone = lasting(lasting(lasting({}, (FULL,), 100.0), (), 105.0), (), 110.0)

    assert lasting(gone, (FULL,), 115.0)[FULL.key].since == 115.0


def at(frame: Frame, t1: float) -> Frame:
    """The frame with its windows ending then."""
    moved = {
        name: replace(one, window=replace(one.window, t1=t1)) if one.window else one
        for name, one in frame.replicas.items()
    }
    return replace(frame, replicas=moved)


def test_a_frame_is_remembered_once_for_each_window_of_metrics() -> None:
    past: tuple[Frame, ...] = ()
    for t1 in (10.0, 10.0, 15.0, 15.0):
        past = remembered(past, at(SCENE.frame, t1))

    assert len(past) == 2
    assert all(one.requests is None for frame in past for one in frame.replicas.values())


def test_a_quarter_of_an_hour_is_remembered_and_no_more() -> None:
    past: tuple[Frame, ...] = ()
    for number in range(300):
        past = remembered(past, at(SCENE.frame, 5.0 * number))

    assert len(past) == KEPT_S / 5 + 1


def test_no_more_frames_are_remembered_than_are_needed() -> None:
    scene = a_cluster(*quiet("kas-a"))
    past: tuple[Frame, ...] = ()
    for number in range(FRAMES_KEPT + 5):
        past = remembered(past, at(scene.frame, float(number)))

    assert len(past) == FRAMES_KEPT


def test_where_metrics_are_seldom_read_as_many_windows_are_remembered() -> None:
    past: tuple[Frame, ...] = ()
    for number in range(FRAMES_KEPT + 5):
        past = remembered(past, at(SCENE.frame, 60.0 * number))

    assert len(past) == FRAMES_KEPT


def test_servers_that_answer_one_after_the_other_are_remembered_for_as_long() -> None:
    frame, past = SCENE.frame, tuple[Frame, ...]()
    for number in range(540):
        name = ("kas-a", "kas-b", "kas-c")[number % 3]
        later = at(frame, 5.0 * number / 3).replicas[name]
        frame = replace(frame, replicas={**frame.replicas, name: later})
        past = remembered(past, frame)

    assert len(past) == 540
    assert len({id(one.replicas["kas-a"]) for one in past}) == 180


def test_what_is_found_has_since_when_it_has_been_there() -> None:
    first, *others = quiet()
    hurt = busier(first, "workload-low", Of((Did("service-accounts", 3000, queue_full=1500, waiting=200),), full=0.99))
    scene = a_cluster(hurt, *others)
    found = causes(Causes(), scene.frame, scene.checks, 100.0)
    found = causes(found, scene.frame, scene.checks, 105.0)

    assert found.found.found
    assert set(found.since.values()) == {100.0}
