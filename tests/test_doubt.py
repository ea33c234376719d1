"""When it is asked what lies behind the queues: for a pair at the start, in doubt, and at a calm pace otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from apftop.lanes import plan
from apftop.live import fold
from apftop.records.asking import Demand
from apftop.records.raw import Endpoint, Sample
from apftop.rules import rules
from tests.derive.behind import answer, requests
from tests.derive.build import a_sample, dispatched, exposition, histogram, level_row, levels_dump, rejected, series
from tests.test_lanes import came

BACKEND = Endpoint.BACKEND
DOUBT_S, CALM_S = rules().behind.doubt_s, rules().behind.calm_s
LIMIT = series("current_limit_seats", 100, priority_level="load")
COUNTS = (100, 0, 0, 0)


def levels(t: float, waiting: int = 0, executing: int = 0, counts: tuple[int, ...] = COUNTS) -> Sample:
    return came(a_sample(levels_dump(level_row("load", waiting, executing, *counts)), t, Endpoint.LEVELS))


def metrics(t: float, *lines: str | list[str], **what: Any) -> Sample:
    flat = [one for line in lines for one in ([line] if isinstance(line, str) else line)]
    return came(a_sample(exposition(dispatched(100), LIMIT, *flat), t), 0.02, **what)


def behind(t: float, **what: Any) -> Sample:
    return came(a_sample(answer(requests(t)), t, BACKEND), 0.02, **({"named": True} | what))


def executions(*seconds: float, kind: str = "regular") -> list[str]:
    return histogram("request_execution_seconds", list(seconds), priority_level="load", flow_schema="load", type=kind)


def every_s(*samples: Sample) -> float | None:
    return plan(fold(samples).replicas["kas"], Demand()).every_s.get(BACKEND)


CALM = (metrics(0.0), levels(0.0), behind(0.0), metrics(5.0), levels(5.0), behind(60.0))


def test_it_is_asked_once_metrics_have_told_what_it_costs() -> None:
    assert every_s(levels(0.0)) is None
    assert every_s(metrics(0.0), levels(0.0)) == DOUBT_S == 60.0


def test_a_pair_is_made_up_and_then_renewed_at_the_calm_pace_only() -> None:
    assert every_s(*CALM[:-1]) == DOUBT_S
    assert every_s(*CALM) == CALM_S == 600.0


@pytest.mark.parametrize(
    "more",
    [
        [levels(10.0, waiting=1)],
        [levels(10.0, executing=80)],
        [levels(10.0, counts=(100, 1, 0, 0))],
        [levels(10.0, counts=(100, 0, 1, 0))],
        [metrics(10.0, rejected(3, "time-out"))],
    ],
)
def test_waiting_full_seats_and_refusals_are_a_doubt(more: list[Sample]) -> None:
    assert every_s(*CALM, *more) == DOUBT_S


@pytest.mark.parametrize("more", [[levels(10.0, executing=79)], [levels(10.0, counts=(900, 0, 0, 0))]])
def test_mere_load_is_none(more: list[Sample]) -> None:
    assert every_s(*CALM, *more) == CALM_S


@pytest.mark.parametrize(
    ("before", "after", "doubt"),
    [
        ([0.02] * 100, [0.02] * 100 + [0.05] * 20, True),
        ([0.02] * 100, [0.02] * 100 + [0.05] * 19, False),
        ([0.02] * 100, [0.02] * 100 + [0.025] * 50, False),
        # Three times as long, and nobody minds.
        ([0.001] * 100, [0.001] * 100 + [0.003] * 50, False),
        ([], [0.05] * 50, False),
    ],
)
def test_execution_that_takes_longer_than_usual_is_a_doubt(
    before: list[float], after: list[float], doubt: bool
) -> None:
    later = metrics(10.0, executions(*before)), metrics(15.0, executions(*after))

    assert every_s(*CALM, *later) == (DOUBT_S if doubt else CALM_S)


def test_watches_say_nothing_of_execution() -> None:
    pair = (
        metrics(10.0, executions(*[0.02] * 100, kind="watch")),
        metrics(15.0, executions(*[0.02] * 100, *[9.0] * 50, kind="watch")),
    )

    assert every_s(*CALM, *pair) == CALM_S


def test_one_that_was_not_answered_is_asked_again_as_in_doubt() -> None:
    assert every_s(*CALM, Sample("kas", BACKEND, error="no answer", sent=70.0, received=71.0)) == DOUBT_S


def test_where_metrics_are_denied_it_is_not_asked() -> None:
    assert every_s(*CALM, Sample("kas", Endpoint.METRICS, b"no", 403, sent=70.0, received=70.0)) is None


def test_what_costs_a_server_much_comes_rarely_and_counts_among_the_cost() -> None:
    dear = [came(one, 0.3, named=True) for one in (behind(0.0), behind(60.0))]
    replica = fold([*CALM[:2], dear[0], *CALM[3:5], dear[1], levels(70.0, waiting=1)]).replicas["kas"]
    found, cheap = plan(replica, Demand()), plan(fold([*CALM, levels(70.0, waiting=1)]).replicas["kas"], Demand())

    assert 290 < found.every_s[BACKEND] < 310
    assert found.cost_share is not None and cheap.cost_share is not None
    assert cheap.cost_share < found.cost_share <= 0.01
