"""Going back in time: the player in hand, what it shows, and what its reader's keys make of it."""

from __future__ import annotations

from collections.abc import Callable

from apftop.present import span, utc
from apftop.records.moment import Moment
from apftop.records.source import Player, Source
from apftop.sheets.sheet import Cell

SPEEDS = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0)
MINUTE_S = 60.0
THERE_S = 0.5
"""What is shown is what was asked for if it is so near."""

SAME_S = 0.05
"""Marks that are so near to where one stands are of that place."""


class Playback:
    """What was, if that is looked at: live the last minutes, of a tape all of it.

    A source that is a player itself is its own: it has no now to go back to.
    """

    def __init__(self) -> None:
        self._player: Player | None = None
        self._speed = 1.0
        self._asked: float | None = None
        self.moment: Moment | None = None

    @property
    def span(self) -> tuple[float, float] | None:
        """The first and the last time that can be gone to (Unix seconds); None until something is shown."""
        replayed = self.moment.replayed if self.moment is not None else None
        return None if replayed is None else (replayed.first, replayed.last)

    def enter(self, source: Source, on_moment: Callable[[Moment], None]) -> Player | None:
        """The player, made and started if need be; None where there is nothing to go back to."""
        if self._player is None:
            self._player = source.rewound(on_moment)
            if self._player is not None and self._player is not source:
                self._player.start()
        return self._player

    def open(self, player: Player | None, source: Source) -> bool:
        """Go on with another player, at the time that is shown; whether there is one."""
        if player is None:
            return False
        shown = self.moment.replayed if self.moment is not None else None
        if self._player is not None and self._player is not source:
            self._player.stop()
        self._player = player
        player.start()
        if shown is not None:
            player.go(shown.at)
        return True

    def leave(self, source: Source) -> None:
        """Back to now, where there is one; else to the end."""
        if self._player is source and self.span is not None:
            self.go(self.span[1])
        elif self._player is not None:
            self._player.stop()
            self._player, self.moment, self._asked = None, None, None

    def stop(self) -> None:
        """End what was opened here."""
        if self._player is not None:
            self._player.stop()

    def take(self, moment: Moment) -> bool:
        """Whether what a player shows is to be shown: one that was left says nothing any more."""
        if self._player is None:
            return False
        self.moment = moment
        replayed = moment.replayed
        if self._asked is not None and replayed is not None and abs(replayed.at - self._asked) < THERE_S:
            self._asked = None
        return True

    def step(self, looks: int) -> None:
        """So many looks on or back."""
        if self._player is not None:
            self._asked = None
            self._player.step(looks)

    def minutes(self, minutes: int) -> None:
        """So many minutes on or back."""
        if (at := self._at) is not None:
            self.go(at + minutes * MINUTE_S)

    def to_mark(self, step: int) -> bool:
        """To the next thing that was noted, or the one before; whether there is one."""
        at = self._at
        times = () if self.moment is None else tuple(one.at for one in self.moment.notes.marks)
        if at is None:
            return False
        found = (
            min((one for one in times if one > at + SAME_S), default=None)
            if step > 0
            else max((one for one in times if one < at - SAME_S), default=None)
        )
        if found is not None:
            self.go(found)
        return found is not None

    def go(self, at: float) -> None:
        """To a time (Unix seconds)."""
        if self._player is not None:
            first, last = self.span or (at, at)
            self._asked = min(max(at, first), last)
            self._player.go(at)

    @property
    def _at(self) -> float | None:
        """Where the next step begins: keys may come faster than what they ask for."""
        if self._asked is not None:
            return self._asked
        return None if self.moment is None or self.moment.replayed is None else self.moment.replayed.at

    def toggle(self) -> None:
        """Play on, or stand still."""
        if self._player is not None and self.moment is not None and self.moment.replayed is not None:
            self._asked = None
            self._player.play(0.0 if self.moment.replayed.speed else self._speed)

    def speed(self, step: int) -> None:
        """The next faster or slower pace, and play at it."""
        at = SPEEDS.index(self._speed) + step
        self._speed = SPEEDS[min(max(at, 0), len(SPEEDS) - 1)]
        if self._player is not None:
            self._player.play(self._speed)

    def mark(self, newest: Moment | None) -> Cell | None:
        """Which time this is, and how it goes on; None for now."""
        replayed = self.moment.replayed if self.moment is not None else None
        if replayed is None:
            return None
        pace = f"x{replayed.speed:g}" if replayed.speed else "stands"
        if newest is None or newest.replayed is not None:
            length = replayed.last - replayed.first
            share = (replayed.at - replayed.first) / max(length, 1e-9)
            where = f"REPLAY {utc(replayed.at)} {pace}, {share:.0%} of {span(length)}"
        else:
            where = f"BACK {span(max(0.0, newest.now - replayed.at))}, {utc(replayed.at)} {pace}; L for now"
        return Cell(where if replayed.whole else f"{where}, loading", mark="warn")
