"""A replay shows what was seen: the same moment at the same place of the tape, whichever way one comes there."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apftop import recording, watching
from apftop.access import Access, server_name
from apftop.course import beginning
from apftop.demo.running import start_demo
from apftop.deriving import Deriving
from apftop.records.asking import Demand
from apftop.records.moment import Moment
from apftop.reel import Place, Reel
from apftop.tape.reading import open_tape
from apftop.tape.segments import Segments
from tests.replay.faults import faulty
from tests.replay.living import live
from tests.replay.seeing import Lived, Shown, all_through, at_place, differences, places, seeing
from tests.tape.taping import samples

WATCHED_S = 9.0
EXAMPLES = 40 if settings.get_current_profile_name() == "thorough" else 6


def held(path: Path, lived: list[Lived]) -> Reel:
    """All moments as they were seen: gone through from the beginning, and a few of them jumped to."""
    reel = Reel(open_tape(path))
    behind = places(reel)
    at = [behind[one.records - 1] for one in lived]
    for one, place, replayed in zip(lived, at, all_through(reel, at), strict=True):
        assert differences(one.moment, replayed) == [], place
    for number in (len(lived) - 1, len(lived) // 2, 1, 2 * len(lived) // 3):
        assert differences(lived[number].moment, at_place(reel, at[number])) == [], at[number]
    return reel


def test_a_recorded_control_plane_is_shown_as_it_was_seen(tmp_path: Path) -> None:
    reel = held(tmp_path / "tape", live(tmp_path / "tape", samples()))

    assert len(reel.tape.segments) == 3


@pytest.mark.parametrize("kind", ["gap", "denied", "odd", "cut", "clock", "added", "left", "balancer", "again"])
def test_what_goes_wrong_is_shown_as_it_was_seen(kind: str, tmp_path: Path) -> None:
    held(tmp_path / "tape", live(tmp_path / "tape", faulty(kind), every=7))


def test_the_tape_of_two_recorders_is_shown_as_each_of_them_saw_it(tmp_path: Path) -> None:
    some = samples()
    half = len(some) // 2
    first = live(tmp_path / "tape", some[:half])
    before = len(places(Reel(open_tape(tmp_path / "tape"))))
    second = live(tmp_path / "tape", some[half:])

    held(tmp_path / "tape", [*first, *(Lived(before + one.records, one.moment) for one in second)])


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Reel, list[Lived]]:
    """The demo's rush, watched and recorded in short segments."""
    path = tmp_path_factory.mktemp("demo") / "tape"
    running = start_demo("rush", seed=5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(watching, "MEMORY_EVERY_S", 3.0)
        patch.setattr(recording, "Segments", lambda source, tool: Segments(source, tool, 3.5))
        ways = [Access(server_name(url), url) for url in running.urls]
        with seeing(ways, path, Demand(1.0)) as seen:
            time.sleep(WATCHED_S)
    running.stop()
    return Reel(open_tape(path)), seen.lived


def test_a_watched_plane_is_shown_as_it_was_seen_live(demo: tuple[Reel, list[Lived]]) -> None:
    reel, lived = demo
    behind = places(reel)
    shown = [(one, behind[one.records - 1]) for one in lived if one.records]
    for (one, place), replayed in zip(shown, all_through(reel, [place for _, place in shown]), strict=True):
        assert differences(one.moment, replayed) == [], place

    assert len(reel.tape.segments) > 2
    assert len(shown) > WATCHED_S


def test_all_marks_and_pulses_of_a_tape_are_shown_with_each_moment_but_the_first(
    demo: tuple[Reel, list[Lived]],
) -> None:
    reel, lived = demo
    shown = Shown(reel.tape)
    try:
        shown.replaying.go(reel.first)
        shown.whole()
        shown.replaying.go(reel.last)
        found = shown.whole(lambda one: one.at == reel.last)
    finally:
        shown.replaying.stop()
    times = [one.at for one in found.notes.marks]

    assert times == sorted(times)
    assert {one.kind for one in found.notes.marks} <= {"recording", "found", "gone"}
    assert {one.code for one in found.notes.marks if one.kind == "found"} >= {
        one.code for one in lived[-1].moment.findings.found
    }
    assert max(one.waiting or 0.0 for one in found.notes.pulses) > 0


@pytest.fixture(scope="module")
def through(demo: tuple[Reel, list[Lived]]) -> Callable[[Place], Moment]:
    """The moment at a place, gone through from the beginning."""
    reel, _ = demo
    course = beginning(reel, 0, Deriving("a test", None, print))
    courses = {}
    while course.forth():
        courses[course.place] = course.copied()

    @cache
    def moment(place: Place) -> Moment:
        return courses[place].deriving.show({}, ())

    return moment


Orders = st.lists(
    st.one_of(
        st.tuples(st.just("go"), st.floats(0.0, 1.0)),
        st.tuples(st.just("step"), st.integers(-4, 4)),
        st.tuples(st.just("play"), st.sampled_from([1.0, 20.0])),
    ),
    min_size=1,
    max_size=6,
)


@given(Orders)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=EXAMPLES)
def test_whatever_way_one_comes_to_a_place_it_is_the_same(
    demo: tuple[Reel, list[Lived]], through: Callable[[Place], Moment], orders: list[tuple[str, float]]
) -> None:
    reel, _ = demo
    shown = Shown(reel.tape)
    try:
        shown.whole()
        for what, value in orders:
            match what:
                case "go":
                    shown.replaying.go(reel.first + value * (reel.last - reel.first))
                case "step":
                    shown.replaying.step(int(value))
                case _:
                    shown.replaying.play(value)
                    shown.whole(lambda one: one.speed > 0 or one.at == reel.last)
                    shown.replaying.play(0.0)
            found = shown.whole(lambda one: one.speed == 0)
            assert found.replayed is not None
            assert differences(found, through(reel.place(found.replayed.at))) == []
    finally:
        shown.replaying.stop()
