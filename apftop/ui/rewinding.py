"""How the reader goes back in time: the keys of the past, and the moments of its player."""

from __future__ import annotations

import contextlib

from apftop.errors import Trouble
from apftop.records.moment import Moment
from apftop.records.source import Source
from apftop.tape.times import time_on
from apftop.ui.ending import Ending, Ends
from apftop.ui.moments import Frozen, Recalled
from apftop.ui.playback import Playback
from apftop.ui.prompt import Prompt
from apftop.ui.shown import told


class Rewinding(Ending, inherit_bindings=False):
    """An app that shows other times than now, where its reader goes there."""

    prompt: Prompt
    source: Source

    def __init__(self, ends: Ends | None) -> None:
        super().__init__(ends)
        self.playback = Playback()
        self._frozen: Frozen | None = None

    # What the screen has to do for it.

    def deliver(self, moment: Moment) -> None:
        """Show a moment of the source soon; from any thread."""
        raise NotImplementedError

    def draw(self) -> None:
        """Show everything anew."""
        raise NotImplementedError

    def draw_soon(self) -> None:
        """The same, as soon as there is time for it."""
        raise NotImplementedError

    def say(self, text: str, *, error: bool = False) -> None:
        """Tell something for some seconds."""
        raise NotImplementedError

    # Moments of a player.

    def recall(self, moment: Moment) -> None:
        """Show a moment of a player soon; from any thread."""
        with contextlib.suppress(RuntimeError):
            self.post_message(Recalled(moment))

    def on_recalled(self, message: Recalled) -> None:
        if self.playback.take(message.moment):
            self.draw_soon()

    # Keys.

    def enter_past(self) -> bool:
        """Go back to where a frozen screen stands, else to now; whether there is something to go back to."""
        entered, frozen = self.playback.moment is not None, self._frozen
        if self.playback.enter(self.source, self.recall) is None:
            self.say("nothing is recorded yet")
            return False
        if not entered and frozen is not None:
            self.playback.go(frozen.moment.now)
        return True

    def action_step(self, looks: int) -> None:
        if self.enter_past():
            self.playback.step(looks)

    def action_minutes(self, minutes: int) -> None:
        if self.enter_past():
            self.playback.minutes(minutes)

    def action_mark(self, step: int) -> None:
        if self.enter_past() and self.playback.moment is not None and not self.playback.to_mark(step):
            self.say(f"nothing is noted {'after' if step > 0 else 'before'} this time")

    def action_go_to(self) -> None:
        if self.enter_past():
            self.prompt.open("", "time")

    def go_to(self, text: str) -> None:
        """To a time as it was typed."""
        span = self.playback.span
        if not text or span is None:
            return
        try:
            self.playback.go(time_on(text, span))
        except Trouble as error:
            self.say(str(error), error=True)

    def action_history(self) -> None:
        """To what a store has kept, at the time that is shown."""
        try:
            opened = self.playback.open(self.source.history(self.recall), self.source)
        except Exception as error:  # noqa: BLE001  whatever kept it from being opened is told
            self.say(f"cannot open the history: {told(error)}", error=True)
            return
        if not opened:
            self.say("there is no history from before: name a Prometheus with --prometheus URL")

    def action_live(self) -> None:
        self.playback.leave(self.source)
        self._frozen = None
        self.draw()
