"""Borrowing limits, lent seats, borrowing that is frozen, exempt that squeezes, use above a limit."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from apftop.apf.allocation import limits
from apftop.apf.borrowing import Borrower, adjust
from apftop.apf.builtins import builtin_levels, mandatory_level
from apftop.apf.release import Release
from apftop.findings.scene import Scene
from apftop.findings.seats.limits import FINDERS
from apftop.records.checks import Check
from apftop.records.findings import Finding
from tests.findings.cluster import SEATS, Did, Of, Row, Server, a_cluster, a_level, a_schema, busier, quiet

TENANT = a_level("tenant", 20, borrowing=25)
TO_TENANT = a_schema("tenant", "tenant", 1000)
LEVELS = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io"
NAN = math.nan


def found(scene: Scene) -> list[Finding]:
    return [one for find in FINDERS for one in find(scene)]


def patch(name: str, kind: str, **spec: Any) -> str:
    return f"kubectl patch {LEVELS}/{name} --type=merge -p '{json.dumps({'spec': {kind: spec}})}'"


def kept(name: str, value: str) -> str:
    return f"kubectl annotate {LEVELS}/{name} apf.kubernetes.io/autoupdate-spec={value} --overwrite"


def at_its_end(waiting: int = 40, full: float = 0.9, release: str = "v1.30.4", **more: Any) -> Scene:
    """A tenant of 46 nominal seats that may borrow 12 and has them all."""
    of = Of((Did("tenant", 900, executing=58, seats=58, waiting=waiting),), full=full, current=58)
    server = busier(quiet("kas-a", release=release)[0], "tenant", of)
    return a_cluster(replace(server, **more), levels=[TENANT], schemas=[TO_TENANT])


@pytest.mark.fires("borrowing-limit")
def test_a_full_level_that_may_borrow_no_more_while_seats_are_idle_is_told_what_more_would_give() -> None:
    (one,) = [one for one in found(at_its_end()) if one.code == "borrowing-limit"]

    assert (one.severity, one.subject) == ("warning", "tenant")
    assert "is at its borrowing limit: 58 seats, 40 wait" in one.title
    assert one.change is not None
    assert one.change.command == patch("tenant", "limited", borrowingLimitPercent=115)
    assert one.change.rollback == patch("tenant", "limited", borrowingLimitPercent=25)
    assert (one.facts["upper"], one.facts["upper_after"], one.facts["upper_unset"]) == (58, 99, 646)
    assert "upper limit goes from 58 to 99" in one.advice[0]
    assert "unset it" in one.advice[0]


@pytest.mark.spares("borrowing-limit")
def test_the_same_load_without_a_borrowing_limit_has_none_to_reach() -> None:
    of = Of((Did("tenant", 900, executing=58, seats=58, waiting=40),), full=0.9, current=58)
    scene = a_cluster(
        busier(quiet("kas-a")[0], "tenant", of),
        levels=[replace(TENANT, borrowing_limit_percent=None)],
        schemas=[TO_TENANT],
    )

    assert "borrowing-limit" not in {one.code for one in found(scene)}


@pytest.mark.parametrize(("waiting", "full"), [(1, 0.9), (40, 0.4)])
def test_a_level_at_its_limit_that_is_not_in_need_for_long_is_no_finding(waiting: int, full: float) -> None:
    assert "borrowing-limit" not in {one.code for one in found(at_its_end(waiting, full))}


def test_a_borrowing_limit_on_a_server_that_is_full_takes_nothing_from_anybody() -> None:
    busy = {
        name: Of((Did("other", 900, executing=200, seats=200),)) for name in ("workload-low", "system", "node-high")
    }
    of = Of((Did("tenant", 900, executing=58, seats=58, waiting=40),), full=0.9, current=58)
    server = replace(quiet("kas-a")[0], levels={**busy, "tenant": of})
    scene = a_cluster(server, levels=[TENANT], schemas=[TO_TENANT])

    assert "borrowing-limit" not in {one.code for one in found(scene)}


def short(demand: float, current: float = 40, rows: Iterable[Row] = (), waiting: int = 80, dumps: bool = True) -> Scene:
    """`system` has lent seats of its 74 and is in need; `demand` is what the server tells of it."""
    of = Of(
        (Did("system-nodes", 900, executing=40, seats=40, waiting=waiting),),
        full=1.0,
        current=current,
        demand=(demand,) * 5,
    )
    return a_cluster(busier(quiet("kas-a", dumps=dumps)[0], "system", of, *rows))


@pytest.mark.fires("lent-seats-not-back")
def test_a_level_whose_demands_give_it_more_than_it_has_does_not_get_its_seats_back() -> None:
    (one,) = [one for one in found(short(120.0)) if one.code == "lent-seats-not-back"]

    assert (one.severity, one.subject, one.change) == ("warning", "system", None)
    assert "40 of 74 nominal seats, 80 wait" in one.title
    assert one.facts["due"] is not None
    assert float(str(one.facts["due"])) >= 74


@pytest.mark.spares("lent-seats-not-back")
def test_a_level_that_is_short_since_its_last_adjustment_waits_for_the_next_one() -> None:
    idle = {name: of.current for name, of in a_cluster(*quiet("kas-a")).frame.replicas["kas-a"].levels.items()}
    lent = {"workload-low": Of((Did("service-accounts", 600, executing=56, seats=56, waiting=80),), demand=(0.0,) * 5)}
    scene = a_cluster(replace(quiet("kas-a")[0], levels={**quiet("kas-a")[0].levels, **lent}))

    assert idle["workload-low"] == 56
    assert found(scene) == []


def test_numbers_that_are_mixed_of_several_servers_tell_nothing_of_lent_seats() -> None:
    scene = short(120.0)
    checks = scene.checks["kas-a"]
    mixed = replace(checks, checks=(*checks.checks, Check("metrics-moment", "off")))

    assert "lent-seats-not-back" not in {one.code for one in found(replace(scene, checks={"kas-a": mixed}))}


def told(high: float, smoothed: float, full: float = 0.9) -> Scene:
    """`system` has 40 of its 74 seats, and its server tells what it asks for; which levels it runs is not known."""
    of = Of(
        (Did("system-nodes", 900, executing=40, seats=40, waiting=80),),
        full=full,
        current=40,
        demand=(high, smoothed, 0.0, smoothed, smoothed),
    )
    return a_cluster(busier(quiet("kas-a", dumps=False)[0], "system", of))


@pytest.mark.fires("lent-seats-not-back")
def test_a_level_that_was_full_for_longer_than_a_period_is_due_what_its_own_demand_tells() -> None:
    (one,) = found(told(60.0, 55.0))

    assert (one.code, one.facts["due"]) == ("lent-seats-not-back", 55.0)
    assert "a demand of up to 60 seats in the last period (55 smoothed), of which it is due 55" in one.evidence[0]
    assert "all its seats were taken for 27s: more than one adjustment" in one.evidence[0]
    assert found(told(120.0, 120.0))[0].facts["due"] == 74.0


@pytest.mark.spares("lent-seats-not-back")
@pytest.mark.parametrize(
    "scene",
    [
        pytest.param(told(41.0, 120.0), id="no more than it has but for rounding"),
        pytest.param(told(120.0, 35.0), id="for an instant"),
        pytest.param(told(120.0, 120.0, full=0.3), id="it may have become full within the period"),
        pytest.param(told(NAN, 120.0), id="no number"),
    ],
)
def test_a_demand_that_is_met_or_passed_at_once_or_just_came_is_spared(scene: Scene) -> None:
    assert "lent-seats-not-back" not in {one.code for one in found(scene)}


def old_rows(age_s: float) -> list[Row]:
    """Enough requests for all 74 nominal seats of `system`, 40 of them executing."""
    return [
        Row("system", "system-nodes", f"system:node:n{at}", age_s=age_s, executing_s=9.0 if at < 40 else None, queue=at)
        for at in range(80)
    ]


@pytest.mark.parametrize(("age_s", "codes"), [(14.0, {"lent-seats-not-back"}), (8.0, set[str]())])
def test_without_demands_requests_older_than_a_period_tell_that_seats_are_not_back(
    age_s: float, codes: set[str]
) -> None:
    assert {one.code for one in found(short(0.0, rows=old_rows(age_s), dumps=False))} == codes


def frozen(release: str = "v1.27.8") -> Scene:
    """Three servers of which the second has lost the demand of `catch-all`."""
    first, second, third = quiet(release=release)
    stuck = {
        "catch-all": Of(current=13, demand=(0.0, NAN, NAN, NAN, NAN)),
        "workload-low": Of((Did("service-accounts", 600, executing=1),), current=135),
        "global-default": Of(current=37),
        "system": Of(current=62),
        "node-high": Of(current=86),
        "leader-election": Of(current=25),
        "workload-high": Of(current=74),
    }
    return a_cluster(first, replace(second, levels={**second.levels, **stuck}, fair=0.0), third)


@pytest.mark.fires("borrowing-frozen")
def test_a_server_whose_demand_is_no_number_is_told_of_with_the_release_that_has_the_fix() -> None:
    (one,) = found(frozen())

    assert (one.code, one.severity, one.subject, one.replicas) == ("borrowing-frozen", "warning", "kas-b", ("kas-b",))
    assert one.title == (
        "borrowing is frozen on kas-b: the demand of catch-all is no number (NaN); 170 of 602 seats are nobody's"
    )
    assert any("fair fraction 0" in line for line in one.evidence)
    assert any("on kas-b and kas-a" in line and "workload-low 135 and 56" in line for line in one.evidence)
    assert "restart the API server on kas-b" in one.advice[0]
    assert "1.27.10" in one.advice[1]
    assert one.change is None
    assert one.facts["cause"] == "nan-demand"


@pytest.mark.spares("borrowing-frozen")
def test_servers_whose_demands_are_numbers_are_not_frozen() -> None:
    assert found(a_cluster(*quiet(release="v1.27.8"))) == []


@pytest.mark.parametrize(
    ("release", "fix"), [("v1.26.5", "1.26.13"), ("v1.28.5", "1.28.6"), ("v1.25.0", "1.29"), ("v1.30.4", "report it")]
)
def test_the_fix_is_that_of_the_same_minor_release(release: str, fix: str) -> None:
    (one,) = [one for one in found(frozen(release)) if one.code == "borrowing-frozen"]

    assert fix in one.advice[1]


def infeasible(exempt_shares: int, fair: float, release: str = "v1.37.2") -> Scene:
    """No level may borrow, and the exempt one has shares."""
    levels = [
        replace(one, borrowing_limit_percent=0) for one in builtin_levels().values() if not one.exempt and one.queuing
    ]
    catch_all = replace(mandatory_level("catch-all"), borrowing_limit_percent=0)
    exempt = replace(mandatory_level("exempt"), shares=exempt_shares)
    return a_cluster(
        replace(quiet("kas-a", release=release)[0], fair=fair), levels=[*levels, catch_all, exempt], schemas=[]
    )


def test_shares_of_exempt_that_nobody_may_take_freeze_all_limits_in_silence() -> None:
    (one,) = [one for one in found(infeasible(60, 0.0)) if one.code == "borrowing-frozen"]

    assert one.facts["cause"] == "allocation-fails"
    assert one.change is not None
    assert one.change.command == patch("exempt", "exempt", nominalConcurrencyShares=0)
    assert one.change.rollback == patch("exempt", "exempt", nominalConcurrencyShares=60)
    assert "goes from nominal 119" in one.advice[0]


@pytest.mark.parametrize(
    ("shares", "fair", "release"), [(0, 0.0, "v1.37.2"), (60, 1.0, "v1.37.2"), (60, 0.0, "v1.30.4")]
)
def test_limits_that_can_be_shared_out_are_not_frozen(shares: int, fair: float, release: str) -> None:
    assert "borrowing-frozen" not in {one.code for one in found(infeasible(shares, fair, release))}


SCHEMAS = {"system": "system-nodes", "workload-low": "service-accounts"}


def squeezed(
    taken: int = 420, level: str = "system", waiting: int = 30, fair: float = 0.0, release: str = "v1.37.2"
) -> Scene:
    """The limits that a server of 1.37 gives its levels where exempt took so many seats, and all others want theirs."""
    runs = limits(builtin_levels().values(), SEATS, Release(1, 37, 2))
    had = {
        name: Borrower(name == "exempt", its.nominal, its.lower, its.upper, 0, its.nominal * 0.9, its.nominal * 0.9)
        for name, its in runs.items()
    }
    had["exempt"] = replace(had["exempt"], high_watermark=taken)
    current = adjust(had, Release(1, 37, 2)).current
    did = {name: Of(current=float(seats)) for name, seats in current.items()}
    did["exempt"] = Of((Did("exempt", 900, executing=300, seats=300),), current=float(current["exempt"]))
    seats = current[level]
    did[level] = Of(
        (Did(SCHEMAS[level], 900, executing=seats, seats=seats, waiting=waiting),), full=1.0, current=float(seats)
    )
    rows = (
        Row("exempt", "exempt", "admin", "list", "secrets", executing_s=2.0, queue=-1, width=100, flow=""),
        Row("exempt", "exempt", "scraper", "get", "pods", executing_s=0.1, queue=-1, flow=""),
    )
    return a_cluster(Server("kas-a", did, rows, release=release, fair=fair))


@pytest.mark.fires("exempt-squeezes")
def test_exempt_use_that_presses_a_protected_level_is_critical_and_tells_who_it_is() -> None:
    (one,) = [one for one in found(squeezed()) if one.code == "exempt-squeezes"]

    assert (one.severity, one.subject, one.level) == ("critical", "exempt", "exempt")
    assert "they took up to 420 of 602 seats, and system has 50 of its 74" in one.title
    assert any("most exempt seats by admin: 100 of 101" in line for line in one.evidence)
    assert one.change is not None
    assert one.change.command == f"{kept('system', 'false')} && {patch('system', 'limited', lendablePercent=0)}"
    assert one.change.rollback == f"{patch('system', 'limited', lendablePercent=33)} && {kept('system', 'true')}"
    assert any("nominal 74, lower 50" in line and "lower 74" in line for line in one.evidence)


def test_levels_between_their_lower_and_nominal_limits_are_squeezed_too() -> None:
    (one,) = [one for one in found(squeezed(taken=150)) if one.code == "exempt-squeezes"]

    assert one.facts["levels"] == {"system": {"current": 61.0, "nominal": 74.0}}


def test_exempt_use_that_presses_other_levels_is_a_warning() -> None:
    (one,) = [one for one in found(squeezed(level="workload-low")) if one.code == "exempt-squeezes"]

    assert one.severity == "warning"


@pytest.mark.spares("exempt-squeezes")
@pytest.mark.parametrize(
    "scene",
    [
        pytest.param(squeezed(waiting=1), id="nobody is in need"),
        pytest.param(squeezed(fair=1.2), id="seats are shared out"),
        pytest.param(squeezed(taken=20), id="little is taken"),
        pytest.param(squeezed(release="v1.30.4"), id="exempt shares alike"),
    ],
)
def test_exempt_use_that_takes_from_nobody_squeezes_nobody(scene: Scene) -> None:
    assert "exempt-squeezes" not in {one.code for one in found(scene)}


def over(seats: int = 90, over_share: float = 0.8, *rows: Row) -> Scene:
    of = Of((Did("service-accounts", 300, executing=seats, seats=seats),), full=0.1, over=over_share, current=56)
    return a_cluster(busier(quiet("kas-a")[0], "workload-low", of, *rows))


@pytest.mark.fires("over-limit")
def test_a_level_that_holds_more_than_its_limit_for_long_is_worth_knowing() -> None:
    rows = [Row("workload-low", "service-accounts", f"u{at}", executing_s=20.0, queue=at) for at in range(90)]

    (one,) = found(over(90, 0.9, *rows))

    assert (one.code, one.severity, one.subject, one.change) == ("over-limit", "info", "workload-low", None)
    assert one.title.endswith("uses more seats than its limit: 90 of 56, above it for 90.0% of the time")
    assert one.facts["over_share"] == pytest.approx(0.9)
    assert "the limit fell below what was in use" in one.evidence[0]


@pytest.mark.spares("over-limit")
@pytest.mark.parametrize(("seats", "share"), [(90, 0.2), (56, 0.9)])
def test_a_level_that_was_above_its_limit_for_an_instant_is_not(seats: int, share: float) -> None:
    assert found(over(seats, share)) == []


def test_what_explains_seats_above_the_limit_is_told() -> None:
    wide = Row("workload-low", "service-accounts", "lister", "list", executing_s=2.0, width=90)
    writes = [Row("workload-low", "service-accounts", f"u{at}", "update", executing_s=0.1, queue=at) for at in range(5)]

    assert "one request of 90 seats is wider than the limit" in found(over(90, 0.9, wide))[0].evidence[0]
    assert "85 linger" in found(over(90, 0.9, *writes))[0].evidence[0]


def test_a_quiet_cluster_has_nothing_of_all_this() -> None:
    for release in ("v1.26.0", "v1.30.4", "v1.37.2"):
        assert found(a_cluster(*quiet(release=release))) == []


def test_a_server_alone_stands_for_itself() -> None:
    assert found(a_cluster(Server("kas-a", metrics=False))) == []


def test_requests_that_are_refused_count_as_what_a_level_at_its_limit_wants() -> None:
    of = Of(
        (Did("tenant", 900, concurrency_limit=600, width=2, execution_s=0.5, executing=20, seats=20),),
        full=0.9,
        current=20,
    )
    gate = a_level("tenant", 8, queues=None, borrowing=5)
    scene = a_cluster(busier(quiet("kas-a")[0], "tenant", of), levels=[gate], schemas=[TO_TENANT])

    (one,) = [one for one in found(scene) if one.code == "borrowing-limit"]

    assert "600 were refused" in one.title
    assert float(str(one.facts["upper_after"])) >= 50
