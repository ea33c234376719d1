"""Replay: a thread in which the samples of a tape become moments again, at any speed, forth and back."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from apftop.check.runs import Result
from apftop.deriving import Deriving
from apftop.errors import one_line
from apftop.kept import KEPT_OF, bare
from apftop.played import WARM_EVERY_S, first_warm, take
from apftop.records.asking import Demand
from apftop.records.moment import Moment, Replayed
from apftop.records.raw import Endpoint, Sample
from apftop.simulating import Simulating
from apftop.tape.reading import Taken, Tape
from apftop.tape.ring import KEPT_S

log = logging.getLogger("apftop")

SHOWN_EVERY_S = 0.2
TOGETHER_S = 0.05
"""Samples that came so close to one another are one step: the answers of one look."""

NEWS_KEPT = 20


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


Item = Go | Step | Play | Result | str | None


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
        self._source = source or tape.about.source
        self._tape, self._on_moment, self._request_timeout_s = tape, on_moment, request_timeout_s
        self._inbox: queue.SimpleQueue[Item] = queue.SimpleQueue()
        self._simulating = Simulating(self._inbox.put, self._inbox.put)
        self._news: tuple[str, ...] = ()
        self._number = 0
        self._speed = speed
        self._segment, self._taken, self._next = -1, tuple[Taken, ...](), 0
        self._at = tape.span[0] if at is None else at
        self._deriving = self._anew()
        self._stopped = False
        self._left_for: Go | None = None
        self.go(self._at)

    @property
    def span(self) -> tuple[float, float]:
        """The first and the last moment of the tape (Unix seconds)."""
        return self._tape.span

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

    def go(self, at: float) -> None:
        """Show the tape as of a time (Unix seconds, the recorder's clock)."""
        order = Go(at)
        self._left_for = order
        self._inbox.put(order)

    def step(self, looks: int) -> None:
        """Show it so many looks later, or earlier."""
        self._inbox.put(Step(looks))

    def play(self, speed: float) -> None:
        """Let so many seconds of the tape go by in one; 0 to stand still."""
        self._inbox.put(Play(speed))

    def stop(self) -> None:
        """End; no moment is begun to be shown after this."""
        self._stopped = True
        self._simulating.stop()
        self._inbox.put(None)

    def _run(self) -> None:
        began_at, began = self._at, time.monotonic()
        while not self._stopped:
            item = self._come()
            if isinstance(item, (Result, str)):
                self._hear(item)
                continue
            if isinstance(item, (Go, Step, Play)):
                self._do(item)
                began_at, began = self._at, time.monotonic()
            elif self._speed and not self._stopped:
                self._advance(began_at + (time.monotonic() - began) * self._speed)

    def _come(self) -> Item:
        """The next thing to do; None when it is time to go on."""
        with contextlib.suppress(queue.Empty):
            return self._inbox.get(timeout=SHOWN_EVERY_S if self._speed else None)
        return None

    def _hear(self, item: Result | str) -> None:
        if isinstance(item, Result):
            self._deriving.simulated(item)
            self._show(whole=True)
        else:
            self._tell(item)

    def _do(self, item: Go | Step | Play) -> None:
        match item:
            case Go():
                if item is self._left_for:
                    self._left_for = None
                    self._jump(item.at)
            case Step():
                self._step(item.looks)
            case Play():
                self._speed = item.speed
                self._show(whole=True)

    # On the tape.

    def _load(self, segment: int) -> None:
        if segment != self._segment:
            self._segment, self._taken = segment, tuple(self._tape.taken(segment))

    def _jump(self, at: float) -> None:
        """To a time: first what servers said then, at once; then with what was known from before."""
        first, last = self._tape.span
        at = min(max(at, first), last)
        number = self._tape.segment_at(at)
        self._load(number)
        self._at, self._next = at, bisect_right(self._taken, at, key=lambda one: one.at)
        self._deriving = self._anew(number)
        self._take(_needed(self._taken[: self._next]))
        self._show(whole=False)
        self._warm(number)

    def _warm(self, number: int) -> None:
        """Go through what came before the present position, unless another one is wanted meanwhile."""
        start = first_warm(self._tape, number)
        warmed = self._anew(start)
        shown_at = 0.0
        for segment in range(start, number + 1):
            if segment != start and not self._tape.goes_on(segment):
                warmed = self._anew(segment)
            taken = self._taken[: self._next] if segment == number else self._tape.taken(segment)
            for one in taken:
                if self._stopped or self._left_for is not None:
                    return
                if one.at - shown_at >= WARM_EVERY_S and shown_at:
                    warmed.show({}, self._news)
                shown_at = one.at if one.at - shown_at >= WARM_EVERY_S else shown_at
                self._take_one(one, warmed)
        self._deriving = warmed
        self._show(whole=True)

    def _step(self, looks: int) -> None:
        """Forth one look after the other; back by way of a jump."""
        self._speed = 0.0
        if looks < 0:
            self._jump(self._earlier(-looks))
            return
        for _ in range(looks):
            if not self._forth():
                break
            while self._due(self._at + TOGETHER_S) and self._forth():
                pass
        self._show(whole=True)

    def _earlier(self, looks: int) -> float:
        """When the last answer of an earlier look came."""
        ends = _looks_until(self._taken, self._at)
        segment = self._segment
        while len(ends) <= looks and segment > 0:
            segment -= 1
            ends = [*_looks_until(tuple(self._tape.taken(segment)), self._at), *ends]
        return ends[-1 - looks] if len(ends) > looks else self._tape.span[0]

    def _forth(self) -> bool:
        """Take in the next sample; False at the end of the tape."""
        while True:
            while self._next >= len(self._taken):
                if self._segment + 1 >= len(self._tape.segments):
                    return False
                self._load(self._segment + 1)
                self._next = 0
                if not self._tape.goes_on(self._segment):
                    self._deriving = self._anew(self._segment)
            one = self._taken[self._next]
            self._next += 1
            self._at = one.at
            self._take([one])
            if isinstance(one.what, Sample):
                return True

    def _due(self, at: float) -> bool:
        """Whether the next sample came by then."""
        if self._next < len(self._taken):
            return self._taken[self._next].at <= at
        following = self._segment + 1
        return following < len(self._tape.segments) and self._tape.segments[following].began <= at

    def _advance(self, at: float) -> None:
        """Take in what came by then, and show it."""
        while self._due(at) and self._forth():
            pass
        self._at = min(at, self._tape.span[1])
        if self._at >= self._tape.span[1]:
            self._speed = 0.0
        self._show(whole=True)

    # What is known.

    def _anew(self, segment: int | None = None) -> Deriving:
        deriving = Deriving(self._source, self._request_timeout_s, self._tell)
        if segment is not None:
            deriving.resume(*self._tape.opening(segment))
        return deriving

    def _take(self, taken: Iterable[Taken]) -> None:
        for one in taken:
            self._take_one(one, self._deriving)

    def _take_one(self, one: Taken, deriving: Deriving) -> None:
        wanted = deriving.follow(one.what) if take(deriving, one) and isinstance(one.what, Sample) else None
        if wanted is not None and deriving is self._deriving:
            self._simulating.want(wanted)

    def _show(self, *, whole: bool) -> None:
        if self._stopped:
            return
        first, last = self._tape.span
        self._number += 1
        shown = self._deriving.show({}, (*self._tape.problems, *self._news))
        replayed = Replayed(self._at, first, last, self._speed, whole)
        try:
            self._on_moment(replace(shown, number=self._number, replayed=replayed))
        except Exception:
            log.exception("a moment could not be handed on")

    def _tell(self, line: str) -> None:
        line = one_line(line)
        self._news = (*(one for one in self._news if one != line), line)[-NEWS_KEPT:]


def _needed(taken: Sequence[Taken]) -> list[Taken]:
    """The same without the bodies of answers that later ones have overtaken: what they said is no longer known."""
    left = Counter(_kind(one.what) for one in taken if isinstance(one.what, Sample) and one.what.ok)
    found: list[Taken] = []
    for one in taken:
        if isinstance(one.what, Sample) and one.what.ok:
            kind = _kind(one.what)
            left[kind] -= 1
            if left[kind] >= KEPT_OF.get(one.what.endpoint, 1):
                found.append(replace(one, what=bare(one.what)))
                continue
        found.append(one)
    return found


def _looks_until(taken: Sequence[Taken], at: float) -> list[float]:
    """When looks ended that had begun by a time."""
    times = [one.at for one in taken if isinstance(one.what, Sample) and one.at <= at]
    return [one for one, other in pairwise((*times, float("inf"))) if other - one > TOGETHER_S]


def _kind(sample: Sample) -> tuple[str, Endpoint, bool]:
    return sample.replica, sample.endpoint, sample.named
