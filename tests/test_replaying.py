"""A tape is shown as what was recorded was seen."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator

import pytest

from apftop.derive.frame import frame
from apftop.records.moment import Moment
from apftop.reel import Place, Reel
from apftop.replaying import Replaying
from apftop.tape.reading import Tape, open_tape
from tests.tape.taping import Seen, record, samples

PATIENCE_S = 30.0


class Shown:
    """A replay, and what it shows."""

    def __init__(self, tape: Tape) -> None:
        self._moments: queue.SimpleQueue[Moment] = queue.SimpleQueue()
        self.replaying = Replaying(tape, on_moment=self._moments.put)
        self.replaying.start()

    def at(self, time_s: float) -> Moment:
        """The whole moment at a time of the tape."""
        ends = time.monotonic() + PATIENCE_S
        while time.monotonic() < ends:
            found = self._moments.get(timeout=PATIENCE_S)
            if found.replayed is not None and found.replayed.whole and found.replayed.at == time_s:
                return found
        raise AssertionError(f"nothing is shown at {time_s}")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tape, list[Seen]]:
    path = tmp_path_factory.mktemp("replay") / "tape"
    seen = record(path, samples())
    return open_tape(path), seen


@pytest.fixture
def shown(recorded: tuple[Tape, list[Seen]]) -> Iterator[Shown]:
    made = Shown(recorded[0])
    yield made
    made.replaying.stop()


def looks(seen: list[Seen]) -> list[Seen]:
    """The last sample of each look: what came in one instant came together."""
    return [
        one for one, other in zip(seen, [*seen[1:], None], strict=True) if other is None or came(other) != came(one)
    ]


def came(one: Seen) -> float:
    assert one.sample.received is not None
    return one.sample.received


def test_any_moment_of_the_tape_is_shown_as_it_was_seen(shown: Shown, recorded: tuple[Tape, list[Seen]]) -> None:
    wanted = looks(recorded[1])
    for number in (len(wanted) - 1, 3, len(wanted) // 2, 0):
        shown.replaying.go(came(wanted[number]))

        assert shown.at(came(wanted[number])).frame == frame(wanted[number].state)


def test_steps_go_through_all_looks_forth_and_back(shown: Shown, recorded: tuple[Tape, list[Seen]]) -> None:
    wanted = looks(recorded[1])
    shown.replaying.go(came(wanted[0]))
    for one in wanted[1:12]:
        shown.replaying.step(1)
        assert shown.at(came(one)).frame == frame(one.state)
    for one in reversed(wanted[5:11]):
        shown.replaying.step(-1)
        assert shown.at(came(one)).frame == frame(one.state)


def test_a_tape_that_is_played_ends_with_its_last_moment(shown: Shown, recorded: tuple[Tape, list[Seen]]) -> None:
    tape, seen = recorded
    shown.replaying.go(tape.span[1] - 2.0)
    shown.replaying.play(60.0)

    assert shown.at(tape.span[1]).frame == frame(seen[-1].state)


def test_a_place_that_cannot_be_shown_is_told_and_all_others_are_shown(
    shown: Shown, recorded: tuple[Tape, list[Seen]], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, last = recorded[0].span
    place, asked = Reel.place, threading.Event()

    def broken(reel: Reel, at: float) -> Place:
        if at == last:
            asked.set()
            raise ValueError("damaged")
        return place(reel, at)

    shown.at(first)
    monkeypatch.setattr(Reel, "place", broken)
    shown.replaying.go(last)
    assert asked.wait(PATIENCE_S)
    shown.replaying.go(first + 1.0)

    assert "cannot show what is on the tape: ValueError: see --debug" in shown.at(first + 1.0).news
