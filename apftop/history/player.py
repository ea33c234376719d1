"""What a store has kept, gone through as a tape is: a piece of it at a time is read and replayed."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import replace

from apftop.deriving import Deriving
from apftop.errors import Trouble
from apftop.history.opened import Opened, Scraped
from apftop.history.taped import taped
from apftop.news import with_line
from apftop.prometheus.targets import NoScrape
from apftop.records.asking import Demand
from apftop.records.moment import Moment, Replayed
from apftop.records.tape import Note
from apftop.replaying import Go, Order, Play, Replaying, Step

log = logging.getLogger("apftop")

BEFORE_S, AFTER_S = 120.0, 60.0
"""So much around a time is read at once (seconds): a few scrapes, of which each may have ten thousand samples."""

APART_S = 5.0
"""Scrapes that are nearer to one another than this are not all read (seconds)."""


class History:
    """Shows what a store has kept from `span[0]` to `span[1]` (Unix seconds), until stopped. No method waits.

    `opened` is for the thread of this object alone. Each moment goes to `on_moment`, in threads of this object. What
    is shown stays while more is read, and a line of news says so.
    """

    def __init__(
        self,
        opened: Opened,
        *,
        on_moment: Callable[[Moment], None],
        span: tuple[float, float],
        at: float | None = None,
        speed: float = 0.0,
        request_timeout_s: float | None = None,
    ) -> None:
        self._opened, self._on_moment, self._span = opened, on_moment, span
        self._request_timeout_s = request_timeout_s
        self._inbox: queue.SimpleQueue[Order | None] = queue.SimpleQueue()
        self._ordered = self._done = 0
        self._speed = speed
        self._at = span[1] if at is None else at
        self._player: Replaying | None = None
        self._piece = (0.0, 0.0)
        self._ends = (0.0, 0.0)
        self._notes: Note | None = None
        self._told: tuple[str, ...] = ()
        self._loading = ""
        self._lock = threading.Lock()
        self._number = 0
        self._shown = Deriving(opened.source, request_timeout_s, self._tell).show({}, ())
        self._stopped = False
        self.go(self._at)

    def start(self) -> None:
        """Begin to show."""
        threading.Thread(target=self._run, name="apftop-history", daemon=True).start()

    def want(self, demand: Demand) -> None:
        """What was not scraped then is not there."""

    def recorded(self) -> bytes:
        """What was read around the time that is shown, as a tape; empty where nothing was yet."""
        return b"" if self._player is None else self._player.recorded()

    def rewound(self, on_moment: Callable[[Moment], None]) -> History:
        """This one."""
        return self

    def history(self, on_moment: Callable[[Moment], None]) -> None:
        """None: this is all of it."""

    def go(self, at: float) -> None:
        """Show it as of a time (Unix seconds, the clock of who scraped)."""
        self._order(Go(at))

    def step(self, looks: int) -> None:
        """Show it so many scrapes later, or earlier."""
        self._order(Step(looks))

    def play(self, speed: float) -> None:
        """Let so many seconds of it go by in one; 0 to stand still."""
        self._order(Play(speed))

    def stop(self) -> None:
        """End; no moment is begun to be shown after this."""
        self._stopped = True
        if self._player is not None:
            self._player.stop()
        self._inbox.put(None)

    def _order(self, order: Order) -> None:
        self._ordered += 1
        self._inbox.put(order)

    @property
    def _left(self) -> bool:
        """Whether something else is wanted by now."""
        return self._stopped or self._ordered > self._done

    def _run(self) -> None:
        while (order := self._inbox.get()) is not None and not self._stopped:
            self._done += 1
            try:
                self._do(order)
                if self._notes is None and not self._left:
                    self._look_over()
            except Trouble as trouble:
                self._tell(str(trouble))
            except Exception as error:
                log.exception("history failed")
                self._tell(f"history failed: {type(error).__name__}: {error}")
            finally:
                self._say("")
        self._opened.close()

    def _do(self, order: Order) -> None:
        match order:
            case Go():
                if not self._left:
                    self._go(min(max(order.at, self._span[0]), self._span[1]))
            case Play():
                self._speed = order.speed
                if order.speed and self._at >= self._ends[1]:
                    self._follow()
                elif self._player is not None:
                    self._player.play(order.speed)
            case Step():
                self._speed = 0.0
                if order.looks > 0 and self._at >= self._ends[1]:
                    self._read(self._at, self._at, self._at + BEFORE_S)
                elif order.looks < 0 and self._at <= self._ends[0]:
                    self._read(self._at, self._at - BEFORE_S, self._at)
                if self._player is not None:
                    self._player.step(order.looks)

    def _go(self, at: float) -> None:
        if self._player is not None and self._piece[0] <= at <= self._piece[1]:
            self._player.go(at)
            return
        self._say(f"reading {self._opened.source} ...")
        self._replay(self._opened.at(at, APART_S), at, (at, at))
        if not self._left:
            self._read(at, at - BEFORE_S, at + AFTER_S)

    def _follow(self) -> None:
        """Go on behind what was read; where there was no scrape, behind that time."""
        while not self._left and self._piece[1] < self._span[1]:
            begin = self._piece[1]
            try:
                self._read(begin, begin, begin + BEFORE_S)
            except NoScrape:
                pass
            else:
                if self._ends[1] > begin:
                    return
            self._piece = begin, begin + BEFORE_S
        if not self._left:
            self._speed = 0.0
            self._show()

    def _read(self, at: float, first: float, last: float) -> None:
        """Show a time out of what was scraped around it."""
        first, last = max(first, self._span[0]), min(last, self._span[1])
        self._say(f"reading {self._opened.source} ...")
        self._replay(self._opened.between(first, last, APART_S), at, (first, last))

    def _replay(self, scraped: Scraped, at: float, piece: tuple[float, float]) -> None:
        if not scraped.read.samples:
            self._tell("there is no scrape of that time")
            return
        tape = taped(scraped.read.samples, self._opened.source)
        player = Replaying(
            tape,
            on_moment=lambda moment: self._hand_on(player, moment),
            at=at,
            speed=self._speed,
            request_timeout_s=self._request_timeout_s,
        )
        with self._lock:
            before, self._player = self._player, player
            self._piece, self._ends, self._told = piece, tape.span, scraped.notes
        if before is not None:
            before.stop()
        player.start()

    def _look_over(self) -> None:
        """Marks and pulses of all of it, once something is shown."""
        self._notes = Note()
        self._say("reading the time line ...")
        self._notes = self._opened.overview(*self._span)

    def _hand_on(self, player: Replaying, moment: Moment) -> None:
        """What the player of a piece shows, as a part of the whole."""
        with self._lock:
            if player is not self._player or moment.replayed is None:
                return
            self._shown, self._at = moment, moment.replayed.at
            ended = self._speed and not moment.replayed.speed and self._at >= self._ends[1]
        self._show()
        if ended:
            self._order(Play(self._speed))

    def _say(self, what: str) -> None:
        """Show that something is being done, or no more."""
        if what != self._loading:
            self._loading = what
            self._show()

    def _tell(self, line: str) -> None:
        self._told = with_line(self._told, line)

    def _show(self) -> None:
        with self._lock:
            if self._stopped:
                return
            self._number += 1
            whole = self._shown.replayed is not None and self._shown.replayed.whole and not self._loading
            replayed = Replayed(self._at, *self._span, self._speed, whole)
            news = (*self._told, *self._shown.news, *((self._loading,) if self._loading else ()))
            shown = replace(self._shown, number=self._number, news=news, replayed=replayed, notes=self._notes or Note())
            try:
                self._on_moment(shown)
            except Exception:
                log.exception("a moment could not be handed on")
