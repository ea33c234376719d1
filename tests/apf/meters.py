"""What the server measures of itself, counted from what the model decides: every family that the vectors show."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence

from apftop.apf.borrowing import Adjustment
from apftop.apf.replica import Replica
from apftop.apf.simulate import Event, SimulatedRequest
from apftop.records.parsed import Labels
from tests.apf.dispatches import Dispatches

SECONDS = (0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30)
LENGTHS = (0, 10, 25, 50, 100, 250, 500, 1000)
DEMAND = ("high_watermark", "average", "deviation", "smoothed")
SCALE = 1e8


class Hist:
    """Observations by bucket, cumulative as a scrape shows them."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self._counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        self._counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    @property
    def cumulative(self) -> tuple[int, ...]:
        return tuple(sum(self._counts[: end + 1]) for end in range(len(self._counts)))


class Meters:
    """The families by name without their prefix, each a number or a histogram by labels; series are never removed.

    `widths` are those that the requests came with.
    """

    def __init__(self, replica: Replica[SimulatedRequest], widths: Mapping[SimulatedRequest, int]) -> None:
        self.numbers: dict[str, dict[Labels, float]] = defaultdict(dict)
        self.histograms: dict[str, dict[Labels, Hist]] = defaultdict(dict)
        self._replica = replica
        self._told: dict[str, Dispatches] = {}
        self._widths = widths
        self._exempt: set[SimulatedRequest] = set()

    def changed(self, adjustment: Adjustment) -> None:
        """A configuration was read, or seats were lent anew."""
        self.numbers["seat_fair_frac"][()] = adjustment.fair
        for name, level in self._replica.levels.items():
            values = {"nominal_limit_seats": level.limits.nominal, "lower_limit_seats": level.limits.lower}
            values |= {"upper_limit_seats": level.limits.upper, "current_limit_seats": level.current}
            values |= {f"demand_seats_{one}": getattr(level.stats, one) for one in DEMAND}
            values["demand_seats_stdev"] = values.pop("demand_seats_deviation")
            values["request_concurrency_limit"] = level.limits.nominal
            for family, value in values.items():
                self.numbers[family][_level(name)] = value
            if name in adjustment.targets:
                self.numbers["target_seats"][_level(name)] = adjustment.targets[name]
        for name, queue_set in self._replica.queue_sets.items():
            if queue_set.observer is None:
                self._told[name] = Dispatches(queue_set)

    def after(
        self, at: int, event: Event, request: SimulatedRequest | None, started: Sequence[SimulatedRequest]
    ) -> None:
        """One event, and those that it started; what came of a change is told first."""
        if request is not None and event == "arrive":
            self._arrived(request, started)
        elif request is not None and event in ("time-out", "cancelled"):
            self._reject(request, "time-out")
            self._add_waiting(request, -1, -request.width)
            self._observe_wait(request, at, executes="true")
        elif request is not None and event != "release":
            self._add(request, "current_executing_requests", -1)
            kind = "watch" if request.attributes and request.attributes.verb == "watch" else "regular"
            taken = (at - request.start_ns) / 1e9
            self._hist(request, "request_execution_seconds", SECONDS, type=kind).observe(taken)
        if request is not None and request.state == "done":
            self._add_seats(request, -request.width)
        for one in started:
            self._started(one, at)
        self._virtual_times()

    def _arrived(self, request: SimulatedRequest, started: Sequence[SimulatedRequest]) -> None:
        if self._replica.levels[request.level].config.exempt:
            self._exempt.add(request)
        if request.refusal is not None:
            self._reject(request, request.refusal)
            self._observe_wait(request, request.arrive_ns, executes="false")
        elif request.queue is not None:
            self._add_waiting(request, 1, self._widths[request])
            length = len(request.queue.waiting) + sum(one.queue is request.queue for one in started)
            self._hist(request, "request_queue_length_after_enqueue", LENGTHS).observe(length)

    def _started(self, request: SimulatedRequest, at: int) -> None:
        if request.queue is not None:
            # Of final seats that were cut, what was cut off is never taken back.
            self._add_waiting(request, -1, -request.width)
        self._add(request, "current_executing_requests", 1)
        self._add(request, "dispatched_requests_total", 1)
        self._add_seats(request, request.width)
        if request not in self._exempt:
            self._observe_wait(request, at, executes="true")

    def _virtual_times(self) -> None:
        for name, queue_set in self._replica.queue_sets.items():
            self.numbers["current_r"][_level(name)] = queue_set.r / SCALE
        for name, told in self._told.items():
            if told.all:
                r, start, least, most, least_discounted, most_discounted = (value / SCALE for value in told.all[-1])
                self.numbers["dispatch_r"][_level(name)] = r
                self.numbers["latest_s"][_level(name)] = start
                self._bounds("next_s_bounds", name, least, most)
                self._bounds("next_discounted_s_bounds", name, least_discounted, most_discounted)
            for request in told.unfits:
                self._add(request, "request_dispatch_no_accommodation_total", 1)
            told.unfits.clear()

    def _bounds(self, family: str, level: str, least: float, most: float) -> None:
        for bound, value in (("min", least), ("max", most)):
            self.numbers[family][("bound", bound), *_level(level)] = value

    def _add(self, request: SimulatedRequest, family: str, number: float, **more: str) -> None:
        series = self.numbers[family]
        key = _labels(request, **more)
        series[key] = series.get(key, 0) + number

    def _add_seats(self, request: SimulatedRequest, seats: int) -> None:
        self._add(request, "current_executing_seats", seats)
        self._add(request, "request_concurrency_in_use", seats)

    def _add_waiting(self, request: SimulatedRequest, requests: int, seats: int) -> None:
        self._add(request, "current_inqueue_requests", requests)
        self._add(request, "current_inqueue_seats", seats)

    def _reject(self, request: SimulatedRequest, reason: str) -> None:
        self._add(request, "rejected_requests_total", 1, reason=reason)

    def _observe_wait(self, request: SimulatedRequest, at: int, *, executes: str) -> None:
        histogram = self._hist(request, "request_wait_duration_seconds", SECONDS, execute=executes)
        histogram.observe((at - request.arrive_ns) / 1e9)

    def _hist(self, request: SimulatedRequest, family: str, bounds: Sequence[float], **more: str) -> Hist:
        return self.histograms[family].setdefault(_labels(request, **more), Hist(bounds))


def _level(name: str) -> Labels:
    return (("priority_level", name),)


def _labels(request: SimulatedRequest, **more: str) -> Labels:
    return tuple(sorted({"priority_level": request.level, "flow_schema": request.schema, **more}.items()))
