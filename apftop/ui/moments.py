"""A moment on its way to the screen, and one that stands on it."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from apftop.records.moment import Moment


class Arrived(Message):
    """A new moment; one that is still waiting to be shown is of no more use."""

    def __init__(self, moment: Moment) -> None:
        self.moment = moment
        super().__init__()

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, Arrived)


class Recalled(Message):
    """A moment of a player, which is shown instead of the newest one."""

    def __init__(self, moment: Moment) -> None:
        self.moment = moment
        super().__init__()

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, Recalled)


@dataclass(frozen=True, slots=True)
class Frozen:
    """What stands still, and since when (Unix seconds)."""

    moment: Moment
    at: float

    def mark(self, newest: Moment, now: float) -> str:
        """For how long it has stood still, and what it has not shown."""
        return f"FROZEN {max(0.0, now - self.at):.0f} s, {newest.number - self.moment.number} new"
