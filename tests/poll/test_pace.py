"""When one server is asked for what, by a clock of the test."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.poll.pace import LONGEST_REST_S, ORDER, SIZED, SIZES_HOLD_S, TOGETHER_S, WAKE_S, WHOLE_AGAIN_S, Pace
from apftop.records.asking import Plan
from apftop.records.raw import Endpoint, Sample

LEVELS, QUEUES, REQUESTS, METRICS = Endpoint.LEVELS, Endpoint.QUEUES, Endpoint.REQUESTS, Endpoint.METRICS


def pace(every_s: Mapping[Endpoint, float], start: float = 0.0) -> Pace:
    """A pace whose rests have no jitter."""
    return Pace(Plan(every_s), start, chance=lambda: 0.0)


def answer(
    paced: Pace,
    endpoint: Endpoint,
    at: float,
    status: int | None = 200,
    *,
    error: str = "",
    after: str = "",
    took: float = 0.0,
    go_on: bool = True,
) -> None:
    headers = (("retry-after", after),) if after else ()
    sample = Sample("x", endpoint, status=status, error=error, headers=headers)
    paced.answered(at, sample, whole=endpoint is METRICS and paced.whole(at), go_on=go_on, now=at + took)


def no_connection(paced: Pace, endpoint: Endpoint, at: float) -> None:
    answer(paced, endpoint, at, None, error="connection refused", go_on=False)


def play(paced: Pace, until: float, outcome: Callable[[Endpoint, float], None]) -> list[tuple[float, Endpoint]]:
    """What is asked when, while each answer comes at once; `outcome` is given each question and its time."""
    asked: list[tuple[float, Endpoint]] = []
    while (at := paced.next_at()) <= until:
        for endpoint in paced.due(at):
            asked.append((at, endpoint))
            outcome(endpoint, at)
            if paced.quiet(at):
                break
    return asked


class TestLanes:
    def test_each_endpoint_has_its_own_interval(self) -> None:
        paced = pace({LEVELS: 2.0, METRICS: 6.0})
        asked = play(paced, 12, lambda endpoint, at: answer(paced, endpoint, at))
        assert [at for at, endpoint in asked if endpoint is LEVELS] == [0, 2, 4, 6, 8, 10, 12]
        assert [at for at, endpoint in asked if endpoint is METRICS] == [0, 6, 12]

    def test_requests_go_directly_before_metrics(self) -> None:
        paced = pace(dict.fromkeys(reversed(Endpoint), 1.0))
        assert paced.due(0) == (LEVELS, QUEUES, REQUESTS, METRICS, Endpoint.BACKEND)

    def test_what_falls_due_about_the_same_time_goes_together(self) -> None:
        paced = pace({LEVELS: 2.0, REQUESTS: 5.0, METRICS: 5.0})
        answer(paced, LEVELS, 3.0)
        answer(paced, REQUESTS, 0.02)
        answer(paced, METRICS, 0.2)
        assert paced.due(4.99) == ()
        assert paced.due(5.0) == (LEVELS, REQUESTS, METRICS)
        answer(paced, METRICS, 0.6)
        assert paced.due(5.0) == (LEVELS, REQUESTS)

    def test_a_slower_lane_waits_for_the_next_turn_of_the_faster_ones(self) -> None:
        paced = pace({LEVELS: 2.0, REQUESTS: 2.0, METRICS: 5.0})
        asked = play(paced, 12, lambda endpoint, at: answer(paced, endpoint, at))
        assert [at for at, endpoint in asked if endpoint is METRICS] == [0, 6, 12]
        assert [at for at, endpoint in asked if endpoint is REQUESTS] == [0, 2, 4, 6, 8, 10, 12]

    def test_lanes_that_are_out_of_step_come_into_step(self) -> None:
        paced = pace({LEVELS: 2.0, REQUESTS: 2.0, METRICS: 6.0})
        for endpoint, at in ((METRICS, 0.0), (REQUESTS, 2.7), (LEVELS, 3.2)):
            answer(paced, endpoint, at)
        asked = play(paced, 20, lambda endpoint, at: answer(paced, endpoint, at))
        assert [at for at, _ in asked[:2]] == [5.2, 5.2]
        assert {at for at, endpoint in asked if endpoint is METRICS} == {7.2, 13.2, 19.2}
        assert all((at, one) in asked for at, endpoint in asked if endpoint is METRICS for one in (LEVELS, REQUESTS))

    def test_a_slow_dump_waits_for_the_metrics(self) -> None:
        paced = pace({LEVELS: 60.0, METRICS: 5.0})
        asked = play(paced, 130, lambda endpoint, at: answer(paced, endpoint, at, took=0.2))
        assert len([at for at, endpoint in asked if endpoint is LEVELS]) == 3
        assert all((at, METRICS) in asked for at, endpoint in asked if endpoint is LEVELS)

    def test_a_faster_lane_that_fails_holds_nothing_up(self) -> None:
        paced = pace({LEVELS: 2.0, METRICS: 6.0})

        def outcome(endpoint: Endpoint, at: float) -> None:
            answer(paced, endpoint, at, error="silent for 10 s" if endpoint is LEVELS else "")

        asked = play(paced, 60, outcome)
        assert [at for at, endpoint in asked if endpoint is METRICS] == [6.0 * number for number in range(11)]

    def test_a_new_lane_waits_for_its_own_interval_only(self) -> None:
        paced = pace({LEVELS: 60.0, METRICS: 60.0})
        play(paced, 0, lambda endpoint, at: answer(paced, endpoint, at))
        without, viewed = paced.plan, Plan({LEVELS: 60.0, REQUESTS: 4.0, METRICS: 60.0})
        paced.plan = viewed
        assert paced.due(2.0) == (REQUESTS,)
        answer(paced, REQUESTS, 2.0)
        for plan in (without, viewed):
            paced.plan = plan
        assert paced.due(3.0) == ()
        assert paced.next_at() == 6.0

    def test_after_a_wake_nothing_waits(self) -> None:
        paced = pace({LEVELS: 60.0, METRICS: 60.0})
        answer(paced, METRICS, 0.0)
        answer(paced, LEVELS, 9.5)
        paced.wake(10.0)
        assert paced.due(10.0) == (METRICS,)

    def test_what_goes_with_metrics_only_has_no_turns_of_its_own(self) -> None:
        paced = Pace(Plan({LEVELS: 2.0, METRICS: 6.0}, with_metrics={QUEUES: 2.0, REQUESTS: 8.0}), 0.0)
        asked = play(paced, 18, lambda endpoint, at: answer(paced, endpoint, at))
        assert [at for at, endpoint in asked if endpoint is QUEUES] == [0, 6, 12, 18]
        assert [at for at, endpoint in asked if endpoint is REQUESTS] == [0, 12]
        assert [endpoint for at, endpoint in asked if at == 12] == [LEVELS, QUEUES, REQUESTS, METRICS]

    def test_a_round_goes_on_with_what_a_new_plan_wants_before_the_metrics(self) -> None:
        paced = pace({LEVELS: 2.0, METRICS: 6.0})
        assert paced.due(0) == (LEVELS, METRICS)
        answer(paced, LEVELS, 0.0)
        paced.plan = Plan({LEVELS: 2.0, REQUESTS: 2.0, METRICS: 6.0}, with_metrics={QUEUES: 2.0})
        assert paced.due(0.1, {LEVELS}) == (QUEUES, REQUESTS, METRICS)
        for endpoint in (QUEUES, REQUESTS, METRICS):
            answer(paced, endpoint, 0.1)
        assert paced.due(0.1, {LEVELS, QUEUES, REQUESTS, METRICS}) == ()

    def test_a_slow_answer_is_followed_by_no_burst(self) -> None:
        paced = pace({LEVELS: 2.0})
        answer(paced, LEVELS, 0.0, took=9.0)
        assert paced.due(9.0) == (LEVELS,)
        answer(paced, LEVELS, 9.0)
        assert paced.next_at() == 11.0

    def test_nothing_is_asked_before_the_start(self) -> None:
        paced = pace({LEVELS: 2.0}, start=1.5)
        assert (paced.due(1.4), paced.next_at()) == ((), 1.5)

    def test_without_a_lane_nothing_is_ever_due(self) -> None:
        paced = pace({})
        assert (paced.due(1e9), paced.next_at()) == ((), math.inf)

    def test_a_new_plan_counts_from_the_last_question(self) -> None:
        paced = pace({LEVELS: 2.0, QUEUES: 2.0})
        answer(paced, LEVELS, 0.0)
        answer(paced, QUEUES, 0.0)
        paced.plan = Plan({LEVELS: 0.5, METRICS: 5.0})
        assert paced.due(0.1) == (METRICS,)
        answer(paced, METRICS, 0.1)
        assert paced.next_at() == 0.5
        assert paced.due(2.0) == (LEVELS,)

    @given(
        every=st.dictionaries(st.sampled_from(ORDER), st.floats(0.1, 60), min_size=1),
        beside=st.dictionaries(st.sampled_from(SIZED), st.floats(0.1, 60)),
        took=st.lists(st.floats(0, 10), min_size=20, max_size=20),
    )
    def test_no_endpoint_is_asked_sooner_than_its_interval(
        self, every: dict[Endpoint, float], beside: dict[Endpoint, float], took: list[float]
    ) -> None:
        paced, now = Pace(Plan(every, with_metrics=beside), 0.0, chance=lambda: 0.0), 0.0
        gaps = {**beside, **every}
        last = dict.fromkeys(gaps, -math.inf)
        for seconds in took:
            now = max(now, paced.next_at())
            due = paced.due(now)
            assert due
            large = any(one in SIZED for one in due)
            for endpoint in due:
                least = gaps[endpoint] - min(TOGETHER_S, gaps[endpoint] / 10) - 1e-9
                if endpoint is LEVELS and large:
                    least = min(least, SIZES_HOLD_S)
                assert now - last[endpoint] >= least
                last[endpoint] = now
                answer(paced, endpoint, now, took=seconds)
                now += seconds

    def test_levels_that_were_asked_for_long_ago_go_again_before_a_large_dump(self) -> None:
        paced = pace({LEVELS: 60.0, METRICS: 60.0})
        for endpoint in paced.due(0):
            answer(paced, endpoint, 0.0)
        paced.plan = Plan({LEVELS: 60.0, REQUESTS: 60.0, METRICS: 60.0})
        assert paced.due(SIZES_HOLD_S) == (REQUESTS,)
        assert paced.due(30.0) == (LEVELS, REQUESTS)
        paced.plan = Plan({REQUESTS: 60.0})
        assert paced.due(30.0) == (REQUESTS,)

    def test_levels_that_fail_rest_also_before_a_large_dump(self) -> None:
        paced = pace({LEVELS: 2.0, REQUESTS: 2.0})
        for at in (0.0, 10.0, 20.0, 30.0):
            answer(paced, LEVELS, at, error="silent for 10 s")
        assert paced.due(37.0) == (REQUESTS,)


class TestWhole:
    def test_metrics_are_asked_in_full_first_and_then_now_and_again(self) -> None:
        paced = Pace(Plan({METRICS: 5.0}, whole_every_s=60.0), 0.0)
        whole = []

        def outcome(endpoint: Endpoint, at: float) -> None:
            if paced.whole(at):
                whole.append(at)
            answer(paced, endpoint, at)

        play(paced, 125, outcome)
        assert whole == [0, 60, 120]

    def test_after_one_that_failed_families_go_by_name_for_a_while(self) -> None:
        paced = pace({METRICS: 5.0})
        answer(paced, METRICS, 0.0, None, error="no answer in 10 s", go_on=False)
        assert not paced.whole(WHOLE_AGAIN_S - 1)
        assert paced.whole(WHOLE_AGAIN_S)


class TestRest:
    @pytest.mark.parametrize(("status", "after", "seconds"), [(429, "", 1), (429, "7", 7), (503, "4", 4)])
    def test_a_refusal_is_given_the_time_that_it_asks_for(self, status: int, after: str, seconds: int) -> None:
        paced = pace({LEVELS: 0.5, METRICS: 5.0})
        for at in (0, 100, 200):
            answer(paced, LEVELS, at, status, after=after)
            assert paced.due(at + seconds) == ()
            assert paced.next_at() == at + seconds + 1

    def test_a_refusal_for_ever_is_ended_by_a_wake_only(self) -> None:
        paced = pace({LEVELS: 0.5})
        answer(paced, LEVELS, 0, 429, after="9" * 400)
        assert paced.next_at() == math.inf
        paced.wake(50)
        assert paced.due(50) == (LEVELS,)

    @pytest.mark.parametrize(("status", "error"), [(None, "connection refused"), (401, ""), (503, "")])
    def test_a_server_that_cannot_be_asked_rests_twice_as_long_each_time(self, status: int | None, error: str) -> None:
        paced = pace({LEVELS: 0.1, METRICS: 0.1})
        asked = play(paced, 150, lambda endpoint, at: answer(paced, endpoint, at, status, error=error))
        assert [at for at, _ in asked] == [0, 1, 3, 7, 15, 31, 61, 91, 121]

    def test_a_good_answer_ends_the_doubling(self) -> None:
        paced = pace({LEVELS: 0.1, QUEUES: 50.0})
        for at in (0.0, 10.0, 20.0):
            no_connection(paced, LEVELS, at)
        answer(paced, QUEUES, 30.0)
        assert paced.due(30.0) == (LEVELS,)
        no_connection(paced, LEVELS, 40.0)
        assert paced.next_at() == 41.0

    @given(st.floats(0, 1, exclude_max=True), st.integers(1, 100))
    def test_a_jitter_shortens_rests_by_half_at_most(self, chance: float, failures: int) -> None:
        paced = Pace(Plan({LEVELS: 0.1}), 0.0, chance=lambda: chance)
        for _ in range(failures):
            no_connection(paced, LEVELS, 0.0)
        full = min(LONGEST_REST_S, 2.0 ** min(failures - 1, 10))
        assert full / 2 <= paced.next_at() <= full

    def test_an_endpoint_that_breaks_off_rests_alone(self) -> None:
        paced = pace({LEVELS: 0.5, METRICS: 0.5})

        def outcome(endpoint: Endpoint, at: float) -> None:
            answer(paced, endpoint, at, error="silent for 10 s" if endpoint is METRICS else "")

        asked = play(paced, 70, outcome)
        assert [round(at, 1) for at, endpoint in asked if endpoint is METRICS] == [0, 1, 3, 7, 15, 31, 61]
        assert len([at for at, endpoint in asked if endpoint is LEVELS]) == 141

    @pytest.mark.parametrize("status", [500, 502, 504])
    def test_so_does_one_that_a_server_fails_at(self, status: int) -> None:
        paced = pace({LEVELS: 0.5, METRICS: 0.5})
        asked = play(
            paced, 70, lambda endpoint, at: answer(paced, endpoint, at, status if endpoint is METRICS else 200)
        )
        assert [round(at, 1) for at, endpoint in asked if endpoint is METRICS] == [0, 1, 3, 7, 15, 31, 61]
        assert len([at for at, endpoint in asked if endpoint is LEVELS]) == 141

    def test_so_does_one_that_gets_no_answer_where_others_do(self) -> None:
        paced = pace({LEVELS: 2.0, METRICS: 2.0})

        def outcome(endpoint: Endpoint, at: float) -> None:
            if endpoint is METRICS:
                no_connection(paced, endpoint, at)
            else:
                answer(paced, endpoint, at)

        asked = play(paced, 60, outcome)
        assert len([at for at, endpoint in asked if endpoint is METRICS]) <= 7
        assert len([at for at, endpoint in asked if endpoint is LEVELS]) >= 25

    def test_after_an_outage_no_endpoint_rests_longer_than_the_server_did(self) -> None:
        paced = pace({LEVELS: 0.5, METRICS: 0.5})
        for at in range(0, 200, 40):
            no_connection(paced, LEVELS, at)
        back = paced.next_at()
        assert paced.due(back) == (LEVELS, METRICS)


class TestWake:
    def test_it_makes_everything_due_and_ends_a_rest(self) -> None:
        paced = pace({LEVELS: 60.0, METRICS: 60.0})
        answer(paced, METRICS, 0.0)
        for at in (0.0, 10.0, 20.0):
            no_connection(paced, LEVELS, at)
        paced.wake(22.0)
        assert paced.due(22.0) == (LEVELS, METRICS)
        no_connection(paced, LEVELS, 22.0)
        assert paced.due(23.0) == (METRICS,)

    def test_it_repeats_nothing_of_a_moment_ago(self) -> None:
        paced = pace({LEVELS: 2.0, METRICS: 5.0})
        answer(paced, LEVELS, 0.0)
        answer(paced, METRICS, 1.0)
        paced.wake(1.0 + WAKE_S / 2)
        assert paced.due(1.0 + WAKE_S / 2) == (LEVELS,)

    def test_it_asks_for_no_whole_scrape(self) -> None:
        paced = pace({METRICS: 5.0})
        answer(paced, METRICS, 0.0)
        paced.wake(3.0)
        assert paced.due(3.0) == (METRICS,)
        assert not paced.whole(3.0)
