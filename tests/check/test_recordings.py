"""All checks on recorded control planes: silent where nothing is wrong, and each fault turns the right ones off."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.crosscheck.figures import TOLD, About, Healthy, Where, healthy, shares
from tests.crosscheck.runs import runs
from tests.recording import FOLDER, SHIPPED

RUNS = runs()
FAULTY = [run for run in RUNS if len(run.replicas) > 1 and (FOLDER != SHIPPED or run.name == "contention-1.37.2")]
"""Faults take a run for each: of those that ship with the tests one is enough."""

ALSO: Mapping[str, frozenset[str]] = {
    # Metrics and rows of different servers or times agree in nothing that is held between them.
    "metrics of another replica": frozenset({"executing-time", "waiting-time", "seats-within-limit", "executed"}),
    # Where an object was edited the old metrics have limits of the old one.
    "metrics one scrape old": frozenset(
        {"executing-time", "waiting-time", "seats-within-limit", "nominal", "lower", "upper"}
    ),
    "dumps one scrape old": frozenset({"executing-time", "waiting-time", "seats-within-limit"}),
    # A limit is what demands are divided by, and what they are the reason for.
    "limit halved": frozenset({"demand-time", "current-limit", "waiting-time", "fair-fraction"}),
    "limit doubled": frozenset({"demand-time", "current-limit", "work-conservation", "fair-fraction"}),
    "limit 15% too high": frozenset({"demand-time", "current-limit", "fair-fraction"}),
    # Demand has what waits in it, by the queues' length.
    "queues x length x2": frozenset({"demand-time"}),
    "half of the dispatched lost": frozenset({"served-waits", "executed", "same-server"}),
}
"""Laws that a fault may turn off besides those that tell it."""


@pytest.fixture(scope="module")
def known() -> tuple[Healthy, dict[Where, About]]:
    return healthy(RUNS)


def test_no_law_is_off_on_healthy_servers(known: tuple[Healthy, dict[Where, About]]) -> None:
    found, _ = known

    assert found.windows > 20
    assert found.off == ()
    for law in ("arrivals", "served-waits", "waiting-time", "executing-time", "seat-time", "hand", "order", "clock"):
        assert found.verdicts[law, "ok"] > 20, law


@pytest.mark.parametrize("fault", TOLD)
def test_a_fault_turns_the_right_checks_off(fault: str, known: tuple[Healthy, dict[Where, About]]) -> None:
    _, about = known
    (share,) = shares(FAULTY, about, [fault])

    assert share.windows > 5
    assert share.share >= share.least, share
    assert share.also.keys() <= ALSO.get(fault, frozenset()), share
