"""The other views, and what they say where something is not there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apftop.records.asking import Plan
from apftop.records.checks import Check, LevelChecks, Span, Start
from apftop.records.frame import Own, Queue
from apftop.records.raw import Endpoint
from apftop.sheets.look import EACH, SUM, Look, Sort, View
from apftop.sheets.views import VIEWS, needs
from tests.sheets.checked import ARRIVALS, CLOCK, IN_TIME, ORDER, WAITED, key_of, with_checks
from tests.sheets.moments import (
    BUNDLES,
    a_request,
    busy,
    case,
    cell,
    denied,
    failed,
    metrics,
    moment_of,
    replicas,
    seen,
    texts,
    with_level,
    with_replicas,
    with_requests,
)

OF_FINDING = (View.FINDINGS, View.CHECKS)
"""Views whose rows lie beside the frame."""

each_view = pytest.mark.parametrize("view", list(View))


def a_queue(index: int, waiting: int = 0, executing: int = 0, **changes: object) -> Queue:
    made = Queue("load", index, waiting, executing, executing, waiting, 12.5, 0.3, False, (), None)
    return replace(made, **changes)  # type: ignore[arg-type]


@each_view
@pytest.mark.parametrize("name", BUNDLES)
@pytest.mark.parametrize("scope", [EACH, SUM])
def test_every_view_of_every_case_has_one_key_for_each_row_and_one_cell_for_each_column(
    name: str, scope: str, view: View
) -> None:
    found = seen(case(name), view=view, scope=scope)

    assert len({row.key for row in found.rows}) == len(found.rows)
    assert all(len(row.cells) == len(found.columns) for row in found.rows)
    assert found.rows or found.empty


@each_view
@pytest.mark.parametrize("scope", [EACH, SUM, "kas-a"])
def test_every_column_says_what_it_means_and_where_it_comes_from(view: View, scope: str) -> None:
    found = seen(case("C23"), view=view, scope=scope)

    assert all(column.help and column.source and column.title and column.width for column in found.columns)
    assert len({column.key for column in found.columns}) == len(found.columns)


@each_view
def test_a_view_without_a_server_says_so(view: View) -> None:
    assert seen(moment_of(), view=view).empty == "no server has answered yet"


@each_view
def test_every_row_leads_to_a_view_that_has_rows(view: View) -> None:
    moment, look = case("C03"), Look(view=view)

    for row in seen(moment, view=view, hide_idle=True).rows[:1]:
        if row.about is not None:
            inner = look.drilled(row.about)
            assert seen(moment, view=inner.view, scope=inner.scope, within=inner.within).rows


def test_rows_about_a_level_name_it_for_its_checks() -> None:
    moment = case("C03")
    whole = {"level": "workload-low", "replica": "server"}

    others = {*OF_FINDING, View.HISTORY}
    subjects = {view: seen(moment, view=view).rows[0].subject for view in VIEWS if view not in others}

    assert subjects == {
        View.LEVELS: whole,
        View.SCHEMAS: whole,
        View.QUEUES: whole,
        View.REQUESTS: whole,
        View.CLIENTS: None,
        View.REPLICAS: {"replica": "server"},
    }


def test_the_way_down_is_level_schemas_queues_requests() -> None:
    moment, look, way = case("C03"), Look(), ["levels"]
    while (about := seen(moment, view=look.view, scope=look.scope, within=look.within).rows[0].about) is not None:
        look = look.drilled(about)
        way.append(look.view.value)

    assert way == ["levels", "schemas", "queues", "requests"]
    assert look.within == {"level": "workload-low", "queue": "18"}


def test_views_need_the_dumps_that_they_show() -> None:
    assert {view: needs(view) for view in VIEWS} == {
        View.LEVELS: frozenset(),
        View.SCHEMAS: frozenset(),
        View.QUEUES: {Endpoint.QUEUES, Endpoint.REQUESTS},
        View.REQUESTS: {Endpoint.REQUESTS},
        View.CLIENTS: {Endpoint.REQUESTS},
        View.REPLICAS: frozenset(),
        View.FINDINGS: {Endpoint.REQUESTS},
        View.CHECKS: {Endpoint.QUEUES, Endpoint.REQUESTS},
        View.HISTORY: frozenset(),
    }


class TestSchemas:
    def test_a_row_says_what_its_schema_does(self) -> None:
        found = seen(case("C03"), view=View.SCHEMAS)

        keys = ("schema", "level", "precedence", "distinguisher", "waiting", "seats", "dispatched", "rejected", "flows")
        assert [cell(found, key).text for key in keys] == [
            *("service-accounts", "workload-low", "9000", "ByUser"),
            *("300", "39", "368.0", "149.0", "3"),
        ]

    def test_those_of_a_level_are_the_ones_that_lead_to_it(self) -> None:
        found = seen(case("C03"), view=View.SCHEMAS, within={"level": "workload-low"})

        assert texts(found, "schema") == ["service-accounts"]
        assert found.title == "schemas, level workload-low, each replica"

    def test_deleted_ones_and_former_levels_are_told(self) -> None:
        moment = moment_of(*busy())
        old = moment.frame.replicas["kas"]
        gone = replace(old.schemas["load"], deleted=True, past_levels=("before",))

        found = seen(with_replicas(moment, [replace(old, schemas={"load": gone})]), view=View.SCHEMAS)

        assert cell(found, "remarks").text == "deleted; once on before"

    def test_the_oldest_of_a_sum_is_marked_where_a_replica_has_no_dump(self) -> None:
        moment = moment_of(*busy("kas-1"), *busy("kas-2"))
        one, two = replicas(moment).values()
        known = replace(one, requests=(), schemas={"load": replace(one.schemas["load"], oldest_waiting_s=4.0)})

        assert cell(seen(with_replicas(moment, [known, two]), view=View.SCHEMAS, scope=SUM), "oldest").text == "4s~"
        assert cell(seen(with_replicas(moment, [known]), view=View.SCHEMAS, scope=SUM), "oldest").text == "4s"

    def test_a_sum_adds_what_each_replica_knows(self) -> None:
        moment = moment_of(*busy("kas-1"), *busy("kas-2"))

        found = seen(moment, view=View.SCHEMAS, scope=SUM)

        assert [cell(found, key).text for key in ("waiting", "seats", "dispatched", "rejected")] == [
            *("6", "18", "20.0", "4.00")
        ]

    def test_a_schema_of_a_level_without_queues_leads_to_its_requests(self) -> None:
        found = seen(case("C03"), view=View.SCHEMAS)

        exempt = found.rows[texts(found, "schema").index("probes")]
        assert exempt.about == {"view": "requests", "schema": "probes", "replica": "server"}


class TestQueues:
    def test_a_row_says_what_its_queue_holds(self) -> None:
        found = seen(case("C03"), view=View.QUEUES)

        keys = ("level", "queue", "waiting", "executing", "seats", "waiting_seats", "next", "next_r", "work", "oldest")
        assert [cell(found, key).text for key in keys] == [
            *("workload-low", "18", "50", "6", "6", "50", "next", "0.00", "0.15", "860ms")
        ]
        assert cell(found, "flows").text == "system:serviceaccount:stackable-operators:secret-operator"

    def test_the_fullest_come_first_and_idle_ones_can_be_hidden(self) -> None:
        found = seen(case("C03"), view=View.QUEUES, hide_idle=True)

        assert [cell(found, "waiting", row).value for row in found.rows] == [50] * 6 + [0, 0]

    def test_queues_that_were_not_asked_for_are_not_none(self) -> None:
        assert seen(moment_of(*busy()), view=View.QUEUES).empty == "dump_queues of kas: not asked for yet"

    def test_what_is_denied_is_said_with_the_rule_that_grants_it(self) -> None:
        found = seen(moment_of(*busy(), denied("kas", Endpoint.QUEUES, 1011.0)), view=View.QUEUES)

        assert 'ClusterRole rule nonResourceURLs: ["/debug/api_priority_and_fairness/*"]' in found.empty

    def test_what_failed_is_said_with_its_error(self) -> None:
        found = seen(moment_of(*busy(), failed("kas", Endpoint.QUEUES, 1011.0)), view=View.QUEUES)

        assert found.empty == "dump_queues of kas: no answer within 5 s"

    def test_what_the_plan_leaves_out_is_said_with_its_reason(self) -> None:
        moment = moment_of(*busy())
        plan = Plan({}, left_out={Endpoint.QUEUES: "it would hold the server's lock for 80 ms"})

        found = seen(replace(moment, plans={"kas": plan}), view=View.QUEUES)

        assert found.notes == ("dump_queues of kas: left out for now: it would hold the server's lock for 80 ms",)

    def test_what_is_denied_and_so_asked_for_rarely_still_names_the_rule(self) -> None:
        moment = moment_of(*busy(), denied("kas", Endpoint.QUEUES, 1011.0))
        moment = replace(moment, plans={"kas": Plan({}, left_out={Endpoint.QUEUES: "status 403"})})

        assert "ClusterRole rule" in seen(moment, view=View.QUEUES).empty
        assert len(seen(moment, view=View.REPLICAS).notes) == 1

    def test_one_replica_that_denies_does_not_hide_the_other(self) -> None:
        moment = moment_of(*busy("kas-1"), *busy("kas-2"))
        first = moment.frame.replicas["kas-1"]
        level = replace(first.levels["load"], queues=(a_queue(1, waiting=2),))

        found = seen(with_level(moment, level, "kas-1"), view=View.QUEUES)

        assert texts(found, "replica") == ["kas-1"]
        assert found.notes == ("dump_queues of kas-2: not asked for yet",)

    def test_a_level_without_queues_says_why(self) -> None:
        found = seen(case("C03"), view=View.QUEUES, within={"level": "exempt"})

        assert found.empty == "level exempt has no queues: its requests are exempt"

    def test_thousands_of_idle_queues_are_counted_and_not_listed(self) -> None:
        moment = moment_of(*busy())
        level = moment.frame.replicas["kas"].levels["load"]
        queues = (*(a_queue(index) for index in range(3000)), a_queue(3000, waiting=1))

        found = seen(with_level(moment, replace(level, queues=queues)), view=View.QUEUES)

        assert (len(found.rows), cell(found, "queue").text) == (2001, "3000")
        assert found.notes == ("1000 more queues, in which nothing happens, are not listed",)


class TestRequests:
    def test_a_row_says_who_asks_for_what(self) -> None:
        found = seen(case("C03"), view=View.REQUESTS)

        keys = ("state", "level", "schema", "queue", "kind", "object", "width", "age", "wait")
        assert [cell(found, key).text for key in keys] == [
            *("waiting", "workload-low", "service-accounts", "18/0", "get persistentvolumeclaims"),
            *("spark-1/pvc-00001", "1", "860ms", ""),
        ]

    def test_waiting_ones_come_first_the_oldest_before_the_others_and_own_ones_last(self) -> None:
        rows = [
            a_request(user="own", own=True, age_s=50.0),
            a_request(user="runs", executing=True, index=-1, age_s=40.0, wait_s=0.2, executing_s=39.8),
            a_request(user="new", age_s=0.1),
            a_request(user="old", age_s=9.0),
        ]

        found = seen(with_requests(moment_of(*busy()), rows), view=View.REQUESTS)

        assert texts(found, "user") == ["old", "new", "runs", "own"]
        assert texts(found, "wait") == ["", "", "200ms", ""]
        assert (found.rows[3].mark, cell(found, "state", 3).text) == ("own", "waiting, own")

    def test_a_request_keeps_its_key_as_it_grows_older_and_moves_up(self) -> None:
        moment = moment_of(*busy())

        def key_of(**changes: object) -> tuple[str, ...]:
            found = seen(with_requests(moment, [a_request(**changes)]), view=View.REQUESTS)
            return found.rows[0].key

        assert key_of(age_s=1.25, index=3) == key_of(age_s=9.7, index=0)
        assert key_of(age_s=1.25) != key_of(age_s=1.25, arrive_ns=1_009_000_000_001)

    def test_two_requests_of_one_moment_are_two_rows(self) -> None:
        found = seen(with_requests(moment_of(*busy()), [a_request(), a_request()]), view=View.REQUESTS)

        assert len({row.key for row in found.rows}) == 2

    def test_a_dump_without_details_leaves_users_unknown(self) -> None:
        row = a_request(user=None, verb=None, resource=None, path=None, namespace=None, name=None)

        found = seen(with_requests(moment_of(*busy()), [row]), view=View.REQUESTS)

        assert [cell(found, key).text for key in ("user", "kind", "object", "flow")] == ["-", "-", "-", "bob"]

    def test_an_unknown_age_is_not_zero(self) -> None:
        found = seen(with_requests(moment_of(*busy()), [a_request(age_s=None)]), view=View.REQUESTS)

        assert (cell(found, "age").text, cell(found, "age").value) == ("-", None)

    def test_an_old_release_that_lists_waiting_requests_only_is_named(self) -> None:
        moment = moment_of(*busy())
        old = replace(replicas(moment)["kas"], requests=(), lists_executing=False)

        found = seen(with_replicas(moment, [old]), view=View.REQUESTS)

        assert found.notes == ("kas: up to 1.27 the dump has waiting requests only",)

    def test_a_start_is_a_band_or_a_bound_for_those_that_wait(self) -> None:
        rows = [
            a_request(user="soon", age_s=9.0),
            a_request(user="later", age_s=8.0),
            a_request(user="new", age_s=0.1),
            a_request(user="runs", executing=True, index=-1),
        ]
        starts = {
            key_of(rows[0]): Start(Span(0.2, 0.5, 1.3), 15.0, 64),
            key_of(rows[1]): Start(None, 15.0, 64),
            key_of(rows[3]): Start(None, 15.0, 64),
        }
        moment = with_checks(with_requests(moment_of(*busy()), rows), {"load": replace(WAITED, starts=starts)})

        found = seen(moment, view=View.REQUESTS)

        assert texts(found, "starts") == ["0.2-1.3s", ">15s", "-", ""]
        assert texts(seen(moment, view=View.REQUESTS, filter="starts>5s"), "user") == ["later"]

    def test_nothing_is_predicted_where_nothing_was_checked(self) -> None:
        assert texts(seen(with_requests(moment_of(*busy()), [a_request()]), view=View.REQUESTS), "starts") == ["-"]


class TestClients:
    def test_a_client_is_one_row_over_all_replicas(self) -> None:
        moment = moment_of(*busy("kas-1"), *busy("kas-2"))
        run = a_request(executing=True, index=-1, initial_seats=3, age_s=4.0, wait_s=0.0, verb="get")
        moment = with_requests(moment, [a_request(age_s=2.0), a_request(own=True)], "kas-1")
        moment = with_requests(moment, [a_request(age_s=7.0), run], "kas-2")

        found = seen(moment, view=View.CLIENTS)

        keys = ("user", "waiting", "executing", "seats", "oldest", "flows", "levels", "kinds", "replicas")
        assert [cell(found, key).text for key in keys] == [
            *("bob", "2", "1", "3", "7s", "1", "load", "list nodes 2, get nodes 1", "2: kas-1, kas-2")
        ]
        assert len(found.rows) == 1

    def test_a_client_leads_to_its_requests(self) -> None:
        moment = case("C03")
        row = seen(moment, view=View.CLIENTS).rows[0]
        assert row.about is not None

        look = Look().drilled(row.about)

        inner = seen(moment, view=look.view, within=look.within)
        assert set(texts(inner, "user")) == {"system:serviceaccount:stackable-operators:secret-operator"}

    def test_what_executes_is_unknown_where_a_dump_does_not_list_it(self) -> None:
        moment = with_requests(moment_of(*busy()), [a_request()])
        old = replace(replicas(moment)["kas"], lists_executing=False)

        found = seen(with_replicas(moment, [old]), view=View.CLIENTS)

        assert (cell(found, "waiting").text, cell(found, "executing").text) == ("1", "-")


class TestReplicas:
    def test_a_row_says_how_a_server_answers_and_what_asking_it_costs(self) -> None:
        moment = moment_of(*busy(), denied("kas", Endpoint.REQUESTS, 1011.0), now=1012.0)
        old = replicas(moment)["kas"]
        own = Own("probes", "exempt", rejected=2, sent=40, next_try=(), bytes=12_345)
        moment = with_replicas(moment, [replace(old, own=own, peer="0123456789abcdef", started=12.0)])
        plan = Plan({}, left_out={Endpoint.QUEUES: "too long"}, cost_share=0.0042)

        found = seen(replace(moment, plans={"kas": plan}), view=View.REPLICAS)

        row = {column.key: one.text for column, one in zip(found.columns, found.rows[0].cells, strict=True)}
        assert row == {
            "finding": "",
            "replica": "kas",
            "version": "v1.30.4",
            "reach": "partly: requests 403",
            "apf": "ok",
            "worst": "load saturated",
            "seats": "9/-",
            "nominal": "8",
            "waiting": "3",
            "rejected": "2.00",
            "checks": "-",
            "problems": "1",
            "ages": "metrics 2s",
            "own": "probes / exempt",
            "refused": "2 of 40",
            "read": "12.3 kB",
            "cost": "0.4%",
            "clock": "-",
            "up": "16m",
            "identity": "01234567",
            "left_out": "dump_queues: too long",
        }
        assert found.notes[1] == "left out for now: dump_queues of kas: too long"

    @pytest.mark.parametrize(
        ("levels", "checks", "text"),
        [
            ({"load": LevelChecks((ARRIVALS,))}, (IN_TIME,), "ok"),
            ({"load": WAITED}, (IN_TIME, CLOCK), "off clock"),
            ({"load": WAITED, "other": WAITED, "third": LevelChecks((ARRIVALS,))}, (IN_TIME,), "off load +1"),
            ({"load": LevelChecks((ORDER,))}, (), "?"),
            ({"load": LevelChecks()}, (), "-"),
        ],
    )
    def test_what_is_off_is_named(self, levels: dict[str, LevelChecks], checks: tuple[Check, ...], text: str) -> None:
        found = seen(with_checks(moment_of(*busy()), levels, *checks), view=View.REPLICAS)

        assert cell(found, "checks").text == text

    def test_one_that_does_not_answer_comes_first_and_is_said_not_to(self) -> None:
        found = seen(moment_of(*busy("kas-1"), failed("kas-2", Endpoint.METRICS, 1010.0)), view=View.REPLICAS)

        assert texts(found, "replica") == ["kas-2", "kas-1"]
        assert (cell(found, "reach").text, cell(found, "reach").mark) == ("silent: metrics no answer", "bad")
        assert found.notes == ("kas-2: no answer within 5 s",)

    def test_an_old_answer_is_marked(self) -> None:
        moment = moment_of(*busy(), failed("kas", Endpoint.METRICS, 1015.0), now=1055.0)

        assert cell(seen(moment, view=View.REPLICAS), "ages").text == "metrics 45s~"

    def test_rows_go_by_the_age_of_the_older_answer(self) -> None:
        moment = moment_of(*busy("kas-1"), metrics("kas-2", 1008.0), metrics("kas-3", 911.0), now=1011.0)

        found = seen(moment, view=View.REPLICAS, sorts={View.REPLICAS: Sort("ages", descending=True)})

        assert texts(found, "ages") == ["metrics 1m", "metrics 3s", "metrics 1s"]

    def test_a_row_narrows_the_levels_to_its_server(self) -> None:
        about = seen(moment_of(*busy("kas-1"), *busy("kas-2")), view=View.REPLICAS).rows[1].about
        assert about is not None

        assert Look(view=View.REPLICAS).drilled(about) == Look(scope="kas-2")

    def test_an_extension_server_is_named_as_one(self) -> None:
        found = seen(case("C35"), view=View.REPLICAS)

        assert dict(zip(texts(found, "replica"), texts(found, "apf"), strict=True)) == {
            "kas": "ok",
            "kueue": "extension",
        }

    def test_uptime_is_unknown_without_a_start(self) -> None:
        moment = moment_of(metrics("kas", 1000.0))
        old = replace(replicas(moment)["kas"], started=None)

        assert cell(seen(with_replicas(moment, [old]), view=View.REPLICAS), "up").text == "-"
