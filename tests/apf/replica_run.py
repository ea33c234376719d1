"""One scenario of a whole server, played by the model and held against the library event by event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from apftop.apf.borrowing import Adjustment
from apftop.apf.replica import Replica
from apftop.apf.simulate import Event, SimulatedRequest, Simulation
from tests.apf.limit_rows import limit_row, same_row
from tests.apf.objects_of import attributes_of, levels_of, schemas_of
from tests.apf.queueset_record import Outcomes, arrival, simulated, state_of
from tests.apf.releases import release_of
from tests.apf.vectors import close


class ReplicaRun:
    """One scenario played; each event is held against the library's as it happens."""

    def __init__(self, scenario: dict[str, Any], version: str, wanted: list[dict[str, Any]]) -> None:
        self.replica: Replica[SimulatedRequest] = Replica(scenario["server_cl"], release_of(version))
        self.adjustment: Adjustment | None = None
        self._changed = ""
        self._wanted = iter(wanted)
        self._simulation = Simulation(self.replica, self.after)
        self.requests = [simulated(one, attributes_of(one)) for one in scenario["requests"]]
        self._ids = {one: given["id"] for one, given in zip(self.requests, scenario["requests"], strict=True)}
        self._outcomes = Outcomes(self._ids)
        for digest in scenario["digests"]:
            given = schemas_of(digest["flow_schemas"]), levels_of(digest["priority_levels"])
            self._change_at(digest["t_ns"], "digest", partial(self.replica.digest, schemas=given[0], configs=given[1]))
        end = scenario["end_ns"]
        for tick in range(scenario["borrow_phase_ns"], end + 1, scenario["borrow_period_ns"]):
            self._change_at(tick, "borrow", self.replica.adjust)

    def look_at(self, at: int, look: Callable[[int], None]) -> None:
        self._simulation.look_at(at, look)

    def go(self) -> None:
        self._simulation.run(sorted(self.requests, key=lambda one: one.arrive_ns))
        assert next(self._wanted, None) is None

    def outcomes(self) -> list[dict[str, Any]]:
        """What became of the requests, in the order given."""
        return [
            self._outcomes.by_id[number] | {"fs": request.schema, "pl": request.level}
            for request, number in self._ids.items()
        ]

    def _change_at(
        self, at: int, name: str, change: Callable[[int], tuple[Adjustment, Sequence[SimulatedRequest]]]
    ) -> None:
        def apply(now: int) -> Sequence[SimulatedRequest]:
            self._changed = name
            self.adjustment, started = change(now)
            return started

        self._simulation.change_at(at, apply)

    def after(
        self, at: int, event: Event, request: SimulatedRequest | None, started: Sequence[SimulatedRequest]
    ) -> None:
        wanted = dict(next(self._wanted))
        found: dict[str, Any] = {"t": at, "e": event if request else self._changed}
        if started:
            found["d"] = [self._ids[one] for one in started]
        if request is None:
            assert self.adjustment is not None
            limits = wanted.pop("lim")
            assert close(self.adjustment.fair, wanted.pop("fair"))
            assert self.replica.levels.keys() == limits.keys()
            for name in limits:
                row = limit_row(self.replica.levels[name], self.adjustment, name)
                assert same_row(row, limits[name]), (at, name, row, limits[name])
        else:
            found |= {"id": self._ids[request], "pl": request.level}
            if event == "arrive":
                found |= {"fs": request.schema} | arrival(request)
            self._outcomes.note(at, event, request)
            found["s"] = state_of(self.replica.queue_sets[request.level])
        assert found == wanted
