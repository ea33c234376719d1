"""What finding costs: it is done for each moment of the screen."""

from __future__ import annotations

import time

from apftop.causes import Causes, causes
from tests.findings.cluster import Did, Of, Row, a_cluster, busier, quiet

MOST_S = 0.05
"""It takes some 5 ms where all is quiet, on two cores that others use as well."""


def least_s(*servers: object) -> float:
    """How long it takes where nothing else takes the processor: the least of some times."""
    scene = a_cluster(*servers)  # type: ignore[arg-type]
    found = causes(Causes(), scene.frame, scene.checks, 100.0)
    times = []
    for number in range(8):
        began = time.perf_counter()
        causes(found, scene.frame, scene.checks, 105.0 + number)
        times.append(time.perf_counter() - began)
    return min(times)


def test_a_quiet_cluster_costs_little() -> None:
    assert least_s(*quiet()) < MOST_S


def test_thousands_of_waiting_requests_do_not_cost_much_more() -> None:
    users = [f"system:serviceaccount:ci:runner-{number}" for number in range(40)]
    rows = tuple(
        Row("workload-low", "service-accounts", users[number % 40], age_s=2.0, index=number) for number in range(3000)
    )
    of = Of((Did("service-accounts", 900, queue_full=300, waiting=3000),), full=0.99)

    assert least_s(*(busier(one, "workload-low", of, *rows) for one in quiet())) < 10 * MOST_S
