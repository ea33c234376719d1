"""What real servers counted under load, against itself and against what the clients measured."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping

import pytest

from apftop.derive.deltas import Step, add
from apftop.derive.frame import frame
from apftop.derive.pairing import pair
from apftop.join import view
from apftop.live import fold
from apftop.parse.dumps import parse_levels, parse_queues, parse_requests
from apftop.parse.metrics import parse_metrics
from apftop.records.parsed import Histogram, Metrics
from apftop.records.raw import Endpoint
from apftop.records.view import Key
from tests.recording import Recording, Scrape, recordings

WINDOW_S = 10.0
RECORDINGS = recordings()
# Between the arrival that the dump shows and the wait that the histogram counts lies a goroutine's wake-up.
WAKE_UP_S = 0.05

each = pytest.mark.parametrize("recording", RECORDINGS, ids=lambda one: one.name)


def metrics(scrape: Scrape) -> Metrics:
    return parse_metrics(scrape.bodies[Endpoint.METRICS], "text/plain; version=0.0.4")


def between(first: Scrape, last: Scrape) -> Step:
    pairing = pair(view(metrics(first)), view(metrics(last)), first.t, last.t)
    assert pairing.step is not None, pairing.note
    return pairing.step


def windows(scrapes: list[Scrape]) -> Iterator[tuple[Scrape, Scrape]]:
    """Sliding windows of at least ten seconds, and the whole."""
    for index, first in enumerate(scrapes):
        last = next((one for one in scrapes[index:] if one.t - first.t >= WINDOW_S), None)
        if last is not None:
            yield first, last
    yield scrapes[0], scrapes[-1]


def total(values: Mapping[Key, float] | Mapping[Key, Histogram], level: str, by: str | None = None) -> float:
    return sum(
        value.count if isinstance(value, Histogram) else value
        for key, value in values.items()
        if key.level == level and (by is None or key.by == by)
    )


def summed(step: Step, measure: str, level: str, by: str | None = None) -> Histogram | None:
    return add([h for key, h in step.histograms(measure).items() if key.level == level and by in (None, key.by)])


@each
def test_answers_of_different_replicas_or_in_the_wrong_order_give_no_rates(recording: Recording) -> None:
    firsts = [recording.of(replica)[0] for replica in recording.replicas]
    lasts = [recording.of(replica)[-1] for replica in recording.replicas]
    for first in firsts:
        for last in lasts:
            earlier, later = view(metrics(first)), view(metrics(last))
            assert (pair(earlier, later, first.t, last.t).step is not None) == (first.replica == last.replica)
            assert pair(later, earlier, first.t, last.t).step is None


@each
def test_no_line_of_metrics_is_lost_or_invented(recording: Recording) -> None:
    for scrape in recording.scrapes:
        text = scrape.bodies[Endpoint.METRICS].decode()
        parsed = metrics(scrape)

        assert parsed.problems == ()
        assert sum(not line.startswith("#") for line in text.splitlines()) == sum(
            len(family.values) + sum(len(h.cumulative) + 2 for h in family.histograms.values())
            for family in parsed.families.values()
        )


@each
def test_no_row_of_the_dumps_is_lost_or_invented(recording: Recording) -> None:
    for scrape in recording.scrapes:
        for endpoint, parse in (
            (Endpoint.LEVELS, parse_levels),
            (Endpoint.QUEUES, parse_queues),
            (Endpoint.REQUESTS, parse_requests),
        ):
            body = scrape.bodies[endpoint]
            dump = parse(body)

            assert dump.bad == ()
            assert len(dump.rows) == body.count(b"\n") - 1


@each
def test_counting_identities_hold_over_windows_and_the_whole(recording: Recording) -> None:
    for replica in recording.replicas:
        for first, last in windows(recording.of(replica)):
            step, level = between(first, last), recording.level
            dispatched, rejected = total(step.counters("dispatched"), level), total(step.counters("rejected"), level)
            timed_out = total(step.counters("rejected"), level, "time-out")
            queued = total(step.after.values["waiting"], level) - total(step.before.values["waiting"], level)
            tolerance = max(5.0, 0.2 * (dispatched + rejected) / step.window.seconds)

            arrivals = total(step.histograms("width"), level)
            assert abs(arrivals - dispatched - rejected - queued) <= tolerance
            assert abs(total(step.histograms("wait"), level, "true") - dispatched - timed_out) <= tolerance
            assert abs(total(step.histograms("wait"), level, "false") - (rejected - timed_out)) <= 1


@each
def test_waits_and_execution_fit_into_what_the_clients_saw(recording: Recording) -> None:
    for replica in recording.replicas:
        scrapes = recording.of(replica)
        step = between(scrapes[0], scrapes[-1])
        execution = summed(step, "execution", recording.level)
        waits = summed(step, "wait", recording.level, "true")
        assert execution is not None
        assert waits is not None

        seen = sum(request["latency"] for request in recording.requests if str(request["replica"]) == replica)
        assert 0 < execution.sum + waits.sum <= seen


@each
def test_exact_waits_of_executing_rows_lie_in_filled_buckets(recording: Recording) -> None:
    checked = 0
    for replica in recording.replicas:
        scrapes = recording.of(replica)
        for index, scrape in enumerate(scrapes):
            for row in parse_requests(scrape.bodies[Endpoint.REQUESTS]).rows:
                if row.level != recording.level or row.start_ns is None:
                    continue
                # The start must lie after the earlier metrics, whose fetch ends up to two seconds after `t`.
                before = [one for one in scrapes[:index] if one.t + 2 < row.start_ns / 1e9]
                if not before:
                    continue
                waits = summed(between(before[-1], scrape), "wait", recording.level, "true")
                assert waits is not None
                exact = (row.start_ns - row.arrive_ns) / 1e9
                low, high = (bisect_left(waits.bounds, wait) for wait in (exact, exact + WAKE_UP_S))
                inside = waits.cumulative[high] - (waits.cumulative[low - 1] if low else 0)
                assert inside > 0, f"{exact} s at {scrape.t}"
                checked += 1
    assert checked or recording.level != "load"


@each
def test_time_outs_that_clients_saw_are_those_that_the_servers_counted(recording: Recording) -> None:
    limit = {"load": 3.0, "apf-case-batch": 5.0}[recording.level]
    for replica in recording.replicas:
        scrapes = recording.of(replica)
        state = fold(sample for scrape in (scrapes[0], scrapes[-1]) for sample in scrape.samples())
        level = frame(state).replicas[replica].levels[recording.level]
        seen = [
            request
            for request in recording.requests
            if str(request["replica"]) == replica and request["code"] == 429 and request["latency"] >= 0.9 * limit
        ]

        assert level.waits is not None
        assert level.waits.timed_out == len(seen)


@each
def test_served_waits_are_not_those_of_the_time_outs(recording: Recording) -> None:
    for replica in recording.replicas:
        scrapes = recording.of(replica)
        for first, last in windows(scrapes):
            state = fold(sample for scrape in (first, last) for sample in scrape.samples())
            waits = frame(state).replicas[replica].levels[recording.level].waits
            assert waits is not None
            if waits.timed_out and waits.p95 is not None and waits.p95.estimate is not None:
                within = waits.time_outs_within_s
                assert within is not None
                assert waits.p95.estimate <= within[0]
