"""A whole replica against a plain one: levels that come, change and go, borrowing rounds and requests at random."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from apftop.apf.attributes import attributes
from apftop.apf.borrowing import Borrower, adjust
from apftop.apf.builtins import mandatory_level
from apftop.apf.demand import DemandStats, Observation, advance
from apftop.apf.objects import FlowSchema, Meta, PriorityLevelConfiguration, Queuing, ResourceRule, Rule, Subject
from apftop.apf.release import Release
from apftop.apf.replica import Replica
from apftop.apf.request import Request
from apftop.apf.shards import flow_hash
from apftop.apf.simulate import Event, SimulatedRequest, Simulation
from tests.apf.naive_queueset import NaiveQueueSet, go_round
from tests.apf.queueset_record import state_of

MS = 10**6
SERVER = 20
USERS = ("a", "b", "c", "d")
RELEASES = [Release(1, 26, 3), Release(1, 27, 16), Release(1, 28, 4), Release(1, 30, 4), Release(1, 37, 2)]
LAZY_LIMIT_NS = 60 * MS
EVERYTHING = ResourceRule(("*",), ("*",), ("*",), ("*",), cluster_scope=True)


@dataclass(frozen=True)
class Configuration:
    """Objects: levels, and of each schema its name, precedence, level and users."""

    levels: tuple[PriorityLevelConfiguration, ...]
    routes: tuple[tuple[str, int, str, tuple[str, ...]], ...]

    @property
    def schemas(self) -> list[FlowSchema]:
        return [
            FlowSchema(
                Meta(name),
                level,
                precedence,
                "ByUser",
                (Rule(tuple(Subject("User", user) for user in users), (EVERYTHING,)),),
            )
            for name, precedence, level, users in self.routes
        ]

    def place(self, user: str, groups: Sequence[str]) -> tuple[str, str]:
        """Names of schema and level."""
        if "system:masters" in groups:
            return "exempt", "exempt"
        names = {level.name for level in self.levels}
        for _, name, level, users in sorted((p, n, level, users) for n, p, level, users in self.routes):
            if level in names and user in users:
                return name, level
        return "catch-all", "catch-all"


@dataclass
class State:
    """One level of the plain server; `period` is what was noted of its demand since the last round."""

    config: PriorityLevelConfiguration
    current: int = 0
    limits: tuple[int, int, int] = (0, 0, 0)
    stats: DemandStats = field(default_factory=DemandStats)
    queue_set: NaiveQueueSet | None = None
    since: tuple[int, int] = (0, 0)

    def observe(self, now: int) -> Observation:
        """Moments of the demand since `since`, in the order in which the server adds them up."""
        assert self.queue_set is not None
        noted, self.queue_set.demands = self.queue_set.demands, []
        elapsed = integral = squares = 0.0
        (last, seats), most = self.since, self.since[1]
        for at, now_seats in (*noted, (now, -1)):
            seconds = (at - last) // 10**9 + (at - last) % 10**9 / 1e9
            elapsed += seconds
            integral += seats * seconds
            squares += seats * seats * seconds
            last, seats = (at, now_seats) if now_seats >= 0 else (at, seats)
            most = max(most, seats)
        self.since = (now, seats)
        average = integral / elapsed if elapsed else math.nan
        variance = squares / elapsed - average * average if elapsed else math.nan
        return Observation(elapsed, average, math.sqrt(variance) if variance >= 0 else math.nan, most)


class PlainReplica:
    """The levels of one server by the order of steps that the server takes."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self.lazy_limit_ns = LAZY_LIMIT_NS if release < (1, 28, 5) else None
        self.states: dict[str, State] = {}
        self.configuration = Configuration((), ())
        self.home: dict[Request, NaiveQueueSet] = {}
        self.digest(0, self.configuration)

    def digest(self, now: int, configuration: Configuration) -> list[Request]:
        self.configuration = configuration
        states: dict[str, State] = {}
        for config in configuration.levels:
            states[config.name] = self.states.get(config.name) or State(config, since=(now, 0))
            states[config.name].config = config
        for name, state in self.states.items():
            queue_set = state.queue_set
            assert queue_set is not None
            idle = not queue_set.waiting and not queue_set.executing
            if name not in states and (name in ("exempt", "catch-all") or not idle):
                states[name] = state
        for name in ("exempt", "catch-all"):
            if name not in states:
                states[name] = State(mandatory_level(name), since=(now, 0))
        self.states = states
        counted = [one for one in states.values() if self.release >= (1, 28) or not one.config.exempt]
        shares = sum(one.config.shares for one in counted)
        for one in counted:
            nominal = math.ceil(float(SERVER) * float(one.config.shares) / shares)
            lendable = go_round(nominal * one.config.lendable_percent / 100)
            percent = one.config.borrowing_limit_percent
            borrowing = SERVER if percent is None or one.config.exempt else go_round(nominal * percent / 100)
            one.limits = nominal, nominal - lendable, nominal + borrowing
            if one.queue_set is None:
                one.current = nominal - lendable // 2
        return self.adjust(now)

    def adjust(self, now: int) -> list[Request]:
        for one in self.states.values():
            if one.queue_set is not None:
                one.stats = advance(one.stats, one.observe(now), self.release)
        borrowers = {
            name: Borrower(one.config.exempt, *one.limits, one.current, one.stats.high_watermark, one.stats.smoothed)
            for name, one in self.states.items()
        }
        for name, current in adjust(borrowers, self.release).current.items():
            self.states[name].current = current
        started: list[Request] = []
        for _, one in sorted(self.states.items()):
            queuing, exempt = one.config.queuing, one.config.exempt
            if one.queue_set is None:
                one.queue_set = NaiveQueueSet(queuing, one.current, exempt, self.lazy_limit_ns, now)
            else:
                started += one.queue_set.reconfigure(now, queuing, one.current, exempt)
        return started


class Pair:
    """A replica and its plain twin, compared after each event."""

    def __init__(self, release: Release) -> None:
        self.replica: Replica[SimulatedRequest] = Replica(SERVER, release, request_timeout_ns=4 * LAZY_LIMIT_NS)
        self.twin = PlainReplica(release)
        self.simulation = Simulation(self.replica, self.after)
        self._turned_out: list[SimulatedRequest] = []
        self._finals: dict[SimulatedRequest, tuple[int, int]] = {}
        self.compare()

    def change(self, at: int, to: Configuration | None) -> None:
        def apply(now: int) -> Sequence[SimulatedRequest]:
            if to is None:
                started = self.replica.adjust(now)[1]
                assert [*started] == self.twin.adjust(now)
            else:
                started = self.replica.digest(now, to.schemas, to.levels)[1]
                assert [*started] == self.twin.digest(now, to)
            return started

        self.simulation.change_at(at, apply)

    def run(self, requests: list[SimulatedRequest]) -> None:
        self._finals = {one: (one.final_seats, one.additional_latency_ns) for one in requests}
        self.simulation.run(requests)

    def after(
        self, at: int, event: Event, request: SimulatedRequest | None, started: Sequence[SimulatedRequest]
    ) -> None:
        if request is None:
            self.compare()
            return
        if event == "time-out" and request in self.replica.overdue:
            # Its arrival is told of next; only then does the twin know.
            self._turned_out.append(request)
            return
        if event == "arrive":
            self._arrived(at, request, started)
        elif event in ("time-out", "cancelled"):
            self.twin.home[request].give_up(at, request)
        else:
            home = self.twin.home[request]
            assert [*started] == (home.release if event == "release" else home.finish)(at, request)
        self._compare(request.level)

    def _arrived(self, at: int, request: SimulatedRequest, started: Sequence[SimulatedRequest]) -> None:
        assert request.attributes is not None
        user = request.attributes.user
        schema, level = self.twin.configuration.place(user, request.attributes.groups)
        assert (request.schema, request.level) == (schema, level)
        state = self.twin.states[level]
        assert state.queue_set is not None
        self.twin.home[request] = state.queue_set
        queues = state.config.queuing.queues if state.config.queuing else 0
        cost = request.initial_seats, *self._finals[request], flow_hash(schema, user) if queues > 1 else 0
        found = [*started], request.refusal, self._turned_out
        assert found == state.queue_set.arrive(at, request, *cost)
        self._turned_out = []

    def compare(self) -> None:
        assert self.replica.levels.keys() == self.replica.queue_sets.keys() == self.twin.states.keys()
        wanted = {level.name for level in self.twin.configuration.levels}
        for name, state in self.twin.states.items():
            level, queue_set = self.replica.levels[name], self.replica.queue_sets[name]
            self._compare(name)
            its = level.limits
            assert (its.nominal, its.lower, its.upper, level.current) == (*state.limits, state.current)
            assert queue_set.limit == state.current
            # Not nearly: the same sums in the same order. NaN is itself.
            assert repr(level.stats) == repr(state.stats)
            assert level.quiescing == (name not in wanted and name not in ("exempt", "catch-all"))
            assert level.demand.seats == queue_set.demand

    def _compare(self, name: str) -> None:
        """The queues of one level, unless it went while a request was in it."""
        queue_set, state = self.replica.queue_sets.get(name), self.twin.states.get(name)
        assert (queue_set is None) == (state is None)
        if queue_set is not None and state is not None and state.queue_set is not None:
            rows = [astuple(queue.state()) for queue in queue_set.queues]
            assert [*state_of(queue_set), rows] == state.queue_set.state()


def queuings(queues: int) -> st.SearchStrategy[Queuing]:
    return st.builds(
        Queuing,
        queues=st.just(queues),
        hand_size=st.integers(1, min(queues, 3)),
        queue_length_limit=st.integers(1, 3),
    )


def level(name: str, *, queues: bool) -> st.SearchStrategy[PriorityLevelConfiguration]:
    return st.builds(
        PriorityLevelConfiguration,
        meta=st.just(Meta(name)),
        exempt=st.just(name == "exempt"),
        shares=st.integers(0, 30),
        lendable_percent=st.sampled_from((0, 33, 50, 100)),
        borrowing_limit_percent=st.none() if name == "exempt" else st.sampled_from((None, 0, 50, 200)),
        queuing=st.none() | st.sampled_from((1, 2, 4, 8)).flatmap(queuings) if queues else st.none(),
    )


catch_all = st.builds(
    PriorityLevelConfiguration, meta=st.just(Meta("catch-all")), exempt=st.just(False), shares=st.integers(1, 30)
)
configurations = st.builds(
    lambda levels, routes: Configuration(tuple(one for one in levels if one), tuple(routes)),
    st.tuples(
        *(st.none() | level(name, queues=True) for name in "pqr"),
        st.none() | level("exempt", queues=False),
        st.none() | catch_all,
    ),
    st.lists(
        st.tuples(
            st.sampled_from(("s", "t", "u", "a-b", "a.b")),
            st.sampled_from((10, 20)),
            st.sampled_from(("p", "q", "r", "p", "q", "exempt", "catch-all", "nowhere")),
            st.sets(st.sampled_from(USERS), min_size=1).map(lambda users: tuple(sorted(users))),
        ),
        unique_by=lambda route: route[0],
        min_size=1,
        max_size=4,
    ),
)
moments = st.integers(0, 60).map(lambda step: 5 * MS * step) | st.integers(0, 300 * MS)


def stream(rng: random.Random) -> list[SimulatedRequest]:
    """Up to 40 requests; from a seed, since to draw each number apart would take most of the time."""
    found, now = [], 0
    for _ in range(rng.randrange(41)):
        now += rng.choice((0, 5 * MS, rng.randrange(12 * MS)))
        masters = ("system:masters",) if rng.randrange(10) == 0 else ()
        final = rng.choice((0, 0, 3, 12))
        found.append(
            SimulatedRequest(
                now,
                rng.choice((30 * MS, rng.randrange(90 * MS))),
                attributes("GET", "/api/v1/pods", user=rng.choice(USERS), groups=masters),
                initial_seats=rng.choice((1, 1, 2, 8)),
                final_seats=final,
                additional_latency_ns=rng.choice((0, 5 * MS, 31 * MS)) if final else 0,
                time_out_ns=rng.choice((None, now + rng.randrange(90 * MS))),
                cancel_ns=rng.choice((None, None, now + rng.randrange(150 * MS))),
            )
        )
    return found


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(RELEASES),
    configurations,
    st.integers(0, 2**32),
    st.lists(st.tuples(moments, st.none() | configurations), max_size=6),
)
def test_a_replica_goes_the_way_of_its_plain_twin(
    release: Release,
    first: Configuration,
    seed: int,
    later: list[tuple[int, Configuration | None]],
) -> None:
    pair = Pair(release)
    pair.change(0, first)
    for at, to in later:
        pair.change(at, to)
    pair.run(stream(random.Random(seed)))
