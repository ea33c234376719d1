"""Wide requests, a head of line that does not fit, LISTs that are too cheap, watches that begin."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from apftop.findings.scene import Scene
from apftop.findings.widths import FINDERS
from apftop.records.findings import Change, Finding
from apftop.records.raw import Endpoint, Sample
from tests.derive.build import table
from tests.findings.cluster import SECONDS, T0, Did, Of, Row, Server, a_cluster, a_level, a_schema, busier, made, quiet

LEVEL = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io"


def found(scene: Scene, code: str = "") -> list[Finding]:
    return [one for find in FINDERS for one in find(scene) if code in ("", one.code)]


def created(change: Change | None) -> list[dict[str, Any]]:
    """The objects that a change makes, out of its command."""
    assert change is not None
    return made(change.command)


def default(user: str, verb: str, resource: str, width: int = 1, executing_s: float | None = None, **more: Any) -> Row:
    row = {"age_s": 3.0 if executing_s is None else executing_s + 1, "width": width, "executing_s": executing_s, **more}
    return Row("global-default", "global-default", user, verb, resource, **row)


def reports(wide: int = 5, width: int = 8, narrow: int = 3, waiting: int = 20) -> list[Row]:
    """LISTs that execute for long, with others beside and behind them."""
    return [
        *(default(f"oidc:report-{at}", "list", "pods", width, 20.0 + at) for at in range(wide)),
        *(default(f"oidc:dev-{at}", "get", "pods", 1, 0.1) for at in range(narrow)),
        *(default(f"oidc:dev-{at}", "get", "configmaps") for at in range(waiting)),
    ]


def in_default(rows: Sequence[Row] | None, release: str = "v1.30.4", more: Sequence[Sample] = (), **did: Any) -> Scene:
    seats = sum(row.width for row in rows or () if row.executing_s is not None)
    waiting = sum(row.executing_s is None for row in rows or ())
    own = {"executing": 8, "seats": seats, "waiting": waiting, "waiting_seats": waiting, **did}
    of = Of((Did("global-default", 60, **own),), current=49.0, full=0.9)
    (server,) = quiet("kas-a", release=release)
    server = busier(server, "global-default", of, *(rows or ()))
    return a_cluster(replace(server, rows=None) if rows is None else server, more=more)


@pytest.mark.fires("wide-requests")
def test_lists_that_hold_most_seats_while_others_wait_are_told_of() -> None:
    (one,) = found(in_default(reports()), "wide-requests")

    assert (one.severity, one.subject) == ("warning", "global-default")
    assert one.title == (
        "list pods of 8.0 seats each on average: 40 of 43 seats in use in global-default on kas-a, and 20 requests wait"
    )
    assert any("5 requests of 8 seats hold 40 of 43" in line and "oldest for 24s" in line for line in one.evidence)
    assert any("oidc:report-0 8" in line for line in one.evidence)
    assert any("at most 8 seats" in line for line in one.evidence)
    level, schema = created(one.change)
    assert schema["spec"]["matchingPrecedence"] == 9500
    assert schema["spec"]["priorityLevelConfiguration"]["name"] == level["metadata"]["name"] == "wide-pods"
    (rule,) = schema["spec"]["rules"][0]["resourceRules"]
    assert (rule["verbs"], rule["resources"]) == (["list"], ["pods"])
    assert "at precedence 9500" in one.advice[0]


@pytest.mark.spares("wide-requests")
@pytest.mark.parametrize(
    "rows",
    [
        reports(waiting=4),
        reports(wide=2),
        reports(width=3),
        reports(narrow=30),
        [default(f"oidc:dev-{at}", "get", "pods", 1, 0.1) for at in range(49)] + reports(0),
    ],
    ids=["nothing presses", "two of them", "not wide", "a part of the seats", "narrow ones"],
)
def test_a_level_that_is_not_held_by_wide_requests_is_left_alone(rows: list[Row]) -> None:
    assert not found(in_default(rows), "wide-requests")


@pytest.mark.spares("wide-requests")
def test_a_burst_behind_wide_requests_that_is_served_in_the_next_moment_is_left_alone() -> None:
    burst = [row if row.executing_s is not None else replace(row, age_s=0.02) for row in reports()]

    assert not found(in_default(burst), "wide-requests")


@pytest.mark.parametrize(
    ("release", "says", "not_says"),
    [
        ("v1.30.4", "each fifty objects", "100 kB"),
        ("v1.32.1", "limit makes a LIST shorter and no cheaper", "a page costs"),
        ("v1.35.0", "100 kB", "hundred objects"),
    ],
)
def test_what_makes_a_list_cheaper_depends_on_the_release(release: str, says: str, not_says: str) -> None:
    (one,) = found(in_default(reports(), release), "wide-requests")

    text = " ".join(one.advice)
    assert says in text
    assert not_says not in text


def test_the_level_apart_is_for_one_client_where_one_has_most_of_the_seats() -> None:
    rows = [replace(row, user="oidc:backup") if row.width > 1 else row for row in reports()]

    (one,) = found(in_default(rows), "wide-requests")
    _, schema = created(one.change)

    assert schema["spec"]["rules"][0]["subjects"] == [{"kind": "User", "user": {"name": "oidc:backup"}}]
    assert "list pods of oidc:backup" in one.advice[0]


def test_the_level_apart_is_named_by_what_has_most_of_the_seats() -> None:
    rows = [default("oidc:a", "list", "secrets", 4, 20.0), *(row for row in reports(wide=4) if row.verb == "list")]
    (one,) = found(in_default([*rows, *reports(0)]), "wide-requests")

    assert created(one.change)[0]["metadata"]["name"] == "wide-pods"


def test_a_part_of_the_cluster_is_not_confined() -> None:
    user = "system:serviceaccount:kube-system:generic-garbage-collector"
    rows = [replace(row, user=user) if row.verb == "list" else row for row in reports()]
    (one,) = found(in_default(rows), "wide-requests")

    assert one.change is None
    assert "-n kube-system" in one.advice[0]


def test_writes_that_many_watches_are_told_of_are_wide_for_another_reason() -> None:
    rows = [
        *(default(f"oidc:bot-{at}", "patch", "nodes", 1, 0.5, final=9) for at in range(5)),
        *(default(f"oidc:dev-{at}", "get", "pods") for at in range(20)),
    ]

    (one,) = found(in_default(rows, seats=45), "wide-requests")

    assert "a seat for each ten watches" in " ".join(one.advice)


def test_without_a_dump_the_mean_width_of_a_full_level_tells_of_wide_requests() -> None:
    (one,) = found(in_default(None, width=6.0, seats=48, waiting=20), "wide-requests")

    assert one.title == (
        "requests of 6.0 seats each on average: 48 of 49 seats in use in global-default on kas-a, and 20 requests wait"
    )
    assert "6.0 seats wide on average" in one.evidence[0]
    assert one.change is None
    assert one.facts["seats_share"] is None
    assert not found(in_default(None, width=2.0, seats=48, waiting=20), "wide-requests")


def queues(in_use: int) -> Sample:
    """A dump of queues in which queue 17 is next."""
    body = table(
        (
            *("PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse"),
            *("NextDispatchR", "InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum"),
        ),
        ("global-default", 3, 20, 3, in_use, "600.00000000ss", 20, 20, "1.00000000ss"),
        ("global-default", 17, 1, 0, 0, "5.00000000ss", 8, 8, "1.00000000ss"),
    )
    at = T0 + SECONDS
    return Sample("kas-a", Endpoint.QUEUES, body, 200, sent=at, received=at, server_date=at)


def blocked(width: int = 8, in_use: int = 43, tried: int = 5120, **more: Any) -> Scene:
    """LISTs hold seats, and a request of this width is next."""
    waiting = [
        replace(row, queue=3, index=at) for at, row in enumerate(row for row in reports() if row.executing_s is None)
    ]
    rows = [*(row for row in reports() if row.executing_s is not None), *waiting]
    rows.append(default("oidc:report-9", "list", "events", width, age_s=6.0, queue=17))
    return in_default(rows, more=[queues(in_use)], seats=in_use, no_accommodation=tried, **more)


def test_one_seat_that_idles_is_told_of_in_the_singular() -> None:
    (one,) = found(blocked(in_use=48), "head-of-line")

    assert one.title == "1 seat of global-default idles on kas-a while 21 requests wait: next is a request of 8 seats"
    assert any("48 of 49 seats in use, 1 idle" in line for line in one.evidence)


def test_what_a_level_for_wide_requests_takes_is_told() -> None:
    (one,) = found(blocked(), "head-of-line")

    assert one.change is not None
    assert any("the new level gets" in line or "the new level takes" in line for line in one.advice)


@pytest.mark.fires("head-of-line")
def test_a_wide_request_that_is_next_explains_idle_seats() -> None:
    (one,) = found(blocked(), "head-of-line")

    assert (one.severity, one.subject) == ("warning", "global-default")
    assert one.title == ("6 seats of global-default idle on kas-a while 21 requests wait: next is a request of 8 seats")
    assert any("43 of 49 seats in use, 6 idle, 21 requests wait" in line for line in one.evidence)
    assert any("170.7/s attempts" in line and "over 30s" in line for line in one.evidence)
    assert any("head of queue 17: list events by oidc:report-9, 8 seats" in line for line in one.evidence)
    assert any("executes for 24s: list pods by oidc:report-4, 8 seats" in line for line in one.evidence)
    assert one.advice[0].startswith("this is how APF works")
    assert (one.facts["seats_idle"], one.facts["next_seats"], one.facts["next_kind"]) == (6, 8, "list events")


@pytest.mark.spares("head-of-line")
def test_a_level_that_is_full_or_whose_next_request_fits_stops_nobody() -> None:
    assert not found(blocked(width=6), "head-of-line")
    assert not found(blocked(in_use=49), "head-of-line")
    assert not found(blocked(tried=0), "head-of-line")


def test_few_idle_seats_are_for_information() -> None:
    (one,) = found(blocked(in_use=46), "head-of-line")

    assert one.severity == "info"


def test_without_dumps_attempts_that_failed_tell_of_a_head_of_line() -> None:
    (one,) = found(in_default(None, seats=43, waiting=20, no_accommodation=300), "head-of-line")

    assert one.title.endswith("the next request is too wide for them")
    assert not found(in_default(None, seats=49, waiting=20, no_accommodation=300), "head-of-line")


def cheap(shares: int, hand_size: int, lists: int = 3, executing_s: float = 4.0) -> Scene:
    """LISTs in a small level."""
    rows = [
        Row("small", "small", f"oidc:{at}", "list", "pods", age_s=executing_s + 1, executing_s=executing_s)
        for at in range(lists)
    ]
    of = Of((Did("small", 60, executing=lists),))
    server = busier(quiet("kas-a")[0], "small", of, *rows)
    return a_cluster(
        server, levels=[a_level("small", shares, hand_size=hand_size)], schemas=[a_schema("small", "small", 800)]
    )


@pytest.mark.fires("seat-cap-one")
def test_long_lists_in_a_small_level_count_as_one_seat() -> None:
    (one,) = found(cheap(2, 4))

    assert (one.code, one.severity, one.subject) == ("seat-cap-one", "info", "small")
    assert "3 LISTs in small on kas-a count as one seat each" in one.title
    assert any("15% of 5" in line and "handSize 4" in line for line in one.evidence)
    assert one.change is not None
    patch = json.dumps({"spec": {"limited": {"nominalConcurrencyShares": 3}}})
    assert one.change.command == f"kubectl patch {LEVEL}/small --type=merge -p '{patch}'"
    assert '"nominalConcurrencyShares": 2' in one.change.rollback


def test_a_smaller_hand_is_enough_where_the_level_has_the_seats() -> None:
    (one,) = found(cheap(4, 6))

    assert one.change is not None
    assert '"handSize": 5' in one.change.command
    assert '"handSize": 6' in one.change.rollback


@pytest.mark.spares("seat-cap-one")
def test_short_lists_one_list_and_a_higher_cap_are_no_matter() -> None:
    assert not found(cheap(2, 4, executing_s=0.5))
    assert not found(cheap(2, 4, lists=1))
    assert not found(cheap(10, 4))


def informers(watches: int = 30, waiting: int = 20, others: int = 5, age_s: float = 3.0) -> Server:
    def row(at: int, verb: str, executing_s: float | None) -> Row:
        user = f"system:serviceaccount:app-{at}:default"
        return Row("workload-low", "service-accounts", user, verb, age_s=age_s, executing_s=executing_s)

    rows = [row(at, "watch", None if at < waiting else 0.5) for at in range(watches)]
    rows += [row(at, "get", 0.1) for at in range(others)]
    of = Of((Did("service-accounts", 600, executing=others + watches - waiting, waiting=waiting),))
    return busier(quiet("kas-a", up_s=600.0)[0], "workload-low", of, *rows)


@pytest.mark.fires("watch-initialisation")
def test_watches_that_begin_all_at_once_are_told_of() -> None:
    (one,) = found(a_cluster(informers()))

    assert (one.code, one.severity, one.subject) == ("watch-initialisation", "warning", "workload-low")
    assert one.title == "30 watches begin in workload-low on kas-a, 20 of them wait"
    assert any("30 of 35 requests" in line and "up for 10m" in line for line in one.evidence)
    assert one.change is None
    assert one.advice[0].startswith("wait for it to pass")


@pytest.mark.spares("watch-initialisation")
@pytest.mark.parametrize(
    "server",
    [informers(watches=9, waiting=5), informers(waiting=0), informers(others=31), informers(age_s=0.5)],
    ids=["few", "none waits", "less than half", "a moment"],
)
def test_watches_that_begin_without_a_crowd_are_no_matter(server: Server) -> None:
    assert not found(a_cluster(server), "watch-initialisation")


def test_quiet_servers_have_no_such_finding() -> None:
    assert not found(a_cluster(*quiet()))
