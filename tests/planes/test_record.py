"""The recorder: all that it writes can be read."""

from __future__ import annotations

import gzip
import json
from itertools import chain
from pathlib import Path

import pytest

from apftop.parse.body import TEXT
from apftop.parse.dumps import parse_levels, parse_queues, parse_requests
from apftop.parse.metrics import parse_metrics
from apftop.parse.objects import parse_objects
from tests.planes.plane import Plane
from tests.planes.record import record, waiting_intervals
from tests.planes.recorded_runs import RUNS

SCENARIO = RUNS[0]
SLACK_NS = 5_000_000


@pytest.mark.parametrize("plane", [SCENARIO.version], indirect=True)
def test_a_short_recording_can_be_read(plane: Plane, tmp_path: Path) -> None:
    record(plane, SCENARIO, tmp_path, seconds=6, interval=1.0)

    with gzip.open(tmp_path / f"{SCENARIO.name}.jsonl.gz", "rt") as file:
        lines = [json.loads(line) for line in file]
    assert {line["replica"] for line in lines} == {0, 1, 2}
    for line in lines:
        stamps = line["stamps"]
        bodies = {endpoint: line[endpoint].encode() for endpoint in stamps}
        levels, queues = parse_levels(bodies["dump_priority_levels"]), parse_queues(bodies["dump_queues"])
        requests, metrics = parse_requests(bodies["dump_requests"]), parse_metrics(bodies["metrics"], TEXT)
        assert (levels.bad, queues.bad, requests.bad, metrics.problems) == ((), (), (), ())
        assert "load" in {row.name for row in levels.rows}
        assert [row.index for row in queues.rows] == list(range(16))
        assert "apiserver_flowcontrol_current_limit_seats" in metrics.families

        times = list(chain.from_iterable(stamps.values()))
        assert times == sorted(times)
        assert line["t"] == times[0]
        own = max(row.arrive_ns for row in requests.rows if row.details and "dump_requests" in row.details.path)
        sent, _, received = (seconds * 1e9 for seconds in stamps["dump_requests"])
        assert sent - SLACK_NS <= own <= received + SLACK_NS
    assert waiting_intervals(lines, ["load"])["load/0"] > 0

    about = json.loads((tmp_path / f"{SCENARIO.name}.objects.json").read_text())
    assert "load" in {schema.name for schema in parse_objects(json.dumps(about["flowschemas"]).encode()).schemas}
    assert "load" in {config.name for config in parse_objects(json.dumps(about["prioritylevels"]).encode()).configs}
    with gzip.open(tmp_path / f"{SCENARIO.name}.client.json.gz", "rt") as file:
        requests_seen = json.load(file)["requests"]
    assert {"elephant", "mouse0", "lister"} <= {request["user"] for request in requests_seen}
