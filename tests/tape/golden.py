"""Makes the golden tape of this format: `python -m tests.tape.golden FILE`. What it holds is said in test_golden.py.

One that was made once stays: later versions have to read it as it is. A new format gets a new file.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

from apftop.records.raw import Endpoint, Sample
from apftop.records.tape import Mark, Note, Pulse
from tests.recording import SHIPPED, recordings
from tests.tape.taping import Recorder

BEGAN = 1_800_000_000.0
REPLICAS = ("0", "1")
STEP_S = 5.0
SEGMENT_S = 25.0
METRICS = (
    b"apiserver_flowcontrol_current_inqueue_requests",
    b"apiserver_flowcontrol_current_executing_requests",
    b"apiserver_flowcontrol_dispatched_requests_total",
    b"apiserver_flowcontrol_nominal_limit_seats",
    b"kubernetes_build_info",
    b"process_start_time_seconds",
)
GONE = (6, 8)
"""Steps in which replica 1 does not answer."""
RESTARTED = 9
CHANGED = 5
SECOND_RECORDER = 12
STEPS = 16


def main() -> None:
    path = Path(sys.argv[1])
    told = _told()
    for first, last in ((0, SECOND_RECORDER), (SECOND_RECORDER, STEPS)):
        with Recorder(path, segment_s=SEGMENT_S) as recorder:
            for step in range(first, last):
                at = BEGAN + STEP_S * step
                for name in REPLICAS:
                    for sample in _samples(told[name], name, step, at):
                        recorder.take(sample, at)
                recorder.note(_note(step, at), at)


def _told() -> dict[str, dict[Endpoint, bytes]]:
    """What two replicas said once, each of it smaller than it was."""
    recording = next(one for one in recordings(SHIPPED) if one.name == "contention-1.37.2")
    scrapes = {one.replica: one for one in reversed(recording.scrapes) if one.replica in REPLICAS}
    return {name: {key: _less(body) for key, body in scrape.bodies.items()} for name, scrape in scrapes.items()}


def _less(body: bytes) -> bytes:
    lines = body.splitlines(keepends=True)
    return b"".join(line for line in lines if b"apiserver_" not in line or any(name in line for name in METRICS))


def _samples(bodies: dict[Endpoint, bytes], name: str, step: int, at: float) -> list[Sample]:
    if name == "1" and GONE[0] <= step < GONE[1]:
        return [Sample(name, Endpoint.METRICS, error="connection refused", sent=at, received=at + 0.1)]
    found = []
    for endpoint, body in bodies.items():
        if endpoint is Endpoint.METRICS and name == "1" and step >= RESTARTED:
            body = b"".join(map(_restarted, body.splitlines(keepends=True)))
        found.append(_sample(name, endpoint, body, at))
    if step in (0, CHANGED):
        found += [
            _sample(name, endpoint, _objects(endpoint, step), at) for endpoint in (Endpoint.SCHEMAS, Endpoint.CONFIGS)
        ]
    return found


def _restarted(line: bytes) -> bytes:
    return b"process_start_time_seconds 1.80000004e+09\n" if line.startswith(b"process_start_time") else line


def _sample(name: str, endpoint: Endpoint, body: bytes, at: float) -> Sample:
    headers = (("content-type", "text/plain"), ("set-cookie", "secret"), ("authorization", "Bearer secret"))
    return replace(
        Sample(name, endpoint, body, 200),
        content_type="text/plain",
        sent=at,
        received=at + 0.1,
        begun=at + 0.05,
        server_date=float(int(at)),
        headers=headers,
        wire_bytes=len(body) // 5,
    )


def _objects(endpoint: Endpoint, step: int) -> bytes:
    """One flow schema, of another precedence from the change on, or its level."""
    meta = {"name": "load", "uid": f"uid-{endpoint}", "generation": 1 + (step >= CHANGED)}
    if endpoint is Endpoint.SCHEMAS:
        kind = "FlowSchema"
        spec: object = {
            "matchingPrecedence": 500 + step,
            "priorityLevelConfiguration": {"name": "load"},
            "distinguisherMethod": {"type": "ByUser"},
            "rules": [
                {
                    "subjects": [{"kind": "Group", "group": {"name": "loaders"}}],
                    "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"]}],
                }
            ],
        }
    else:
        kind = "PriorityLevelConfiguration"
        queuing = {"queues": 16, "handSize": 4, "queueLengthLimit": 12}
        limited = {"nominalConcurrencyShares": 25, "limitResponse": {"type": "Queue", "queuing": queuing}}
        spec = {"type": "Limited", "limited": limited}
    group = "flowcontrol.apiserver.k8s.io/v1"
    items = [{"apiVersion": group, "kind": kind, "metadata": meta, "spec": spec}]
    return json.dumps({"apiVersion": group, "kind": f"{kind}List", "items": items}).encode()


def _note(step: int, at: float) -> Note:
    marks = {
        0: Mark(at, "recording", "a recorder began"),
        CHANGED: Mark(at, "config", "FlowSchema load: precedence 500 -> 505"),
        GONE[0]: Mark(at, "gap", "no longer answers", "1"),
        GONE[1]: Mark(at, "back", "answers again", "1"),
        RESTARTED: Mark(at, "restart", "is another process now", "1"),
        10: Mark(at, "found", "load is full", "", "level-full", "load", "warning"),
        SECOND_RECORDER: Mark(at, "recording", "a recorder began again"),
    }
    return Note(tuple(mark for key, mark in marks.items() if key == step), (Pulse(at, float(step), None, "warning"),))


if __name__ == "__main__":
    main()
