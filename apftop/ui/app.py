"""The screen: it shows the newest moment, or the frozen one, as its reader looks at it."""

from __future__ import annotations

import contextlib
import gc
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult, SystemCommand
from textual.binding import BindingType
from textual.screen import Screen
from textual.timer import Timer

from apftop.daemon import in_daemon
from apftop.findings.words.summary import summary
from apftop.present import plain, utc
from apftop.records.asking import Demand
from apftop.records.findings import Finding
from apftop.records.moment import Moment
from apftop.sheets.finding_text import SIGNS, script
from apftop.sheets.findings import found_by
from apftop.sheets.look import Look, View
from apftop.sheets.past import here, time_of
from apftop.sheets.sheet import Cell, RowKey, Sheet
from apftop.tape.file import SUFFIX, write_tape
from apftop.ui import steps
from apftop.ui.caption import caption, notes
from apftop.ui.clipboard import copying, in_words
from apftop.ui.ending import Ends
from apftop.ui.help import Help
from apftop.ui.key_line import KeyLine
from apftop.ui.keys import KEYS, keys_of
from apftop.ui.moments import Arrived, Frozen
from apftop.ui.new_name import new_name
from apftop.ui.opened import Opened
from apftop.ui.paint import Lines
from apftop.ui.palette import Palette
from apftop.ui.prompt import Prompt
from apftop.ui.rewinding import Rewinding
from apftop.ui.shown import header_of, page_of, sheet_of, timeline_of, told
from apftop.ui.source import OpenSource, Save
from apftop.ui.table import HEAD, Table

DRAW_EVERY_S = 0.1
DRAW_SHARE = 0.2
"""Moments are drawn no more often than this, and take no more than this share of the time of the screen's thread."""

QUIET_S = 2.0
"""Where no moment has come for so long all is drawn anew, since numbers are marked by their age."""


class Whole(Screen[None], inherit_bindings=False):
    """The one screen below the help: without the keys that Textual gives to screens."""


class Apftop(Rewinding, inherit_bindings=False):
    """top for the request queues of API servers."""

    TITLE = "apftop"
    CSS_PATH = "apftop.tcss"
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = list(KEYS)
    VERTICAL_BREAKPOINTS = [(0, "-low"), (10, "-high")]  # noqa: RUF012  as in the base class

    def __init__(
        self,
        open_source: OpenSource,
        *,
        of: str,
        save: Save,
        interval_s: float,
        ends: Ends | None = None,
        records_to: Callable[[], str] = str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(ends)
        self.theme = "ansi-dark"
        self.animation_level = "none"
        self.look = Look()
        self.source = open_source(self.deliver)
        self._of, self._save, self._interval_s, self._clock = of, save, interval_s, clock
        self._records_to = records_to
        self._began = clock()
        self._looked_at = View.LEVELS
        self._wake = 0
        self._wanted: Demand | None = None
        self._newest: Moment | None = None
        self._trail: list[tuple[Look, RowKey | None]] = []
        self._sheet = Sheet("", (), (), 0)
        self._draw_not_before = self._drawn_at = 0.0
        self._draw_later: Timer | None = None

    def get_default_screen(self) -> Screen[None]:
        return Whole(id="_default")

    def compose(self) -> ComposeResult:
        self.header, self.caption, self.notes = Lines(id="header"), Lines(id="caption"), Lines(id="notes")
        self.timeline = Lines(id="timeline")
        self.table, self.prompt, self.keys = Table(), Prompt(), KeyLine(self.look.view)
        yield from (self.header, self.timeline, self.caption, self.table, self.notes, self.prompt, self.keys)

    def on_mount(self) -> None:
        self.table.focus()
        self.draw()
        self.set_interval(1.0, self._second)
        # After ctrl+z the terminal is empty, and Textual paints only what has changed since.
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))
        self.call_after_refresh(self._start)

    def _start(self) -> None:
        self._want()
        self.source.start()

    def deliver(self, moment: Moment) -> None:
        """Show a moment soon; from any thread, and without effect once the screen has ended."""
        with contextlib.suppress(RuntimeError):
            self.post_message(Arrived(moment))

    # What is on the screen.

    @property
    def _moment(self) -> Moment | None:
        if self.playback.moment is not None:
            return self.playback.moment
        return self._newest if self._frozen is None else self._frozen.moment

    def draw(self) -> None:
        """Show everything anew; only what differs is painted."""
        if not self.screen_stack:
            # What was to be drawn later comes too late: the screen has ended.
            return
        began = time.monotonic()
        if self._draw_later is not None:
            self._draw_later.stop()
            self._draw_later = None
        self._drawn_at = self._clock()
        self._sheet = sheet_of(self._moment, self.look, self._now)
        self.table.show(self._sheet)
        self.keys.show(self.look.view)
        self._tick()
        self.notes.show(notes(self._sheet, self.size.width, self._free))
        if isinstance(self.screen, Opened) and self._moment is not None:
            self.screen.renew(page_of(self._moment, self.screen.look, self.screen.key, self._now))
        took = time.monotonic() - began
        self._draw_not_before = began + max(DRAW_EVERY_S, took / DRAW_SHARE)

    @property
    def _now(self) -> float:
        if self._moment is not None and self._moment.replayed is not None:
            return self._moment.replayed.at
        return self._clock() if self._frozen is None else self._frozen.at

    @property
    def _free(self) -> int:
        """The lines of the screen that would be empty below the rows."""
        taken = (
            self.header.count
            + self.timeline.count
            + self.caption.count
            + HEAD
            + max(1, len(self._sheet.rows))
            + 1
            + self.prompt.display
        )
        return self.size.height - taken

    def _second(self) -> None:
        """Let time go by; where no moment comes, numbers grow old without one."""
        if self._clock() - self._drawn_at < QUIET_S or self._frozen is not None:
            self._tick()
        else:
            self.draw()

    def _tick(self) -> None:
        """Show what changes as time goes by."""
        self.header.show(self._header())
        past = self.playback.moment
        interval_s = self._interval_s if past is None else None
        self.caption.show((caption(self._sheet, self.look, interval_s, self.size.width),))
        self.timeline.show(() if past is None else timeline_of(past, self.size.width))

    def _header(self) -> Sequence[Sequence[Cell]]:
        now, frozen = self._clock(), self._frozen
        if (past := self.playback.mark(self._newest)) is not None and self._moment is not None:
            return header_of(self._moment, self.look, self._now, self.size.width, (past,))
        if self._newest is None:
            return ((Cell(f"apftop  connecting to {plain(self._of)}, {max(0.0, now - self._began):.0f} s"),),)
        marks = [Cell(frozen.mark(self._newest, now), mark="warn")] if frozen else []
        if path := self._records_to():
            marks.append(Cell(f"REC {plain(path)}", mark="own"))
        return header_of(frozen.moment if frozen else self._newest, self.look, self._now, self.size.width, marks)

    def _tell_news(self, moment: Moment) -> None:
        """What is found now is told to whoever looks at another time."""
        if self._newest is None or self.playback.moment is None or moment.replayed is not None:
            return
        for one in moment.findings.found:
            if one.severity != "info" and one.key not in self._newest.since:
                self.say(f"now: {SIGNS[one.severity]} {plain(one.title)}")

    def on_arrived(self, message: Arrived) -> None:
        self._tell_news(message.moment)
        if self._newest is None:
            # All is loaded by now: no full collection need look through it again, while keys wait.
            gc.freeze()
        self._newest = message.moment
        if message.moment.replayed is not None:
            self.playback.enter(self.source, self.deliver)
            self.playback.take(message.moment)
        elif self.playback.moment is not None or self._frozen is not None:
            self._tick()
            return
        self.draw_soon()

    def draw_soon(self) -> None:
        if (wait := self._draw_not_before - time.monotonic()) <= 0:
            self.draw()
        elif self._draw_later is None:
            self._draw_later = self.set_timer(wait, self.draw)

    def on_resize(self) -> None:
        # The new size is known once this event has been handled.
        self.call_later(self.draw)

    # What the reader does.

    def _see(self, look: Look, *, key: RowKey | None = None) -> None:
        if look.view != self.look.view or look.within != self.look.within:
            self.table.jump(key)
        self.look = look
        self._want()
        self.draw()

    def _want(self) -> None:
        wanted = steps.demand(self.look, self._interval_s, self._wake)
        if wanted != self._wanted:
            self._wanted = wanted
            self.source.want(wanted)

    def say(self, text: str, *, error: bool = False) -> None:
        self.notify(text, severity="error" if error else "information", markup=False)

    def on_table_opened(self) -> None:
        row = self.table.row
        if row is not None and self.look.view is View.HISTORY:
            self._go_to_row(row.key)
        elif row is not None and row.about:
            self._go_into(row.about)
        elif row is not None and self._moment is not None:
            found = page_of(self._moment, self.look, row.key, self._now)
            if found is not None:
                self.push_screen(Opened(found, self.look, row.key))

    def _go_to_row(self, key: RowKey) -> None:
        """To the time of a row, in the view from which the reader came."""
        at = None if self._moment is None else time_of(self._moment, self.look, key)
        if at is not None and self.enter_past():
            self.playback.go(at)
            self._see(steps.at_view(self.look, self._looked_at))

    def _go_into(self, about: Mapping[str, str]) -> None:
        """Look at what a row is about, with a way back."""
        look = self.look.drilled(about)
        if (look.view, look.scope, look.within) != (self.look.view, self.look.scope, self.look.within):
            self._trail.append((self.look, self.table.follows))
            self._see(look)

    def on_table_titled(self, message: Table.Titled) -> None:
        column = next((one for one in self._sheet.columns if one.key == message.column), None)
        if column is not None:
            self._see(steps.sorted_by(self.look, self._sheet, column))

    def on_prompt_typed(self, message: Prompt.Typed) -> None:
        if message.done:
            self.table.focus()
        if message.of == "time":
            self.go_to(message.text)
            return
        self._see(replace(self.look, filter=message.text))

    def action_view(self, view: str) -> None:
        self._trail.clear()
        if self.look.view is not View.HISTORY:
            self._looked_at = self.look.view
        look = steps.at_view(self.look, View(view))
        at = here(self._moment, look) if look.view is View.HISTORY and self._moment is not None else None
        self._see(look, key=at)

    def action_checks(self) -> None:
        row = self.table.row
        self._go_into({"view": View.CHECKS.value, **((row.subject if row is not None else None) or {})})

    def action_scope(self, step: int) -> None:
        replicas = () if self._moment is None else tuple(self._moment.frame.replicas)
        self._see(steps.scoped(self.look, replicas, step))

    def action_undo(self) -> None:
        if self.prompt.display:
            self.prompt.action_give_up()
        elif self.look.filter:
            self._see(replace(self.look, filter=""))
        elif self._trail:
            former, key = self._trail.pop()
            self._see(steps.back(self.look, former), key=key)

    def action_freeze(self) -> None:
        if self.playback.moment is not None:
            self.playback.toggle()
            return
        if self._frozen is not None:
            self._frozen = None
        elif self._newest is not None:
            self._frozen = Frozen(self._newest, self._clock())
        self.draw()

    def action_filter(self) -> None:
        self.prompt.open(self.look.filter)

    def action_sort(self, step: int) -> None:
        columns = [one for one in self._sheet.columns if one.key in self.table.fitting]
        self._see(steps.sort_moved(self.look, self._sheet, columns, step))

    def action_reverse(self) -> None:
        self._see(steps.reversed_sort(self.look, self._sheet))

    def action_hold(self) -> None:
        self._see(steps.hold(self.look, self._sheet))

    def action_totals(self) -> None:
        self._see(replace(self.look, totals=not self.look.totals))

    def action_idle(self) -> None:
        self._see(replace(self.look, hide_idle=not self.look.hide_idle))

    def action_interval(self, step: int) -> None:
        if self.playback.moment is not None:
            self.playback.speed(step)
            return
        self._interval_s = (steps.slower if step > 0 else steps.faster)(self._interval_s)
        self._want()
        self._tick()

    def action_wake(self) -> None:
        self._wake += 1
        self._want()

    def action_help(self) -> None:
        self.push_screen(Help(self._sheet))

    def action_copy(self) -> None:
        """Copy the row as text, with when and where it was true; on the page of a finding, its change as commands."""
        row, moment, found = self.table.row, self._moment, self._finding()
        if found is not None and found.change is not None and isinstance(self.screen, Opened):
            self._send(script(found.change), "the change with its rollback")
            return
        if row is None or moment is None:
            self.say("there is no row to copy")
            return
        self._send(f"{utc(moment.now)} {plain(moment.source)} {in_words(self._sheet, row)}", "the row")

    def action_summary(self) -> None:
        """Copy the finding of the page or of the row as five lines."""
        moment, found = self._moment, self._finding()
        if moment is None or found is None:
            self.say("there is no finding to copy here: 7 shows them")
            return
        self._send(summary(found, moment.frame), "a summary in five lines")

    def _finding(self) -> Finding | None:
        """The finding of the page that is read, else of the row that the cursor is on."""
        row, page = self.table.row, self.screen
        at, key = (page.look, page.key) if isinstance(page, Opened) else (self.look, row.key if row else None)
        if self._moment is None or key is None or at.view is not View.FINDINGS:
            return None
        return found_by(self._moment, key)

    def _send(self, text: str, what: str) -> None:
        """Have the terminal copy a text."""
        sequence = copying(text, os.environ)
        if self._driver is None:
            return
        if sequence is None:
            self.say(f"{what} is too long for a terminal to copy", error=True)
            return
        self._driver.write(sequence)
        self.say(f"{what} was sent to the terminal's clipboard; if nothing pastes, b writes a bundle")

    def action_write(self) -> None:
        tape = self.source.recorded()
        if not tape:
            self.say("there is nothing to write yet")
            return
        self.run_worker(self._write("a tape", lambda: write_tape(tape, new_name(self._clock(), SUFFIX))), group="write")

    def action_bundle(self) -> None:
        if self._moment is None or not self._moment.samples:
            self.say("there is nothing to write yet")
            return
        samples = self._moment.samples
        self.run_worker(self._write("a bundle", lambda: self._save(samples, new_name(self._clock()))), group="write")

    async def _write(self, what: str, write: Callable[[], Path]) -> None:
        try:
            written = await in_daemon(write)
        except Exception as error:  # noqa: BLE001  whatever kept it from being written is told
            self.say(f"cannot write {what}: {told(error)}", error=True)
        else:
            self.say(f"written: {plain(str(written))}")

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(id="--command-palette"))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """What the palette offers: every key that does something."""
        for one in KEYS:
            if one.action != "command_palette":
                yield SystemCommand(one.description, keys_of(one), partial(self.run_action, one.action))
