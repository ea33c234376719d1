"""Draws the screen from a fixed source: the demo's scenario, read at instants of a clock that only we move."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from apftop.access import Overrides
from apftop.causes import Causes, causes
from apftop.cluster import from_server
from apftop.demo.running import start_demo
from apftop.deriving import moment
from apftop.fetch import LOOK, Manner, Turn, run
from apftop.kept import Kept, keep
from apftop.lanes import plan
from apftop.live import observe
from apftop.parse.body import picker_of_apf
from apftop.parse.vocabulary import asked_names
from apftop.records.asking import Demand
from apftop.records.moment import Moment
from apftop.records.raw import Sample
from apftop.records.state import State
from apftop.ui.app import Apftop

PICTURE = Path(__file__).parent / "screen.svg"
SIZE = (124, 30)
EPOCH_S = 1_767_225_600
FIRST_S, LAST_S, STEP_S = 2, 26, 2
REPLICAS = ("kas-1", "kas-2", "kas-3")
TITLE = "apftop demo"
_RANDOM_ID = re.compile(r"terminal-\d+")


def samples() -> Iterator[list[Sample]]:
    """What three servers say, every two seconds of the scenario; times are those of the scenario."""
    now_s = float(EPOCH_S)
    demo = start_demo("rush", clock=lambda: round(now_s * 1e9))
    try:
        ways = [
            replace(from_server(url, Overrides()), name=name) for url, name in zip(demo.urls, REPLICAS, strict=True)
        ]
        manner = Manner(families=asked_names(), picker=picker_of_apf)
        for second in range(FIRST_S, LAST_S + 1, STEP_S):
            now_s = float(EPOCH_S + second)
            seen = run(ways, [Turn(LOOK)], manner)
            yield [replace(one, sent=now_s, begun=now_s, received=now_s) for one in seen]
    finally:
        demo.stop()


def last_moment() -> Moment:
    """The moment at the end of it."""
    state = State()
    held: Kept = {}
    shown = moment(state, 0, "", {}, {}, (), {})
    found = Causes()
    for number, seen in enumerate(samples(), 1):
        for sample in seen:
            state, held = observe(state, sample), keep(held, sample)
        plans = {name: plan(one, Demand()) for name, one in state.replicas.items()}
        shown = moment(state, number, "demo, scenario rush", plans, shown.trends, (), held)
        found = causes(found, shown.frame, shown.checks, shown.now)
    return replace(shown, findings=found.found, since=found.since)


class _Still:
    """A source of one moment."""

    def __init__(self, deliver: Callable[[Moment], None], shown: Moment) -> None:
        self._deliver, self._shown = deliver, shown

    def start(self) -> None:
        self._deliver(self._shown)

    def want(self, demand: Demand) -> None:
        """There is nothing to ask."""

    def recorded(self) -> bytes:
        return b""

    def rewound(self, on_moment: Callable[[Moment], None]) -> None:
        """There is nothing to go back to."""

    def history(self, on_moment: Callable[[Moment], None]) -> None:
        """Nobody has kept it."""

    def stop(self) -> None:
        """There is nothing to end."""


def draw() -> str:
    """The screen as SVG."""
    return asyncio.run(_drawn(last_moment()))


async def _drawn(shown: Moment) -> str:
    app = Apftop(
        lambda deliver: _Still(deliver, shown),
        of=shown.source,
        save=lambda _, folder: folder,
        interval_s=2.0,
        clock=lambda: shown.now + 1.0,
    )
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause(0.5)
        return _RANDOM_ID.sub("terminal", app.export_screenshot(title=TITLE))
