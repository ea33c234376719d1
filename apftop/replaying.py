"""Replay: a thread in which the samples of a tape become moments again, at any speed, forth and back."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from apftop.check.runs import Result
from apftop.course import Course, Passed, course_to
from apftop.deriving import Deriving
from apftop.glimpse import glimpsed
from apftop.news import with_line
from apftop.records.asking import Demand
from apftop.records.moment import Moment, Replayed
from apftop.records.tape import Note
from apftop.reel import Place, Reel
from apftop.simulating import Simulating
from apftop.tape.reading import Tape
from apftop.tape.ring import KEPT_S

log = logging.getLogger("apftop")

SHOWN_EVERY_S = 0.2
NEAR_S = 1.0
"""What came within so long a time of the tape is taken in at once; what lies farther off is glimpsed first."""

LONGEST_S = 0.3
"""For so long nobody is heard while the tape goes by: where it goes by faster than that allows, it goes slower."""


@dataclass(frozen=True, slots=True)
class Go:
    """To a time (Unix seconds, the recorder's clock)."""

    at: float


@dataclass(frozen=True, slots=True)
class Step:
    """So many looks on, or back: what came together counts as one."""

    looks: int


@dataclass(frozen=True, slots=True)
class Play:
    """So many seconds of the tape in one; 0 to stand still."""

    speed: float


Order = Go | Step | Play
Item = Order | Result | str | None


class Replaying:
    """Shows a tape until stopped: each moment goes to `on_moment`, in a thread of this object. No method waits.

    It begins at `at`, or at the beginning, and stands still until it is played. `source` says whose servers these are,
    where the tape does not.
    """

    def __init__(
        self,
        tape: Tape,
        *,
        on_moment: Callable[[Moment], None],
        at: float | None = None,
        speed: float = 0.0,
        source: str = "",
        request_timeout_s: float | None = None,
    ) -> None:
        self._tape, self._reel, self._on_moment = tape, Reel(tape), on_moment
        self._inbox: queue.SimpleQueue[Item] = queue.SimpleQueue()
        self._ordered = self._done = 0
        self._simulating = Simulating(self._inbox.put, self._inbox.put)
        self._news: tuple[str, ...] = ()
        self._notes: Note | None = None
        self._number = 0
        self._speed = speed
        self._blank = Deriving(source or tape.about.source, request_timeout_s, self._tell)
        self._at = self._reel.first if at is None else at
        self._place = Place(0, 0)
        self._known: Course | None = None
        self._passed = Passed()
        self._stopped = False
        self._left_for: Go | None = None
        self.go(self._at)

    @property
    def span(self) -> tuple[float, float]:
        """The first and the last moment of the tape (Unix seconds)."""
        return self._reel.first, self._reel.last

    def start(self) -> None:
        """Begin to show."""
        threading.Thread(target=self._run, name="apftop-replay", daemon=True).start()

    def want(self, demand: Demand) -> None:
        """What was not asked then is not on the tape."""

    def recorded(self) -> bytes:
        """The minutes before where it stands, as a tape of their own."""
        return self._tape.cut(self._at - KEPT_S, self._at)

    def rewound(self, on_moment: Callable[[Moment], None]) -> Replaying:
        """This one."""
        return self

    def history(self, on_moment: Callable[[Moment], None]) -> None:
        """None: a tape has no other one behind it."""

    def go(self, at: float) -> None:
        """Show the tape as of a time (Unix seconds, the recorder's clock)."""
        order = Go(at)
        self._left_for = order
        self._order(order)

    def step(self, looks: int) -> None:
        """Show it so many looks later, or earlier."""
        self._order(Step(looks))

    def play(self, speed: float) -> None:
        """Let so many seconds of the tape go by in one; 0 to stand still."""
        self._order(Play(speed))

    def stop(self) -> None:
        """End; no moment is begun to be shown after this."""
        self._stopped = True
        self._simulating.stop()
        self._inbox.put(None)

    def _order(self, order: Order) -> None:
        self._ordered += 1
        self._inbox.put(order)

    def _run(self) -> None:
        began_at, began = self._at, time.monotonic()
        while not self._stopped:
            item = self._come()
            try:
                if isinstance(item, (Result, str)):
                    self._hear(item)
                    continue
                if isinstance(item, Order):
                    self._done += 1
                    self._do(item)
                elif not self._speed or self._advance(began_at + (time.monotonic() - began) * self._speed):
                    continue
            except Exception as error:
                log.exception("cannot show what is on the tape")
                self._speed = 0.0
                self._tell(f"cannot show what is on the tape: {type(error).__name__}: see --debug")
            began_at, began = self._at, time.monotonic()

    def _come(self) -> Item:
        """The next thing to do; None when it is time to go on."""
        with contextlib.suppress(queue.Empty):
            return self._inbox.get(timeout=SHOWN_EVERY_S if self._speed else None)
        return None

    def _hear(self, item: Result | str) -> None:
        if isinstance(item, str):
            self._tell(item)
        elif self._known is not None:
            self._known.deriving.simulated(item)
            self._show()

    def _do(self, order: Order) -> None:
        match order:
            case Go():
                if order is self._left_for:
                    first, last = self.span
                    self._at = min(max(order.at, first), last)
                    self._to(self._reel.place(self._at))
            case Step():
                self._speed = 0.0
                self._step(order.looks)
            case Play():
                self._speed = order.speed
                if self._known is None:
                    self._to(self._place)
                else:
                    self._show()

    @property
    def _left(self) -> bool:
        """Whether something else is wanted by now."""
        return self._stopped or self._ordered > self._done

    # On the tape.

    def _to(self, place: Place) -> None:
        """Show a place: what is near at once, else first what servers said last, then with what was known before."""
        nearest = self._passed.nearest(place)
        self._place, self._known = place, None
        if nearest is None or not self._near(nearest.place, place):
            self._glimpse(place)
        if self._left:
            return
        self._known = course_to(
            self._reel, place, self._blank, nearest, left=lambda: self._left, passed=self._passed.keep
        )
        if self._known is not None:
            self._passed.keep(self._known)
            self._show()
            self._simulate()

    def _near(self, place: Place, other: Place) -> bool:
        """Whether what came between two places is soon taken in."""
        return 0 <= self._reel.at(other) - self._reel.at(place) <= NEAR_S

    def _step(self, looks: int) -> None:
        """Forth or back by looks, as far as there are any."""
        place = self._reel.later(self._place, looks) if looks >= 0 else self._reel.earlier(self._place, -looks)
        self._at = self._reel.at(place)
        self._to(place)

    def _advance(self, at: float) -> bool:
        """Take in what came by then, and show it; False where that is more than there is time for."""
        if self._known is None:
            self._to(self._place)
            return False
        ends = time.monotonic() + LONGEST_S
        inside = True
        while (found := self._reel.following(self._place)) is not None and found[1].at <= at:
            if time.monotonic() > ends:
                inside = False
                break
            self._known.forth()
            self._passed.keep(self._known)
            self._place = self._known.place
        if found is None:
            self._speed, self._at = 0.0, self._reel.last
        else:
            self._at = max(self._at, at) if inside else self._reel.at(self._place)
        self._show()
        self._simulate()
        return inside

    # What is known.

    def _glimpse(self, place: Place) -> None:
        deriving = glimpsed(self._reel, place, self._blank)
        self._hand_on(deriving.glimpse(self._told), whole=False)

    def _show(self) -> None:
        if self._known is not None:
            self._hand_on(self._known.deriving.show({}, self._told), whole=True)

    def _simulate(self) -> None:
        if self._known is not None and not self._left:
            self._simulating.want(self._known.deriving.jobs)

    @property
    def _told(self) -> tuple[str, ...]:
        return (*self._tape.problems, *self._news)

    def _hand_on(self, shown: Moment, *, whole: bool) -> None:
        if self._stopped:
            return
        self._number += 1
        replayed = Replayed(self._at, *self.span, self._speed, whole)
        try:
            self._on_moment(replace(shown, number=self._number, replayed=replayed, notes=self._notes or Note()))
        except Exception:
            log.exception("a moment could not be handed on")
        if self._notes is None:
            told = self._tape.notes()
            # That a finding has gone is known only a while after it was seen last.
            self._notes = Note(tuple(sorted(told.marks, key=lambda one: one.at)), told.pulses)

    def _tell(self, line: str) -> None:
        self._news = with_line(self._news, line)
