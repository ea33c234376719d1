"""Hands and limits of the model against what real servers showed under load."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from apftop.apf.allocation import limits
from apftop.apf.borrowing import Borrower, adjust
from apftop.apf.builtins import builtin_levels
from apftop.apf.objects import Meta, PriorityLevelConfiguration, Queuing
from apftop.apf.release import Release, parse_release
from apftop.apf.shards import hand
from apftop.parse.dumps import parse_levels, parse_requests
from apftop.parse.metrics import parse_metrics
from apftop.records.parsed import Metrics
from apftop.records.raw import Endpoint
from tests.recording import Recording, Scrape, recordings

SERVER = {"contention": 90, "fourphase": 60}
LOAD = PriorityLevelConfiguration(Meta("load"), False, 25, 50, 50, Queuing(16, 4, 12))
each = pytest.mark.parametrize("recording", recordings(), ids=lambda one: one.name)


def batch(shares: int) -> PriorityLevelConfiguration:
    """The level of the four phases, which neither lends nor borrows; one queue where it has any."""
    return PriorityLevelConfiguration(Meta("apf-case-batch"), False, shares, 0, 0, Queuing(1, 1, 2))


def metrics(scrape: Scrape) -> Metrics:
    return parse_metrics(scrape.bodies[Endpoint.METRICS], "text/plain; version=0.0.4")


def gauge(found: Metrics, name: str) -> dict[str, float]:
    values = found.families[f"apiserver_flowcontrol_{name}"].values
    return {dict(labels)["priority_level"]: value for labels, value in values.items()}


def release_of(found: Metrics) -> Release:
    (labels,) = found.families["kubernetes_build_info"].values
    release = parse_release(dict(labels)["git_version"])
    assert release is not None
    return release


def configs(recording: Recording, nominal: dict[str, float]) -> list[PriorityLevelConfiguration]:
    """The levels in force; the shares of the four-phase level were 5 and 0 in turn."""
    own = LOAD if recording.level == "load" else batch(5 if nominal[recording.level] else 0)
    return [*builtin_levels().values(), own]


def live(scrape: Scrape) -> set[str]:
    return {row.name for row in parse_levels(scrape.bodies[Endpoint.LEVELS]).rows}


def samples(recording: Recording) -> Iterator[tuple[Scrape, Metrics]]:
    for scrape in recording.scrapes:
        yield scrape, metrics(scrape)


@each
def test_every_observed_queue_is_in_the_hand_of_its_flow(recording: Recording) -> None:
    levels = {level.name: level for level in (*builtin_levels().values(), LOAD, batch(5))}
    seen = 0
    for scrape in recording.scrapes:
        for row in parse_requests(scrape.bodies[Endpoint.REQUESTS]).rows:
            queuing = levels[row.level].queuing
            if row.queue < 0 or queuing is None:
                continue
            cards = hand(row.schema, row.distinguisher, queuing.queues, queuing.hand_size) or (0,)
            assert row.queue in cards, row
            seen += 1
    assert seen


@each
def test_nominal_lower_and_upper_limits_are_the_gauges(recording: Recording) -> None:
    server = SERVER[recording.name.partition("-")[0]]
    for scrape, found in samples(recording):
        nominal, lower, upper = (gauge(found, f"{name}_limit_seats") for name in ("nominal", "lower", "upper"))
        model = limits(configs(recording, nominal), server, release_of(found))

        assert live(scrape) <= model.keys()
        for name in live(scrape):
            its = model[name]
            assert (its.nominal, its.lower, its.upper) == (nominal[name], lower[name], upper[name]), name


@each
def test_current_limits_follow_from_the_demand_gauges(recording: Recording) -> None:
    for scrape, found in samples(recording):
        read = {name: gauge(found, f"{name}_limit_seats") for name in ("nominal", "lower", "upper", "current")}
        most, smoothed = gauge(found, "demand_seats_high_watermark"), gauge(found, "demand_seats_smoothed")
        borrowers = {
            name: Borrower(
                exempt=name == "exempt",
                nominal=int(read["nominal"][name]),
                lower=int(read["lower"][name]),
                upper=int(read["upper"][name]),
                current=-1,
                high_watermark=most[name],
                smoothed=smoothed[name],
            )
            for name in live(scrape)
        }
        adjustment = adjust(borrowers, release_of(found))

        assert adjustment.failure is None
        assert adjustment.current == {name: read["current"][name] for name in borrowers}
        assert adjustment.fair == pytest.approx(found.families["apiserver_flowcontrol_seat_fair_frac"].values[()])
