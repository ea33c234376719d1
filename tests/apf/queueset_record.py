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


class Record:
    """The events of one run, with the rows of queues that changed, as the vectors have them."""

    def __init__(self, queue_set: QueueSet[SimulatedRequest], ids: dict[SimulatedRequest, int]) -> None:
        self.queue_set = queue_set
        self.ids = ids
        self.events: list[dict[str, Any]] = []
        self.outcomes: dict[int, dict[str, Any]] = {}
        self._rows = [astuple(queue.state()) for queue in queue_set.queues]

    def __call__(
        self, at: int, event: Event, request: SimulatedRequest | None, started: Sequence[SimulatedRequest]
    ) -> None:
        found: dict[str, Any] = {"t": at, "e": NAMES.get(event, event)}
        if request is not None:
            found["id"] = self.ids[request]
        if event == "arrive":
            assert request is not None
            if request.refusal is None and request.queue is not None:
                found["q"] = request.queue.index
            found["r"] = request.refusal or ("queued" if request.state == "waiting" else "dispatched")
        if started:
            found["d"] = [self.ids[one] for one in started]
        found["s"] = state_of(self.queue_set)
        self._note_outcome(at, event, request, found)
        rows = [astuple(queue.state()) for queue in self.queue_set.queues]
        same_number = len(rows) == len(self._rows)
        changed = [list(row) for i, row in enumerate(rows) if not same_number or row != self._rows[i]]
        if changed:
            found["qs"] = changed
        self._rows = rows
        self.events.append(found)

    def _note_outcome(self, at: int, event: Event, request: SimulatedRequest | None, found: dict[str, Any]) -> None:
        if request is None:
            return
        outcome = self.outcomes.setdefault(found["id"], {"id": found["id"]})
        if event == "arrive":
            outcome |= {"o": request.refusal or "waiting", "w": found["r"] == "queued"}
            if "q" in found:
                outcome["q"] = found["q"]
            if request.refusal:
                outcome["et"] = at
        elif event == "release":
            outcome["rt"] = at
        elif event in ("finish", "finish-cancelled"):
            outcome |= {"o": "executed", "dt": request.start_ns, "et": request.end_ns}
        else:
            outcome |= {"o": event, "et": request.end_ns}
