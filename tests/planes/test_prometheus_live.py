"""History out of a real Prometheus that scrapes real servers: it says what a tape of the same time says."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from apftop.history.opened import Opened
from apftop.parse.metrics import parse_metrics
from apftop.present import utc
from apftop.prometheus.store import store
from apftop.records.asking import Demand
from apftop.records.parsed import Metrics
from apftop.records.raw import Endpoint, Sample
from apftop.tape.reading import Tape, open_tape
from tests.planes.build import BUILD_SECONDS
from tests.planes.found_runs import one_elephant
from tests.planes.plane import Plane
from tests.planes.scenario import happen, prepared
from tests.planes.watched import ways
from tests.prometheus.running import Job, running
from tests.replay.seeing import seeing

SECONDS = 25.0
SCRAPE_S = 1.5
"""An answer to a scrape is made within so long a time."""
RESET_S = 10.0
ENOUGH = 30
"""Of so many requests a share says something."""
BELIEVED = 5.0
"""Rates of a steady load over two times are not further apart than so many standard deviations."""

pytestmark = pytest.mark.timeout(3 * BUILD_SECONDS)
Json = dict[str, Any]


@dataclass(frozen=True)
class Seen:
    """The same time on a tape and in a store; `began` and `ended` are Unix seconds."""

    tape_path: Path
    url: str
    began: float
    ended: float


@pytest.fixture(scope="module")
def seen(prometheus: Path, plane: Plane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    folder, scenario = tmp_path_factory.mktemp("prometheus"), one_elephant(plane)
    token = folder / "token"
    token.touch(mode=0o600)
    token.write_text(plane.tokens["admin"])
    job = Job(plane.urls, 2, token_file=token, ca_file=plane.ca_file)
    tape = folder / "tape"
    with running(prometheus, folder, job) as url:
        with prepared(plane, scenario), seeing(ways(plane), tape, Demand(2.0)):
            began = time.time()
            happen(plane, scenario, SECONDS)
            ended = time.time()
        yield Seen(tape, url, began, ended)


def metrics_on(tape: Tape) -> dict[str, list[Sample]]:
    """The answers with metrics on a tape, by server and in order."""
    found: dict[str, list[Sample]] = {}
    for number in range(len(tape.segments)):
        for one in tape.taken(number):
            if isinstance(one.what, Sample) and one.what.endpoint is Endpoint.METRICS and one.what.ok:
                found.setdefault(one.what.replica, []).append(one.what)
    return found


def parsed(sample: Sample) -> Metrics:
    return parse_metrics(sample.body, sample.content_type)


def counters(metrics: Metrics) -> dict[tuple[str, object, object], float]:
    """All that only rises: counters, and the buckets and counts of histograms."""
    found: dict[tuple[str, object, object], float] = {}
    for name, family in metrics.families.items():
        if not name.startswith("apiserver_flowcontrol_"):
            continue
        if name.endswith("_total"):
            found |= {(name, labels, None): value for labels, value in family.values.items()}
        for labels, one in family.histograms.items():
            found |= {(name, labels, bound): count for bound, count in zip(one.bounds, one.cumulative, strict=False)}
            found[name, labels, "count"] = one.count
    return found


def limits(metrics: Metrics, name: str) -> Mapping[Any, float]:
    return metrics.families[f"apiserver_flowcontrol_{name}_limit_seats"].values


def test_each_scrape_lies_between_the_answers_around_it(seen: Seen) -> None:
    opened = Opened(store(seen.url, environment={}), None)
    whole = opened.between(seen.began + 5, seen.ended, 2.0)
    opened.close()
    taped = metrics_on(open_tape(seen.tape_path))

    assert {one.replica for one in whole.read.samples} == set(taped)
    compared = 0
    for scrape in whole.read.samples:
        at = scrape.received or 0.0
        before = [one for one in taped[scrape.replica] if (one.received or 0.0) <= at]
        after = [one for one in taped[scrape.replica] if (one.sent or 0.0) >= at + SCRAPE_S]
        if not before or not after:
            continue
        low, now, high = (parsed(one) for one in (before[-1], scrape, after[0]))
        assert now.problems == ()
        assert limits(low, "nominal") == limits(now, "nominal") == limits(high, "nominal")
        # Current limits are set anew every ten seconds: in less time they change once, and not to what they were.
        if (after[0].sent or 0.0) - (before[-1].received or 0.0) < RESET_S:
            for level, seats in limits(now, "current").items():
                assert seats in (limits(low, "current")[level], limits(high, "current")[level])
        least, most = counters(low), counters(high)
        rising = counters(now)
        assert rising.keys() >= least.keys()
        for key, value in rising.items():
            assert least.get(key, 0.0) <= value <= most[key], (scrape.replica, at, key)
        compared += len(rising)
    assert compared > 10_000


def report(*arguments: str) -> Json:
    line = [sys.executable, "-m", "apftop", "report", *arguments, "--output", "json"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found: Json = json.loads(done.stdout)
    return found


def seconds_of(stamp: str) -> float:
    return datetime.fromisoformat(stamp).timestamp()


def apart(mine: Json, other: Json) -> float:
    """How far two rates of a level are apart, in standard deviations of what comes as it likes."""
    over, its = float(mine["window"]["seconds"]), float(other["window"]["seconds"])
    here, there = float(mine["dispatched"]), float(other["dispatched"])
    return abs(here / over - there / its) / math.sqrt(here / over**2 + there / its**2)


def meet(one: Json, other: Json) -> bool:
    """Whether two intervals have something in common."""
    ends = [math.inf if end["high"] is None else float(end["high"]) for end in (one, other)]
    return max(float(one["low"]), float(other["low"])) <= min(ends)


def within(taped: Sequence[Sample], level: str, t0: float, t1: float) -> tuple[float, float]:
    """The least and the most that a level can have dispatched between two times, by the answers around them."""

    def so_far(sample: Sample) -> float:
        values = parsed(sample).families["apiserver_flowcontrol_dispatched_requests_total"].values
        return sum(value for labels, value in values.items() if ("priority_level", level) in labels)

    def before(at: float) -> float:
        return so_far([one for one in taped if (one.received or 0.0) <= at][-1])

    def after(at: float) -> float:
        later = [one for one in taped if (one.sent or 0.0) >= at + SCRAPE_S]
        return so_far(later[0]) if later else math.inf

    return before(t1) - after(t0), after(t1) - before(t0)


def test_a_report_of_the_store_agrees_with_that_of_the_tape(seen: Seen) -> None:
    answers = metrics_on(open_tape(seen.tape_path))
    rates = waits = 0
    for at in (seen.began + 16, seen.ended - 4):
        kept = report("--prometheus", seen.url, "--at", utc(at), "-d", "8")
        taped = report(str(seen.tape_path), "--at", utc(at))

        assert kept["replicas"].keys() == taped["replicas"].keys()
        for name, replica in kept["replicas"].items():
            other = taped["replicas"][name]
            assert replica["version"] == other["version"]
            assert replica["levels"].keys() == other["levels"].keys()
            for level, one in replica["levels"].items():
                its = other["levels"][level]
                assert one["nominal"] == its["nominal"]
                assert one["lower"] == its["lower"]
                span = one["window"]
                least, most = within(answers[name], level, seconds_of(span["t0"]), seconds_of(span["t1"]))
                assert least <= one["dispatched"] <= most, (name, level, span)
                if level != "load" or min(one["dispatched"] or 0, its["dispatched"] or 0) < ENOUGH:
                    continue
                assert apart(one, its) < BELIEVED, (name, one["dispatched_per_s"], its["dispatched_per_s"])
                rates += 1
                mine, theirs = one["wait"]["executed"], its["wait"]["executed"]
                if min(mine["count"], theirs["count"]) >= ENOUGH:
                    assert meet(mine["p50"], theirs["p50"]), (name, mine, theirs)
                    waits += 1
        assert {one["code"] for one in kept["findings"]} & {one["code"] for one in taped["findings"]}
        assert "stale-gauges" not in {one["code"] for one in kept["findings"]}
    assert rates
    assert waits
