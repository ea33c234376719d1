"""When one server is asked for what: lanes of their own pace, and rest for what refuses, fails or cannot be reached."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection

from apftop.failures import wait_s
from apftop.fetch import LOOK
from apftop.records.asking import Plan
from apftop.records.raw import OBJECTS, Endpoint, Sample

ORDER = (*(endpoint for endpoint in LOOK if endpoint not in OBJECTS), Endpoint.BACKEND)
"""The order of asking within a round. Objects are followed for all replicas together."""

SIZED = (Endpoint.QUEUES, Endpoint.REQUESTS)
"""Dumps that may be large: what the levels just said decides whether they are asked for."""

SIZES_HOLD_S = 2.5
"""Where the levels were asked for longer ago than this, they are asked for again just before such a dump."""

REST_S = 1.0
LONGEST_REST_S = 30.0
TOGETHER_S = 1.0
"""What falls due so shortly after something else goes along, at most a tenth of its own interval early."""

WAKE_S = 1.0
"""A wake does not ask again what was asked so shortly before: a key that is held down is no flood."""

WHOLE_AGAIN_S = 60.0
"""After a whole scrape that failed: until then families go by name, for a server that is too slow for all."""


class Pace:
    """The pace of one server. Times are seconds of a monotonic clock, which the caller reads.

    A slower lane waits for the next turn of the faster ones, so that what is asked tells of one moment: metrics go with
    dumps, and nothing is asked more often for it. A new lane does not wait so before its first turn. Nothing is due
    before `start`; `chance` gives the jitter, from 0 up to 1.
    """

    def __init__(self, plan: Plan, start: float, chance: Callable[[], float] = random.random) -> None:
        self._plan = plan
        self._new = set(plan.every_s)
        self._chance = chance
        self._quiet_until = start
        self._unreached = 0
        self._asked: dict[Endpoint, float] = {}
        self._failed: dict[Endpoint, int] = {}
        self._rests: dict[Endpoint, float] = {}
        self._whole_at = -math.inf

    @property
    def plan(self) -> Plan:
        """What is asked, and how often."""
        return self._plan

    @plan.setter
    def plan(self, plan: Plan) -> None:
        self._new |= plan.every_s.keys() - self._plan.every_s.keys()
        self._plan = plan

    def next_at(self) -> float:
        """When something falls due; infinite where nothing is planned."""
        return max(self._quiet_until, min(map(self._turn_at, self._lanes()), default=math.inf))

    def due(self, now: float, gone: Collection[Endpoint] = ()) -> tuple[Endpoint, ...]:
        """What to ask now, one after another; `gone` are those of this round that were asked already."""
        if not gone and now < self.next_at():
            return ()
        ready = {one for one in self._lanes() if one in gone or self._due_at(one) <= now + self._early(one)}
        turns = {one for one in ready if ready.issuperset(self._leads(one))}
        if Endpoint.METRICS in turns.difference(gone):
            turns |= {one for one in self._beside() if self._due_at(one) <= now + self._early(one)}
        due = tuple(one for one in ORDER if one in turns and one not in gone)
        return due if Endpoint.LEVELS in gone or self._sizes_hold(due, now) else (Endpoint.LEVELS, *due)

    def whole(self, now: float) -> bool:
        """Whether metrics are asked for in full."""
        return now >= self._whole_at

    @property
    def unreached(self) -> bool:
        """Whether the server could not be asked, the last time that it was tried."""
        return bool(self._unreached)

    def quiet(self, now: float) -> bool:
        """Whether the server is left alone for now."""
        return now < self._quiet_until

    def answered(self, asked: float, sample: Sample, *, whole: bool, go_on: bool, now: float) -> None:
        """Take in the answer to a question of `asked`; `go_on` says whether the next one may fare better.

        A refusal that says for how long (429 does always) is given that time and a jitter. An endpoint that fails (also
        by a status of the server's own, 500 and up) rests longer each time, and so does a server that gives no answer,
        knows us not (401) or is not there (503).
        """
        endpoint = sample.endpoint
        told = wait_s(sample.status, sample.header("retry-after") or "")
        failed = sample.error or ((sample.status or 0) >= 500 and not told)
        self._asked[endpoint] = asked
        self._new.discard(endpoint)
        self._failed[endpoint] = self._failed.get(endpoint, 0) + 1 if failed else 0
        self._rests[endpoint] = self._rest(self._failed[endpoint])
        if whole:
            every = self.plan.whole_every_s
            self._whole_at = asked + (every if sample.ok else min(every, WHOLE_AGAIN_S))
        if told:
            self._quiet_until = now + told + self._rest(1)
        elif not go_on or sample.status in (None, 401, 503):
            self._unreached += 1
            self._quiet_until = now + self._rest(self._unreached)
            if self._unreached > 1:
                # Twice in a row: it is the server and not the endpoint, which must not rest longer than it.
                self._failed.clear()
                self._rests.clear()
        else:
            self._unreached = 0

    def wake(self, now: float) -> None:
        """Let everything be due, whatever rest was given."""
        self._quiet_until = now
        self._unreached = 0
        self._failed.clear()
        self._rests.clear()
        self._asked = {endpoint: asked for endpoint, asked in self._asked.items() if now - asked < WAKE_S}

    def _lanes(self) -> list[Endpoint]:
        return [endpoint for endpoint in ORDER if endpoint in self.plan.every_s]

    def _beside(self) -> list[Endpoint]:
        return [endpoint for endpoint in self.plan.with_metrics if endpoint not in self.plan.every_s]

    def _leads(self, endpoint: Endpoint) -> list[Endpoint]:
        """The faster lanes, without which this one does not go; those that fail are none."""
        if endpoint in self._new or endpoint not in self._asked:
            return []
        lanes = sorted(self._lanes(), key=lambda one: self.plan.every_s[one])
        return [one for one in lanes[: lanes.index(endpoint)] if not self._failed.get(one)]

    def _turn_at(self, endpoint: Endpoint) -> float:
        return max(self._due_at(endpoint), *map(self._due_at, self._leads(endpoint)), -math.inf)

    def _sizes_hold(self, due: tuple[Endpoint, ...], now: float) -> bool:
        """Whether nothing that is due needs to know the sizes of dumps better than from the last levels."""
        levels = Endpoint.LEVELS
        if levels in due or levels not in self.plan.every_s or self._failed.get(levels):
            return True
        return now - self._asked.get(levels, -math.inf) <= SIZES_HOLD_S or not any(one in SIZED for one in due)

    def _due_at(self, endpoint: Endpoint) -> float:
        asked = self._asked.get(endpoint, -math.inf)
        return asked + max(self._every_s(endpoint), self._rests.get(endpoint, 0.0))

    def _every_s(self, endpoint: Endpoint) -> float:
        own = self.plan.every_s.get(endpoint)
        return self.plan.with_metrics[endpoint] if own is None else own

    def _early(self, endpoint: Endpoint) -> float:
        return min(TOGETHER_S, self._every_s(endpoint) / 10)

    def _rest(self, failures: int) -> float:
        """Seconds to leave alone what failed so often in a row: doubled each time up to the longest, less a jitter."""
        if not failures:
            return 0.0
        return min(LONGEST_REST_S, REST_S * 2.0 ** min(failures - 1, 10)) * (1 - self._chance() / 2)
