"""Live watching: a thread in which samples become moments for the screen, and plans for the network."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from apftop.access import Access
from apftop.check.runs import Result
from apftop.deriving import Deriving
from apftop.errors import Trouble
from apftop.fetch import Manner
from apftop.kept import KEPT_OF, bare
from apftop.lanes import plan
from apftop.news import with_line
from apftop.noting import Noted, lately, noted
from apftop.parse.body import picker_of_apf, picker_of_behind
from apftop.parse.vocabulary import behind_names
from apftop.poll.net import Net
from apftop.recording import Recording, Sink
from apftop.records.asking import Demand, Plan
from apftop.records.moment import Moment
from apftop.records.raw import Sample
from apftop.records.source import Player
from apftop.records.state import ReplicaState
from apftop.records.tape import Note
from apftop.replaying import Replaying
from apftop.simulating import Simulating
from apftop.tape.reading import Tape
from apftop.tape.ring import KEPT_S

log = logging.getLogger("apftop")

MOMENT_EVERY_S = 0.2
MEMORY_EVERY_S = 20.0
"""So often a tape is told what a replay can begin from: what came since then it has to go through."""

DERIVE_SHARE = 0.25
"""Moments come no more often than this, and take no more than this share of the time: the screen needs it too."""

Item = Sample | Demand | Result | str | None
"""What comes to a watching: answers, what the reader wants, what was simulated, news; None is its end."""


def newest(items: Sequence[Item]) -> list[Item]:
    """The same without the bodies of answers that later ones of the same batch have overtaken: nobody will see them.

    Who falls behind, since servers are many or this machine is slow, so catches up.
    """
    left = Counter((one.replica, one.endpoint) for one in items if isinstance(one, Sample) and one.ok)
    found: list[Item] = []
    for one in items:
        if isinstance(one, Sample) and one.ok:
            key = one.replica, one.endpoint
            left[key] -= 1
            if left[key] >= KEPT_OF.get(one.endpoint, 1):
                one = bare(one)
        found.append(one)
    return found


OpenHistory = Callable[[Callable[[Moment], None]], Player | None]
"""Makes a player of what was before this program began, that delivers to a function; None where there is nothing."""


class Watching:
    """Watches servers until stopped: each moment goes to `on_moment`, a few a second at most.

    `ways` are the servers, or with `discover` the way to them; `source` names them in words. `request_timeout_s` is the
    servers' flag, if it was given. `on_moment` is called in a thread of this object. What was seen in the last minutes
    is in `recording`, and all of it goes to `sink`; `history` opens what was before. Moments are at least
    `moment_every_s` apart. No method but `finish` waits.
    """

    def __init__(
        self,
        ways: Sequence[Access],
        *,
        discover: bool,
        source: str,
        request_timeout_s: float | None,
        on_moment: Callable[[Moment], None],
        demand: Demand = Demand(),  # noqa: B008  frozen
        sink: Sink | None = None,
        moment_every_s: float = MOMENT_EVERY_S,
        history: OpenHistory | None = None,
    ) -> None:
        self._history = history
        self._every_s = moment_every_s
        self._source, self._request_timeout_s, self._on_moment = source, request_timeout_s, on_moment
        self._demand, self._wake = demand, demand.wake
        self._inbox: queue.SimpleQueue[Item] = queue.SimpleQueue()
        self._stopped = False
        self._deriving = Deriving(source, request_timeout_s, self._tell)
        self._simulating = Simulating(self._inbox.put, self._inbox.put)
        self.recording = Recording(source, self._inbox.put, sink)
        self._noted = Noted()
        self._notes = Note()
        self._remembered = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="apftop-derive", daemon=True)
        self._plans: dict[str, Plan] = {}
        self._news: tuple[str, ...] = ()
        self._net = Net(
            ways,
            discover=discover,
            manner=Manner(picker=picker_of_apf, behind=behind_names(), behind_picker=picker_of_behind),
            first=plan(ReplicaState(""), demand),
            deliver=self._inbox.put,
            tell=self._inbox.put,
        )

    def start(self) -> None:
        """Begin to ask and to show."""
        self.recording.start()
        self._thread.start()
        self._net.start()

    def want(self, demand: Demand) -> None:
        """Ask by this demand from now on; the latest counts."""
        if demand.wake > self._wake:
            self._wake = demand.wake
            self._net.wake()
        self._inbox.put(demand)

    def stop(self) -> None:
        """End; no moment is begun to be shown after this."""
        self._stopped = True
        self._simulating.stop()
        self._net.stop()
        self._inbox.put(None)

    def recorded(self) -> bytes:
        """The last minutes as a tape; empty where nothing came yet."""
        return self.recording.ring()

    def rewound(self, on_moment: Callable[[Moment], None]) -> Replaying | None:
        """The last minutes as they were recorded, at their end; None where there are none yet."""
        try:
            tape = Tape([self.recording.ring()], "the last minutes")
        except Trouble:
            return None
        return Replaying(
            tape, on_moment=on_moment, at=tape.span[1], source=self._source, request_timeout_s=self._request_timeout_s
        )

    def history(self, on_moment: Callable[[Moment], None]) -> Player | None:
        """What was before this program began, to be started; None where nobody has kept it."""
        return None if self._history is None else self._history(on_moment)

    def finish(self, timeout_s: float) -> None:
        """After a stop, wait until what had come by then is recorded, or for so long."""
        ends = time.monotonic() + timeout_s
        self._thread.join(timeout_s)
        self.recording.finish(max(0.0, ends - time.monotonic()))

    def _run(self) -> None:
        not_before = 0.0
        while True:
            for item, whole in self._come(not_before):
                if item is None:
                    self.recording.close()
                    return
                self._take(item, whole)
            begun = time.monotonic()
            self._show()
            not_before = begun + max(self._every_s, (time.monotonic() - begun) / DERIVE_SHARE)

    def _come(self, not_before: float) -> Iterator[tuple[Item, Item]]:
        """What comes until it is time to show it: one thing at least, and all that is there by then."""
        yield from self._there(self._inbox.get())
        while (left := not_before - time.monotonic()) > 0:
            with contextlib.suppress(queue.Empty):
                yield from self._there(self._inbox.get(timeout=left))

    def _there(self, first: Item) -> Iterator[tuple[Item, Item]]:
        """Something that came, and all that is there behind it: what is to be taken in of it, and all of it."""
        # No more than this, so that one who talks without end does not keep the screen waiting.
        there = [first, *(self._inbox.get() for _ in range(self._inbox.qsize()))]
        return zip(newest(there), there, strict=True)

    def _take(self, item: Sample | Demand | Result | str, whole: Item) -> None:
        match item:
            case str():
                self._tell(item)
            case Demand():
                self._demand = item
                self._plan(*self._deriving.state.replicas)
            case Result():
                self._deriving.simulated(item)
            case Sample():
                before = self._deriving.state
                taken = self._deriving.take(item)
                # The tape has all of it, and also what was too odd to be taken in.
                self.recording.sample(whole if isinstance(whole, Sample) else item, before, self._deriving.state)
                if not taken:
                    return
                if (wanted := self._deriving.follow(item)) is not None:
                    self._simulating.want(wanted)
                self._plan(item.replica)

    def _plan(self, *replicas: str) -> None:
        """Send plans to the network, if they have changed."""
        plans = dict(self._plans)
        for name in replicas:
            try:
                plans[name] = plan(self._deriving.state.replicas[name], self._demand)
            except Exception as error:  # noqa: BLE001  the plan before it still holds
                self._deriving.fail(f"plan what to ask {name}", error)
        if plans != self._plans:
            self._plans = plans
            self._net.plan(plans)

    def _show(self) -> None:
        """Give the next moment."""
        asked = self._net.replicas
        others = tuple(name for name in self._deriving.state.replicas if asked and name not in asked)
        if others:
            # They are asked no more, as the way to the replicas is once they are found.
            self._deriving.forget(others)
            self._plans = {name: one for name, one in self._plans.items() if name in asked}
        shown = self._deriving.show(self._plans, self._news)
        shown = replace(shown, notes=self._note(shown, others))
        if self._stopped:
            return
        try:
            self._on_moment(shown)
        except Exception:
            log.exception("a moment could not be handed on")

    def _note(self, shown: Moment, forgotten: Sequence[str]) -> Note:
        """Put onto the tape what is new in a moment, now and then also what a replay begins from; the latest notes."""
        try:
            self._noted, note = noted(self._noted, shown, forgotten)
        except Exception as error:  # noqa: BLE001  the samples are recorded all the same
            self._deriving.fail("note what has changed", error)
            note = Note(forgotten=tuple(forgotten))
        if time.monotonic() - self._remembered >= MEMORY_EVERY_S:
            self._remembered = time.monotonic()
            note = replace(note, memory=self._deriving.memory())
        versions = {name: one.version for name, one in shown.frame.replicas.items() if one.version}
        self.recording.note(note, versions)
        self._notes = lately(self._notes, note, shown.now - KEPT_S)
        return self._notes

    def _tell(self, line: str) -> None:
        """Keep a line of news, the latest ones once each."""
        self._news = with_line(self._news, line)
