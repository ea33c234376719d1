"""The screen under a pilot: an app on a source that a test drives, and what is on the screen as plain text."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from io import StringIO
from pathlib import Path

from rich.console import Console
from textual.pilot import Pilot

from apftop.records.asking import Demand
from apftop.records.moment import Moment
from apftop.records.raw import Sample
from apftop.ui.app import Apftop
from tests.ui.moments import a_moment

AGE_S = 3.0
"""So old is what a screen shows when it is drawn first."""
FIRST = a_moment()


class Driven:
    """A source that delivers what a test gives it."""

    def __init__(self, deliver: Callable[[Moment], None]) -> None:
        self.deliver = deliver
        self.started = False
        self.wanted: list[Demand] = []
        self.tape = b""

    def start(self) -> None:
        self.started = True

    def want(self, demand: Demand) -> None:
        self.wanted.append(demand)

    def recorded(self) -> bytes:
        return self.tape

    def rewound(self, on_moment: Callable[[Moment], None]) -> None:
        """There is nothing to go back to."""

    def history(self, on_moment: Callable[[Moment], None]) -> None:
        """Nobody has kept it."""

    def stop(self) -> None:
        self.started = False


class Clock:
    """A wall clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = a_moment().now + AGE_S

    def __call__(self) -> float:
        return self.now


def lines_of(app: Apftop) -> list[str]:
    """The lines of a screen, without the spaces at their ends."""
    width, height = app.size
    console = Console(width=width, height=height, file=StringIO(), record=True, legacy_windows=False)
    console.print(app.screen._compositor.render_update(full=True))
    return [line.rstrip() for line in console.export_text().split("\n")]


class Shown:
    """One running screen."""

    def __init__(
        self, app: Apftop, pilot: Pilot[None], clock: Clock, saves: list[tuple[tuple[Sample, ...], Path]]
    ) -> None:
        self.app, self.pilot, self.clock, self.saves = app, pilot, clock, saves
        assert isinstance(app.source, Driven)
        self.source = app.source

    async def send(self, moment: Moment) -> None:
        """Deliver a moment and wait until it is shown."""
        self.source.deliver(moment)
        await self.pilot.pause(0.15)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    @property
    def lines(self) -> list[str]:
        """The lines of the screen, without the spaces at their ends."""
        return lines_of(self.app)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def view(self) -> str:
        """The name of the view."""
        return self.app.look.view.value

    @property
    def row(self) -> tuple[str, ...] | None:
        """The key of the row that the cursor is on."""
        row = self.app.table.row
        return None if row is None else row.key


@asynccontextmanager
async def shown(
    size: tuple[int, int] = (80, 24),
    first: Moment | None = FIRST,
    opens: type[Driven] = Driven,
    records_to: Callable[[], str] = str,
) -> AsyncIterator[Shown]:
    """A screen of a size, with its first moment on it."""
    clock = Clock()
    saves: list[tuple[tuple[Sample, ...], Path]] = []

    def save(samples: tuple[Sample, ...], folder: Path) -> Path:
        saves.append((samples, folder))
        return folder

    app = Apftop(opens, of="prod", save=save, interval_s=2.0, clock=clock, records_to=records_to)
    async with app.run_test(size=size, notifications=True) as pilot:
        screen = Shown(app, pilot, clock, saves)
        await pilot.pause()
        if first is not None:
            await screen.send(first)
        yield screen
