"""Going back in time on the screen: the keys of the past, on a tape and on what was just seen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from apftop.errors import Trouble
from apftop.records.moment import Moment
from apftop.records.source import Player
from apftop.replaying import Replaying
from apftop.tape.reading import Tape, is_tape, open_tape
from apftop.ui.app import Apftop
from tests.tape.golden import BEGAN, CHANGED, STEP_S, STEPS
from tests.ui.moments import a_moment
from tests.ui.screen import Driven, lines_of, shown

GOLDEN = Path(__file__).parent.parent / "tape" / "format-1.apftape"
ENDED = BEGAN + STEP_S * (STEPS - 1)
PATIENCE_S = 20.0


class Rewindable(Driven):
    """A source that was watched for as long as the tape is."""

    kept: Callable[[Callable[[Moment], None]], Player | None] | None = None

    def rewound(self, on_moment: Callable[[Moment], None]) -> Player | None:  # type: ignore[override]
        return Replaying(open_tape(GOLDEN), on_moment=on_moment, at=ENDED)

    def history(self, on_moment: Callable[[Moment], None]) -> Player | None:  # type: ignore[override]
        return None if self.kept is None else self.kept(on_moment)


async def until(pilot: Pilot[None], holds: Callable[[], object]) -> None:
    """Wait until something holds."""
    for _ in range(int(PATIENCE_S / 0.05)):
        if holds():
            return
        await pilot.pause(0.05)
    raise AssertionError("this never came about")


def at(app: Apftop) -> float | None:
    """Which time is shown, once all is known of it."""
    replayed = None if app.playback.moment is None else app.playback.moment.replayed
    return replayed.at if replayed is not None and replayed.whole else None


@asynccontextmanager
async def replayed(size: tuple[int, int] = (120, 40), speed: float = 0.0) -> AsyncIterator[tuple[Apftop, Pilot[None]]]:
    tape = open_tape(GOLDEN)
    app = Apftop(
        lambda deliver: Replaying(tape, on_moment=deliver, speed=speed),
        of="a tape",
        save=lambda samples, folder: folder,
        interval_s=2.0,
    )
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: at(app) is not None)
        yield app, pilot
        app.source.stop()


async def press_until(app: Apftop, pilot: Pilot[None], keys: Iterable[str], time: float) -> None:
    await pilot.press(*keys)
    await until(pilot, lambda: at(app) == pytest.approx(time, abs=0.2))


async def test_a_tape_is_stepped_through_by_looks_and_minutes() -> None:
    async with replayed() as (app, pilot):
        first = at(app)
        assert first == BEGAN
        await press_until(app, pilot, ["right_curly_bracket"], BEGAN + 60)
        await press_until(app, pilot, ["left_square_bracket"], BEGAN + 60 - STEP_S)
        await press_until(app, pilot, ["right_square_bracket"], BEGAN + 60)
        await press_until(app, pilot, ["left_curly_bracket"], BEGAN)


async def test_keys_that_come_at_once_all_count() -> None:
    async with replayed() as (app, pilot):
        await press_until(app, pilot, ["T", *"+10s", "enter"], BEGAN + 10)
        await press_until(app, pilot, ["right_curly_bracket", "left_curly_bracket", "right_curly_bracket"], BEGAN + 70)


async def test_a_time_is_gone_to_and_a_wrong_one_is_told_and_stays() -> None:
    async with replayed() as (app, pilot):
        await press_until(app, pilot, ["T", *"+30s", "enter"], BEGAN + 30)
        await pilot.press("T", *"99:99", "enter")
        await pilot.pause(0.2)
        assert at(app) == BEGAN + 30
        assert any("no time on a tape" in one.message for one in app._notifications)


async def test_n_and_its_capital_go_from_one_thing_that_happened_to_the_next() -> None:
    async with replayed() as (app, pilot):
        await until(pilot, lambda: app.playback.moment is not None and app.playback.moment.notes.marks)
        await press_until(app, pilot, ["n"], BEGAN + CHANGED * STEP_S)
        await pilot.press("n")
        await until(pilot, lambda: (at(app) or 0.0) > BEGAN + CHANGED * STEP_S)
        await press_until(app, pilot, ["N"], BEGAN + CHANGED * STEP_S)


async def test_the_end_of_a_tape_is_where_L_leads() -> None:
    async with replayed() as (app, pilot):
        await press_until(app, pilot, ["L"], ENDED)


async def test_space_plays_and_plus_plays_faster() -> None:
    async with replayed() as (app, pilot):
        await pilot.press("space", "plus", "plus", "plus", "plus", "plus", "plus")
        await until(pilot, lambda: (at(app) or 0.0) > BEGAN + 30)
        assert app.playback.moment is not None
        assert app.playback.moment.replayed is not None
        await pilot.press("space")
        await until(pilot, lambda: app.playback.moment.replayed.speed == 0.0)  # type: ignore[union-attr]


async def test_view_9_leads_to_a_time_and_back_to_the_view_before() -> None:
    async with replayed() as (app, pilot):
        await until(pilot, lambda: app.playback.moment is not None and app.playback.moment.notes.marks)
        await pilot.press("2", "9")
        await until(pilot, lambda: app.table.row is not None)
        await pilot.press("g")
        row = app.table.row
        assert row is not None
        await pilot.press("enter")
        await until(pilot, lambda: (at(app) or 0.0) > BEGAN + 30)
        assert app.look.view.value == "schemas"


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_the_header_says_that_it_is_a_replay_and_the_time_line_where(size: tuple[int, int]) -> None:
    async with replayed(size) as (app, pilot):
        await press_until(app, pilot, ["T", *"+30s", "enter"], BEGAN + 30)
        await until(pilot, lambda: app.playback.moment is not None and app.playback.moment.notes.pulses)
        await pilot.pause(0.3)
        lines = lines_of(app)
        assert "REPLAY 2" in lines[0]
        assert "stands" in lines[0]
        assert any("^" in one and "C" in one for one in lines[1:6])
        assert not any("every 2 s" in one for one in lines)


async def test_what_was_just_seen_can_be_gone_back_to_and_left() -> None:
    async with shown(opens=Rewindable, size=(120, 40)) as screen:
        await screen.press("left_square_bracket")
        await until(screen.pilot, lambda: at(screen.app) == pytest.approx(ENDED - STEP_S, abs=0.2))
        assert "BACK" in screen.lines[0]
        await screen.send(a_moment(2))
        assert at(screen.app) is not None
        await screen.press("L")
        assert "BACK" not in screen.text
        assert screen.app.playback.moment is None


async def test_a_frozen_screen_goes_back_from_where_it_stands() -> None:
    first = a_moment()
    async with shown(opens=Rewindable, size=(120, 40)) as screen:
        await screen.press("space", "T")
        await until(screen.pilot, lambda: at(screen.app) is not None)
        # It was seen after this tape had ended.
        assert first.now > ENDED or at(screen.app) == BEGAN


async def test_without_a_store_H_says_how_to_name_one() -> None:
    async with shown() as screen:
        await screen.press("H")
        assert any("--prometheus" in one.message for one in screen.app._notifications)


async def test_H_opens_what_a_store_has_kept() -> None:
    async with shown(opens=Rewindable, size=(120, 40)) as screen:
        source = screen.app.source
        assert isinstance(source, Rewindable)
        source.kept = lambda on_moment: Replaying(open_tape(GOLDEN), on_moment=on_moment, at=BEGAN + 20)
        await screen.press("H")
        await until(screen.pilot, lambda: at(screen.app) == BEGAN + 20)
        await screen.press("L")
        assert screen.app.playback.moment is None


async def test_a_store_that_fails_is_told_of() -> None:
    def fails(on_moment: Callable[[Moment], None]) -> Player:
        raise Trouble("no such store", "http://127.0.0.1:1")

    async with shown(opens=Rewindable) as screen:
        source = screen.app.source
        assert isinstance(source, Rewindable)
        source.kept = fails
        await screen.press("H")
        assert any("no such store" in one.message for one in screen.app._notifications)


async def test_w_writes_a_tape_of_the_minutes_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with replayed() as (app, pilot):
        await press_until(app, pilot, ["L"], ENDED)
        await pilot.press("w")
        await until(pilot, lambda: list(tmp_path.glob("*.apftape")))
        (path,) = tmp_path.glob("*.apftape")
        await until(pilot, lambda: is_tape(path))
        assert Tape([path.read_bytes()], "it").span == (BEGAN, ENDED)


async def test_a_recording_is_named_until_it_ends() -> None:
    names = ["incident.apftape"]
    async with shown(records_to=lambda: names[0]) as screen:
        assert "REC incident.apftape" in screen.lines[0]
        names[0] = ""
        await screen.press("r")
        await screen.send(a_moment(2))
        assert "REC" not in screen.lines[0]
