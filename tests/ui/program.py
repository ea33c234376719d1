"""The screen as a program: `python -m tests.ui.program KIND [OPTION...]`, on a source that behaves well or badly."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from apftop.derive.frame import frame
from apftop.errors import Trouble
from apftop.live import fold
from apftop.records.asking import Demand
from apftop.records.moment import Moment
from apftop.records.raw import Sample
from apftop.ui.run import run
from tests.ui.moments import a_moment, saved

Deliver = Callable[[Moment], None]


class Calm:
    """One moment, and then no more."""

    def __init__(self, deliver: Deliver) -> None:
        self.deliver = deliver

    def start(self) -> None:
        threading.Thread(target=self.work, daemon=True).start()

    def work(self) -> None:
        self.deliver(a_moment())

    def want(self, demand: Demand) -> None:
        pass

    def recorded(self) -> bytes:
        return b""

    def rewound(self, on_moment: Callable[[Moment], None]) -> None:
        """There is nothing to go back to."""

    def history(self, on_moment: Callable[[Moment], None]) -> None:
        """Nobody has kept it."""

    def stop(self) -> None:
        pass


class Hung(Calm):
    """Nothing comes: all that could bring it waits for ever, and is not done when it is told to stop."""

    def start(self) -> None:
        for _ in range(3):
            threading.Thread(target=threading.Event().wait, daemon=True).start()


class Flood(Calm):
    """Moments as fast as they can be made of answers, by a thread that takes all the time it gets."""

    def work(self) -> None:
        number = 0
        while True:
            frame(fold(saved()[0]))
            for _ in range(5):
                number += 1
                self.deliver(a_moment(number, waiting={("kas-1", "workload-low"): 1000.0 + number}))


class Broken(Calm):
    """A fault in the screen's own thread."""

    def want(self, demand: Demand) -> None:
        raise RuntimeError("broken [/by] design")


class Deaf(Calm):
    """The screen's thread does not come back."""

    def want(self, demand: Demand) -> None:
        time.sleep(60)


KINDS: dict[str, type[Calm]] = {one.__name__.lower(): one for one in (Calm, Hung, Flood, Broken, Deaf)}


def save(samples: tuple[Sample, ...], folder: Path) -> Path:
    """Write nothing."""
    return folder


def main(kind: str, *options: str) -> int:
    """Run the screen; the exit code is that of the program."""
    if "log" in options:
        logging.getLogger("apftop").addHandler(logging.FileHandler(options[options.index("log") + 1]))
        logging.getLogger("apftop").setLevel(logging.DEBUG)
    saved()
    try:
        return run(KINDS[kind], of="prod", save=save, no_color="no-color" in options)
    except Trouble as trouble:
        print(f"apftop: {trouble}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
