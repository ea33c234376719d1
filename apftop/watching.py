"""Live watching: a thread in which samples become moments for the screen, and plans for the network."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from apftop.access import Access
from apftop.causes import Causes, causes
from apftop.check.band import EMPTY, Results, with_result
from apftop.check.checks import NONE_YET, checks_now
from apftop.check.runs import Job, Result, jobs
from apftop.check.track import Tracks, followed
from apftop.derive.frame import frame
from apftop.errors import one_line
from apftop.fetch import Manner
from apftop.lanes import plan
from apftop.live import OWN_KEPT, observe
from apftop.parse.body import picker_of_apf, picker_of_behind
from apftop.parse.vocabulary import behind_names
from apftop.poll.net import Net
from apftop.records.asking import Demand, Plan
from apftop.records.checks import Checks
from apftop.records.frame import Frame
from apftop.records.moment import Moment
from apftop.records.raw import LEVEL_UID, Endpoint, Sample
from apftop.records.state import ReplicaState, State
from apftop.simulating import Simulating
from apftop.trends import Trends, trends

log = logging.getLogger("apftop")

MOMENT_EVERY_S = 0.2
DERIVE_SHARE = 0.25
"""Moments come no more often than this, and take no more than this share of the time: the screen needs it too."""

NEWS_KEPT = 20
KEPT_OF = {Endpoint.METRICS: 2, Endpoint.LEVELS: 2, Endpoint.BACKEND: 2}
"""How many good answers of an endpoint a frame stands on; of the others it is one."""

COUNTED = (Endpoint.METRICS, Endpoint.LEVELS)
"""The answers between which this tool's own requests count."""

Item = Sample | Demand | Result | str | None
"""What comes to a watching: answers, what the reader wants, what was simulated, news; None is its end."""

Kept = Mapping[tuple[str, Endpoint], tuple[Sample, ...]]
"""The answers that a frame stands on, by replica and endpoint."""


def keep(kept: Kept, sample: Sample) -> Kept:
    """The answers that a frame stands on after one more: the last good ones, and behind them the last that failed.

    Of those that make room only what APF did with them is kept, under DISCOVERY: they are counted in what came since.
    Room is also made for what came after this machine's clock was set back.
    """
    key = sample.replica, sample.endpoint
    if sample.endpoint is Endpoint.DISCOVERY:
        return _with_own(kept, sample.replica, (sample,))
    good = tuple(one for one in kept.get(key, ()) if one.ok and _came(one) <= _came(sample))
    stay = (*good, sample)[-KEPT_OF.get(sample.endpoint, 1) :] if sample.ok else (*good, sample)
    gone = (one for one in kept.get(key, ()) if all(one is not other for other in stay))
    return _with_own({**kept, key: stay}, sample.replica, map(_bare, gone))


def _bare(sample: Sample) -> Sample:
    """What APF did with a question, without what it was about."""
    return replace(sample, endpoint=Endpoint.DISCOVERY, body=b"")


def _with_own(kept: Kept, replica: str, more: Iterable[Sample]) -> Kept:
    """With further requests of ours that count since the first of the two answers that a frame compares.

    They are no more than a state keeps, however long an endpoint has failed to answer.
    """
    key = replica, Endpoint.DISCOVERY
    since = min((one.sent or 0.0 for two in COUNTED for one in kept.get((replica, two), ())), default=0.0)
    own = (*kept.get(key, ()), *(one for one in more if one.header(LEVEL_UID) is not None))
    return {**kept, key: tuple(one for one in own if (one.sent or 0.0) >= since)[-OWN_KEPT:]}


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
                one = _bare(one)
        found.append(one)
    return found


def moment(
    state: State,
    number: int,
    source: str,
    plans: Mapping[str, Plan],
    before: Trends,
    news: tuple[str, ...],
    samples: Kept,
    request_timeout_s: float | None = None,
    derived: tuple[State, Frame] | None = None,
    checks: Checks | None = None,
) -> Moment:
    """The moment of what is known now, pure: wherever the samples come from.

    `before` are the trends up to now, `derived` an earlier state with its frame, which spares work. `checks` lie
    beside the frame.
    """
    seen = frame(state, request_timeout_s, before=derived)
    told = sorted((one for some in samples.values() for one in some), key=_came)
    return Moment(
        frame=seen,
        number=number,
        source=source,
        now=max(map(_came, told), default=0.0),
        plans=plans,
        trends=trends(before, seen),
        news=news,
        checks=checks or {},
        samples=tuple(told),
    )


def _came(sample: Sample) -> float:
    return sample.received or sample.sent or 0.0


class Watching:
    """Watches servers until stopped: each moment goes to `on_moment`, a few a second at most.

    `ways` are the servers, or with `discover` the way to them; `source` names them in words. `request_timeout_s` is the
    servers' flag, if it was given. `on_moment` is called in a thread of this object. No method waits.
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
    ) -> None:
        self._source, self._request_timeout_s, self._on_moment = source, request_timeout_s, on_moment
        self._demand, self._wake = demand, demand.wake
        self._inbox: queue.SimpleQueue[Item] = queue.SimpleQueue()
        self._stopped = False
        self._state = State()
        self._tracks: Tracks = {}
        self._results: dict[str, Results] = {}
        self._jobs: dict[str, list[Job]] = {}
        self._checked = NONE_YET
        self._simulating = Simulating(self._inbox.put, self._inbox.put)
        self._kept: Kept = {}
        self._plans: dict[str, Plan] = {}
        self._news: tuple[str, ...] = ()
        self._shown = moment(self._state, 0, source, {}, {}, (), {})
        self._derived = self._state, self._shown.frame
        self._causes = Causes()
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
        threading.Thread(target=self._run, name="apftop-derive", daemon=True).start()
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

    def _run(self) -> None:
        not_before = 0.0
        while True:
            for item in self._come(not_before):
                if item is None:
                    return
                self._take(item)
            begun = time.monotonic()
            self._show()
            not_before = begun + max(MOMENT_EVERY_S, (time.monotonic() - begun) / DERIVE_SHARE)

    def _come(self, not_before: float) -> Iterator[Item]:
        """What comes until it is time to show it: one thing at least, and all that is there by then."""
        yield from self._there(self._inbox.get())
        while (left := not_before - time.monotonic()) > 0:
            with contextlib.suppress(queue.Empty):
                yield from self._there(self._inbox.get(timeout=left))

    def _there(self, first: Item) -> Iterator[Item]:
        """Something that came, and all that is there behind it."""
        # No more than this, so that one who talks without end does not keep the screen waiting.
        return iter(newest([first, *(self._inbox.get() for _ in range(self._inbox.qsize()))]))

    def _take(self, item: Sample | Demand | Result | str) -> None:
        match item:
            case str():
                self._tell(item)
            case Demand():
                self._demand = item
                self._plan(*self._state.replicas)
            case Result():
                if (track := self._tracks.get(item.replica)) is not None:
                    self._results[item.replica] = with_result(self._results.get(item.replica, EMPTY), item, track)
            case Sample():
                try:
                    self._state = observe(self._state, item)
                except Exception as error:  # noqa: BLE001  one odd answer must not end the polling
                    self._fail(f"read {item.endpoint} of {item.replica}", error)
                    return
                self._kept = keep(self._kept, item)
                self._follow(item)
                self._plan(item.replica)

    def _follow(self, sample: Sample) -> None:
        """Remember what checks need, and have simulated what has become known."""
        try:
            before, self._tracks = self._tracks, followed(self._tracks, self._state)
            moved = [name for name, track in self._tracks.items() if before.get(name) is not track]
            for name in moved:
                self._jobs[name] = jobs(name, self._tracks[name], self._results.get(name, EMPTY))
            if moved:
                self._simulating.want([job for name in self._tracks for job in self._jobs.get(name, ())])
        except Exception as error:  # noqa: BLE001  numbers are shown, checked or not
            self._fail(f"follow {sample.endpoint} of {sample.replica}", error)

    def _plan(self, *replicas: str) -> None:
        """Send plans to the network, if they have changed."""
        plans = dict(self._plans)
        for name in replicas:
            try:
                plans[name] = plan(self._state.replicas[name], self._demand)
            except Exception as error:  # noqa: BLE001  the plan before it still holds
                self._fail(f"plan what to ask {name}", error)
        if plans != self._plans:
            self._plans = plans
            self._net.plan(plans)

    def _show(self) -> None:
        """Give the next moment; where it cannot be derived, the last frame again with a line that says so."""
        self._forget_others()
        number = self._shown.number + 1
        try:
            shown = moment(
                self._state,
                number,
                self._source,
                self._plans,
                self._shown.trends,
                self._news,
                self._kept,
                self._request_timeout_s,
                self._derived,
                self._check(),
            )
            self._derived = self._state, shown.frame
            shown = self._find(shown)
        except Exception as error:  # noqa: BLE001  what cannot be shown now may be later
            self._fail("derive what to show", error)
            shown = replace(self._shown, number=number, plans=self._plans, news=self._news)
        self._shown = shown
        if self._stopped:
            return
        try:
            self._on_moment(shown)
        except Exception:
            log.exception("a moment could not be handed on")

    def _check(self) -> Checks:
        """The checks of what is known now; without those of a moment that cannot be checked."""
        try:
            self._checked = checks_now(self._tracks, self._state, dict(self._results), self._checked)
        except Exception as error:  # noqa: BLE001  numbers are shown, checked or not
            self._fail("check the numbers", error)
            self._checked = NONE_YET
        return self._checked.checks

    def _find(self, shown: Moment) -> Moment:
        """The moment with what is found in it; without findings where they fail."""
        try:
            self._causes = causes(self._causes, shown.frame, shown.checks, shown.now)
        except Exception as error:  # noqa: BLE001  numbers are shown, explained or not
            self._fail("find causes", error)
            self._causes = Causes()
        return replace(shown, findings=self._causes.found, since=self._causes.since)

    def _forget_others(self) -> None:
        """Leave out what is asked no more, as the way to the replicas is once they are found."""
        asked = self._net.replicas
        if not asked or self._state.replicas.keys() <= set(asked):
            return
        self._state = State({name: one for name, one in self._state.replicas.items() if name in asked})
        self._kept = {key: samples for key, samples in self._kept.items() if key[0] in asked}
        self._tracks = {name: one for name, one in self._tracks.items() if name in asked}
        self._results = {name: one for name, one in self._results.items() if name in asked}
        self._plans = {name: one for name, one in self._plans.items() if name in asked}

    def _fail(self, what: str, error: Exception) -> None:
        log.exception("cannot %s", what)
        self._tell(f"cannot {what}: {type(error).__name__}: see --debug")

    def _tell(self, line: str) -> None:
        """Keep a line of news, the latest ones once each."""
        line = one_line(line)
        self._news = (*(one for one in self._news if one != line), line)[-NEWS_KEPT:]
