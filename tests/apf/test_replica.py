"""Levels that come and go under a running server, and limits of releases that the vectors do not cover."""

from __future__ import annotations

import math

import pytest

from apftop.apf.allocation import limits, server_seats
from apftop.apf.attributes import Attributes, attributes
from apftop.apf.borrowing import Borrower, adjust
from apftop.apf.builtins import builtin_levels, builtin_schemas
from apftop.apf.demand import DemandIntegrator, DemandStats, Observation, advance
from apftop.apf.objects import FlowSchema, Meta, PriorityLevelConfiguration, Queuing, ResourceRule, Rule, Subject
from apftop.apf.release import Release
from apftop.apf.replica import Replica
from apftop.apf.simulate import SimulatedRequest

RELEASE = Release(1, 37, 2)
MS, SECOND = 10**6, 10**9
BATCH = PriorityLevelConfiguration(Meta("batch"), exempt=False, shares=10, queuing=Queuing(4, 2, 5))
EVERYTHING = Rule((Subject("User", "*"),), (ResourceRule(("*",), ("*",), ("*",), ("*",), cluster_scope=True),))
TO_BATCH = FlowSchema(Meta("batch"), "batch", 500, "ByUser", (EVERYTHING,))


def some_request(user: str = "u", latency_ns: int = 0) -> SimulatedRequest:
    asked = attributes("GET", "/api/v1/pods", user=user, groups=("system:authenticated",))
    return SimulatedRequest(0, SECOND, asked, final_seats=1 if latency_ns else 0, additional_latency_ns=latency_ns)


def running(release: Release = RELEASE) -> Replica[SimulatedRequest]:
    replica: Replica[SimulatedRequest] = Replica(server_seats(), release)
    schemas = (*builtin_schemas(release).values(), TO_BATCH)
    replica.digest(0, schemas, (*builtin_levels().values(), BATCH))
    return replica


def test_a_server_starts_with_the_mandatory_levels() -> None:
    replica: Replica[SimulatedRequest] = Replica(server_seats(400, 200), RELEASE)
    request = some_request()

    assert replica.arrive(0, request) == (request,)
    assert (request.schema, request.level) == ("catch-all", "catch-all")
    assert replica.levels.keys() == replica.queue_sets.keys() == {"exempt", "catch-all"}
    assert replica.levels["catch-all"].current == 600


def test_levels_take_their_limits_in_the_order_of_their_names() -> None:
    replica = running()

    assert list(replica.queue_sets) == sorted(replica.levels)


def test_a_busy_level_without_an_object_drains_and_keeps_its_seats() -> None:
    replica = running()
    inside, later = some_request(), some_request()
    replica.arrive(0, inside)
    nominal = replica.levels["batch"].limits.nominal
    builtin = builtin_schemas(RELEASE).values(), builtin_levels().values()

    replica.digest(1, (*builtin[0], TO_BATCH), builtin[1])
    replica.arrive(2, later)

    assert (inside.level, later.level) == ("batch", "global-default")
    assert replica.levels["batch"].quiescing
    assert replica.levels["batch"].limits.nominal == nominal
    replica.finish(3, inside)
    assert "batch" in replica.levels
    replica.digest(4, *builtin)
    assert "batch" not in replica.levels
    assert "batch" not in replica.queue_sets


def test_a_level_that_comes_back_in_time_goes_on() -> None:
    replica = running()
    replica.arrive(0, some_request())
    builtin = builtin_schemas(RELEASE).values(), builtin_levels().values()
    before = replica.queue_sets["batch"]

    replica.digest(1, *builtin)
    replica.digest(2, (*builtin[0], TO_BATCH), (*builtin[1], BATCH))

    assert not replica.levels["batch"].quiescing
    assert replica.queue_sets["batch"] is before


def test_seats_may_linger_in_a_level_that_is_gone_and_made_anew() -> None:
    replica = running()
    old = some_request(latency_ns=SECOND)
    builtin = builtin_schemas(RELEASE).values(), builtin_levels().values()
    replica.arrive(0, old)
    replica.finish(1, old)
    before = replica.queue_sets["batch"]
    assert before.seats_in_use == 1

    replica.digest(2, *builtin)
    replica.digest(3, (*builtin[0], TO_BATCH), (*builtin[1], BATCH))
    replica.release(4, old)

    assert replica.queue_sets["batch"] is not before
    assert replica.levels["batch"].demand.seats == before.seats_in_use == 0


def test_a_mandatory_level_stays_as_it_was_without_its_object() -> None:
    replica = running()
    without = [level for level in builtin_levels().values() if level.name != "catch-all"]
    before = replica.queue_sets["catch-all"]

    replica.digest(1, builtin_schemas(RELEASE).values(), without)

    assert replica.queue_sets["catch-all"] is before
    assert not replica.levels["catch-all"].quiescing


def test_requests_must_be_classifiable_and_arrive_first() -> None:
    replica = running()

    with pytest.raises(ValueError, match="attributes"):
        replica.arrive(0, SimulatedRequest(0, 1))
    with pytest.raises(ValueError, match="arrived"):
        replica.finish(0, some_request())


def test_classification_is_remembered_but_not_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apftop.apf.replica.MOST_REMEMBERED", 2)
    replica = running()
    for number in range(5):
        request = some_request(f"user-{number}")
        replica.arrive(0, request)
        assert request.level == "batch"


def test_the_limits_of_the_default_configuration_when_idle() -> None:
    replica: Replica[SimulatedRequest] = Replica(server_seats(), RELEASE)
    adjustment, _ = replica.digest(0, builtin_schemas(RELEASE).values(), builtin_levels().values())

    assert {name: level.current for name, level in replica.levels.items()} == {
        "exempt": 0,
        "catch-all": 30,
        "system": 117,
        "node-high": 170,
        "leader-election": 58,
        "workload-high": 114,
        "workload-low": 56,
        "global-default": 56,
    }
    assert adjustment.fair == pytest.approx(2.3333, abs=1e-4)


def test_the_exempt_level_has_no_limits_before_1_28() -> None:
    configs = builtin_levels().values()

    assert "exempt" not in limits(configs, 600, Release(1, 27, 16))
    assert limits(configs, 600, Release(1, 28, 0))["exempt"].upper == 600
    replica = running(Release(1, 27, 16))
    assert replica.levels["exempt"].limits.upper == 0


def borrower(**values: float) -> Borrower:
    return Borrower(
        exempt=bool(values.get("exempt", False)),
        nominal=int(values.get("nominal", 10)),
        lower=int(values.get("lower", 5)),
        upper=int(values.get("upper", 100)),
        current=int(values.get("current", 7)),
        high_watermark=values.get("high_watermark", 0),
        smoothed=values.get("smoothed", 0.0),
    )


def test_a_demand_that_is_no_number_freezes_all_limits() -> None:
    found = adjust({"a": borrower(smoothed=math.nan), "b": borrower(current=9)}, Release(1, 26, 3))

    assert found.current == {"a": 7, "b": 9}
    assert found.fair == 0
    assert found.failure is not None


def test_the_exempt_level_is_served_first_since_1_31() -> None:
    levels = {
        "exempt": borrower(exempt=True, nominal=0, lower=0, high_watermark=13),
        "a": borrower(high_watermark=10, smoothed=10.0),
        "b": borrower(high_watermark=6, smoothed=6.0),
    }
    # 20 seats in all: 7 are left, less than the lower limits; with 8 used 12 are left, between these and the floors.
    assert adjust(levels, RELEASE).current == {"exempt": 13, "a": 5, "b": 5}
    levels["exempt"] = borrower(exempt=True, nominal=0, lower=0, high_watermark=8)
    assert adjust(levels, RELEASE).current == {"exempt": 8, "a": 7, "b": 5}
    # Once more than the floors is left, what the exempt level uses no longer counts.
    levels["exempt"] = borrower(exempt=True, nominal=0, lower=0, high_watermark=3, smoothed=3.0)
    assert adjust(levels, RELEASE).current == {"exempt": 3, "a": 13, "b": 8}
    assert adjust(levels, Release(1, 30, 4)).current["exempt"] == 3
    assert "exempt" not in adjust(levels, Release(1, 27, 1)).current


def test_an_unknown_deviation_sticks_in_old_releases() -> None:
    seen = Observation(10.0, 3.0, math.nan, 3)

    assert advance(DemandStats(), seen, Release(1, 28, 6)).smoothed == 3.0
    assert math.isnan(advance(DemandStats(), seen, Release(1, 28, 5)).smoothed)
    poisoned = DemandStats(smoothed=math.nan)
    assert math.isnan(advance(poisoned, Observation(10.0, 3.0, 0.0, 3), Release(1, 28, 5)).smoothed)


def test_without_time_only_the_high_watermark_moves() -> None:
    before = DemandStats(1, 2.0, 3.0, 4.0)

    found = advance(before, DemandIntegrator(5, 9).reset(5), RELEASE)

    assert found == DemandStats(9, 2.0, 3.0, 4.0)


def test_smoothed_demand_falls_by_half_in_five_minutes() -> None:
    stats = DemandStats(smoothed=100.0)
    for _ in range(30):
        stats = advance(stats, Observation(10.0, 0.0, 0.0, 0), RELEASE)

    assert stats.smoothed == pytest.approx(50, abs=1)


def test_attributes_are_kept_apart_by_all_their_fields() -> None:
    assert attributes("GET", "/api/v1/pods") != attributes("GET", "/api/v1/pods", user="u")
    assert isinstance(some_request().attributes, Attributes)


def test_up_to_1_28_4_the_server_itself_turns_out_who_has_waited_for_a_quarter_of_the_request_timeout() -> None:
    left: dict[Release, list[str]] = {}
    for release in (Release(1, 28, 4), Release(1, 28, 5)):
        replica = running(release)
        jail = PriorityLevelConfiguration(Meta("batch"), False, 0, queuing=Queuing(1, 1, 5))
        replica.digest(0, (TO_BATCH,), (jail,))
        replica.queue_sets["batch"].set_limit(0, 0)
        waiting = some_request()
        replica.arrive(0, waiting)
        replica.arrive(15 * SECOND, some_request())
        replica.arrive(15 * SECOND + 1, some_request())
        left[release] = [waiting.state, *(one.state for one in replica.overdue)]
        assert replica.levels["batch"].demand.seats == replica.queue_sets["batch"].waiting

    assert list(left.values()) == [["gone", "gone"], ["waiting"]]


def test_demand_is_noted_too_where_one_that_lingers_lets_another_start() -> None:
    replica = running()
    replica.digest(0, (TO_BATCH,), (PriorityLevelConfiguration(Meta("batch"), False, 1, queuing=Queuing(1, 1, 5)),))
    batch = replica.queue_sets["batch"]
    batch.set_limit(0, 2)
    first, wide = some_request(latency_ns=SECOND), some_request()
    wide.initial_seats = wide.width = 3
    replica.arrive(0, first)
    replica.arrive(0, wide)

    assert replica.finish(SECOND // 10, first) == [wide]
    found = replica.levels["batch"].demand.reset(3 * SECOND // 10)

    # The server adds up 0.1 and 0.2 seconds of the same demand, and that is a little more than 0.3.
    assert (found.seconds, found.average) == (0.1 + 0.2, (0.1 * 4 + 0.2 * 4) / (0.1 + 0.2))


def test_a_level_whose_hand_cannot_be_dealt_is_as_if_it_were_not_there() -> None:
    replica = running()
    broken = PriorityLevelConfiguration(Meta("batch"), exempt=False, shares=10, queuing=Queuing(64, 16, 5))

    replica.digest(1, (TO_BATCH,), (broken,))
    request = some_request()
    replica.arrive(2, request)

    assert (request.level, "batch" in replica.levels) == ("catch-all", False)


def test_limits_move_in_old_releases_too() -> None:
    for release in (Release(1, 26, 0), Release(1, 27, 9), Release(1, 28, 5)):
        replica = running(release)
        adjustment, _ = replica.adjust(10 * SECOND)

        assert adjustment.failure is None
        assert replica.levels["batch"].current > replica.levels["batch"].limits.nominal


def test_demand_is_noted_too_where_one_takes_the_place_of_another_that_waited_too_long() -> None:
    replica: Replica[SimulatedRequest] = Replica(600, Release(1, 28, 4), request_timeout_ns=4 * MS)
    replica.digest(0, (TO_BATCH,), (PriorityLevelConfiguration(Meta("batch"), False, 0, queuing=Queuing(1, 1, 5)),))
    replica.queue_sets["batch"].set_limit(0, 0)
    replica.arrive(0, some_request())
    replica.arrive(SECOND // 10, some_request())

    found = replica.levels["batch"].demand.reset(3 * SECOND // 10)

    assert (found.seconds, found.most) == (0.1 + 0.2, 1)
