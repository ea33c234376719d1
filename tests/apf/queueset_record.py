"""Requests of the vectors, and the record of a run in the words of the vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

from apftop.apf.attributes import Attributes
from apftop.apf.queueset import QueueSet
from apftop.apf.shards import flow_hash
from apftop.apf.simulate import Event, SimulatedRequest

NAMES = {"change": "config"}


def simulated(given: dict[str, Any], attributes: Attributes | None = None) -> SimulatedRequest:
    """A request of the vectors; its wait limit counts from its arrival."""
    wait_limit = given.get("wait_limit_ns")
    return SimulatedRequest(
        given["t_ns"],
        given["dur_ns"],
        attributes,
        flow_hash=given["hash"] if "hash" in given else flow_hash(given.get("fs", ""), given.get("fd", "")),
        initial_seats=given["iseats"],
        final_seats=given.get("fseats", 0),
        additional_latency_ns=given.get("addl_ns", 0),
        time_out_ns=None if wait_limit is None else given["t_ns"] + wait_limit,
        cancel_ns=given.get("cancel_ns"),
    )


def state_of(queue_set: QueueSet[SimulatedRequest]) -> list[int]:
    """The state of a level as the vectors have it under `s`."""
    return [
        queue_set.waiting,
        queue_set.executing,
        queue_set.seats_in_use,
        queue_set.seats_waiting,
        queue_set.r,
        queue_set.robin,
        queue_set.arrivals,
        len(queue_set.queues),
    ]


def arrival(request: SimulatedRequest) -> dict[str, Any]:
    """What became of a request on arrival: the queue chosen, if any, and the result."""
    result = request.refusal or ("queued" if request.state == "waiting" else "dispatched")
    if request.refusal is None and request.queue is not None:
        return {"q": request.queue.index, "r": result}
    return {"r": result}


class Outcomes:
    """What became of the requests of a run, by id, in the words of the vectors."""

    def __init__(self, ids: dict[SimulatedRequest, int]) -> None:
        self._ids = ids
        self.by_id: dict[int, dict[str, Any]] = {}

    def note(self, at: int, event: Event, request: SimulatedRequest) -> None:
        number = self._ids[request]
        outcome = self.by_id.setdefault(number, {"id": number})
        match event:
            case "arrive":
                result = arrival(request)
                outcome |= {"o": request.refusal or "waiting", "w": result.pop("r") == "queued"} | result
                if request.refusal:
                    outcome["et"] = at
            case "release":
                outcome["rt"] = at
            case "finish" | "finish-cancelled":
                outcome |= {"o": "executed", "dt": request.start_ns, "et": request.end_ns}
            case _:
                outcome |= {"o": event, "et": request.end_ns}


class Record:
    """The events of one run, with the rows of queues that changed, as the vectors have them."""

    def __init__(self, queue_set: QueueSet[SimulatedRequest], ids: dict[SimulatedRequest, int]) -> None:
        self.queue_set = queue_set
        self.ids = ids
        self.events: list[dict[str, Any]] = []
        self.outcomes = Outcomes(ids)
        self._rows = [astuple(queue.state()) for queue in queue_set.queues]

    def __call__(
        self, at: int, event: Event, request: SimulatedRequest | None, started: Sequence[SimulatedRequest]
    ) -> None:
        found: dict[str, Any] = {"t": at, "e": NAMES.get(event, event)}
        if request is not None:
            found["id"] = self.ids[request]
            if event == "arrive":
                found |= arrival(request)
            self.outcomes.note(at, event, request)
        if started:
            found["d"] = [self.ids[one] for one in started]
        found["s"] = state_of(self.queue_set)
        rows = [astuple(queue.state()) for queue in self.queue_set.queues]
        same_number = len(rows) == len(self._rows)
        changed = [list(row) for i, row in enumerate(rows) if not same_number or row != self._rows[i]]
        if changed:
            found["qs"] = changed
        self._rows = rows
        self.events.append(found)
