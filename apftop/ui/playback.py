"""Going back in time: the player in hand, what it shows, and what its reader's keys make of it."""

from __future__ import annotations

from collections.abc import Callable

from apftop.present import utc
from apftop.records.moment import Moment
from apftop.sheets.sheet import Cell
from apftop.ui.source import Player, Source

SPEEDS = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0)
MINUTE_S = 60.0


class Playback:
    """What was, if that is looked at: live the last minutes, of a tape all of it."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._player: Player | None = None
        self._speed = 1.0
        self.moment: Moment | None = None

    @property
    def of_tape(self) -> bool:
        """Whether there is no now to go back to."""
        return self._player is self._source

    def enter(self, on_moment: Callable[[Moment], None]) -> Player | None:
        """The player, made and started if need be; None where there is nothing to go back to."""
        if self._player is None:
            self._player = self._source.rewound(on_moment)
            if self._player is not None and not self.of_tape:
                self._player.start()
        return self._player

    def leave(self) -> None:
        """Back to now, where there is one."""
        if self._player is not None and not self.of_tape:
            self._player.stop()
            self._player, self.moment = None, None

    def take(self, moment: Moment) -> None:
        """What the player shows; one that was left says nothing any more."""
        if self._player is not None:
            self.moment = moment

    def step(self, looks: int) -> None:
        """So many looks on or back."""
        if self._player is not None:
            self._player.step(looks)

    def minutes(self, minutes: int) -> None:
        """So many minutes on or back."""
        if self._player is not None and self.moment is not None and self.moment.replayed is not None:
            self._player.go(self.moment.replayed.at + minutes * MINUTE_S)

    def go(self, at: float) -> None:
        """To a time (Unix seconds)."""
        if self._player is not None:
            self._player.go(at)

    def toggle(self) -> None:
        """Play on, or stand still."""
        if self._player is not None and self.moment is not None and self.moment.replayed is not None:
            self._player.play(0.0 if self.moment.replayed.speed else self._speed)

    def speed(self, step: int) -> None:
        """The next faster or slower pace, and play at it."""
        at = SPEEDS.index(self._speed) + step
        self._speed = SPEEDS[min(max(at, 0), len(SPEEDS) - 1)]
        if self._player is not None:
            self._player.play(self._speed)

    def mark(self, newest: Moment | None) -> Cell | None:
        """Where on the tape this is, and how it goes on; None for now."""
        replayed = self.moment.replayed if self.moment is not None else None
        if replayed is None:
            return None
        pace = f"x{replayed.speed:g}" if replayed.speed else "stands"
        if self.of_tape:
            share = (replayed.at - replayed.first) / max(replayed.last - replayed.first, 1e-9)
            where = f"REPLAY {utc(replayed.at)} {pace}, {share:.0%} of the tape"
        else:
            back = (newest.now if newest is not None else replayed.last) - replayed.at
            where = f"BACK {back:.0f} s, {utc(replayed.at)} {pace}; L for now"
        return Cell(where if replayed.whole else f"{where}, loading", mark="warn")
