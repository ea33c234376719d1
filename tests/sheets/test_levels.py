"""The levels view: what its rows say, which comes first, and what is unknown or old."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from apftop.records.asking import Plan
from apftop.records.checks import Check, LevelChecks
from apftop.records.frame import Inside, Level, LevelState, Recent
from apftop.records.measures import Counts, Window
from apftop.records.moment import Moment, Trend
from apftop.records.raw import Endpoint
from apftop.sheets.look import SUM, Look, View
from apftop.sheets.sheet import Cell
from apftop.sheets.trouble import WORST_FIRST
from tests.sheets.checked import ARRIVALS, BAND, HAND, ORDER, WAITED, with_checks
from tests.sheets.moments import (
    busy,
    case,
    cell,
    failed,
    metrics,
    moment_of,
    no_frame,
    replicas,
    seen,
    texts,
    with_level,
    with_replicas,
)


def the_level(moment: Moment, name: str = "load") -> Level:
    return moment.frame.replicas["kas"].levels[name]


def test_a_row_says_what_its_level_does() -> None:
    found = seen(moment_of(*busy()))

    row = {column.key: one.text for column, one in zip(found.columns, found.rows[0].cells, strict=True)}

    assert row == {
        "finding": "",
        "level": "load",
        "state": "saturated",
        "seats": "9/10",
        "waiting": "3",
        "dispatched": "10.0",
        "rejected": "2.00",
        "reasons": "queue-full",
        "wait_p95": "500ms-1s",
        "full": "-",
        "oldest": "-",
        "nominal": "8",
        "borrowed": "1",
        "predicted": "-",
        "model": "-",
        "trend": "-",
    }


def test_the_worst_level_comes_first_and_dead_ones_last() -> None:
    moment = moment_of(*busy())
    calm = replace(the_level(moment), waiting=0.0, counts=None, recent=None)
    for name, state in (("a-idle", "idle"), ("b-stale", "stale"), ("c-busy", "busy"), ("d-blocked", "blocked")):
        moment = with_level(moment, replace(calm, name=name, state=state))  # type: ignore[arg-type]

    assert texts(seen(moment), "level") == ["load", "d-blocked", "a-idle", "c-busy", "b-stale"]


def test_calm_levels_keep_their_places_until_one_is_much_fuller() -> None:
    moment = moment_of(*busy())
    calm = replace(the_level(moment), state="busy", waiting=0.0, counts=None, recent=None)

    def order(*seats: float) -> list[str]:
        levels = {name: replace(calm, name=name, seats_in_use=used) for name, used in zip("abc", seats, strict=True)}
        return texts(seen(with_replicas(moment, [replace(replicas(moment)["kas"], levels=levels)])), "level")

    assert order(0.0, 1.0, 2.0) == order(2.0, 0.0, 1.0) == ["a", "b", "c"]
    assert order(0.0, 1.0, 6.0) == ["c", "a", "b"]


def test_what_a_server_said_that_does_not_answer_any_more_is_marked_and_comes_after_the_others() -> None:
    moment = moment_of(*busy("kas-1"), failed("kas-1", Endpoint.METRICS, 1011.0), *busy("kas-2"))
    found = seen(moment)

    assert texts(found, "replica") == ["kas-2", "kas-1"]
    assert [cell(found, key, 1).text for key in ("state", "seats", "waiting")] == ["saturated~", "9/10~", "3~"]
    assert len(seen(moment, filter="state=saturated").rows) == 2


def test_numbers_that_are_overdue_are_marked_though_nothing_has_failed() -> None:
    moment = moment_of(*busy())
    keys = ("state", "seats", "waiting", "dispatched", "rejected", "wait_p95")

    def at(now: float) -> list[str]:
        found = seen(replace(moment, now=now, plans={"kas": Plan({Endpoint.METRICS: 5.0})}))
        return [cell(found, key).text for key in keys]

    assert at(1024.0) == ["saturated", "9/10", "3", "10.0", "2.00", "500ms-1s"]
    assert at(1026.0) == ["saturated~", "9/10~", "3~", "10.0~", "2.00~", "500ms-1s~"]


def test_a_full_level_that_makes_nobody_wait_comes_after_one_that_does() -> None:
    moment = moment_of(*busy())
    full = replace(the_level(moment), name="full", seats_in_use=10.0, waiting=0.0, counts=None, recent=None)

    assert texts(seen(with_level(moment, full)), "level") == ["load", "full"]


def test_every_state_has_its_place() -> None:
    assert sorted(WORST_FIRST) == sorted(get_args(LevelState))


def test_the_fresher_pair_of_dumps_gives_the_rates() -> None:
    moment = moment_of(*busy())
    recent = Recent(Window(2.0, "stamps"), Counts(8.0, {"queue-full": 1.0}, None, None))

    found = seen(with_level(moment, replace(the_level(moment), recent=recent)))

    assert (cell(found, "dispatched").text, cell(found, "rejected").text) == ("4.00", "0.50")


def test_totals_show_counts_over_the_window_and_say_so() -> None:
    found = seen(moment_of(*busy()), totals=True)

    assert (cell(found, "dispatched").text, cell(found, "rejected").text) == ("100", "20")
    titles = {column.key: (column.title, column.help) for column in found.columns}
    assert titles["dispatched"] == ("DISP", "requests that began to execute, over the window")


def test_several_reasons_are_told_with_their_rates_the_most_first() -> None:
    moment = moment_of(*busy())
    counts = Counts(100.0, {"queue-full": 20.0, "time-out": 50.0}, None, None)

    found = seen(with_level(moment, replace(the_level(moment), counts=counts)))

    assert cell(found, "reasons").text == "time-out 5.00, queue-full 2.00"


def test_rejections_that_only_the_dumps_know_of_have_the_reason_of_the_dumps() -> None:
    moment = moment_of(metrics("kas", 1000.0), metrics("kas", 1010.0))
    recent = Recent(Window(2.0, "stamps"), Counts(8.0, {"time-out": 1.0}, None, None))

    found = seen(with_level(moment, replace(the_level(moment), recent=recent)))

    assert (cell(found, "rejected").text, cell(found, "reasons").text) == ("0.50", "time-out")


def test_one_answer_gives_no_rate_and_an_unknown_rate_is_not_zero() -> None:
    found = seen(moment_of(metrics("kas", 1000.0, load=5)))

    assert [cell(found, key).text for key in ("dispatched", "rejected", "reasons", "wait_p95")] == ["-"] * 4
    assert cell(found, "dispatched").value is None
    assert cell(found, "waiting").text == "0"


def test_numbers_of_an_answer_that_could_not_be_renewed_are_marked() -> None:
    found = seen(moment_of(*busy(), failed("kas", Endpoint.METRICS, 1015.0)))

    assert [cell(found, key).text for key in ("seats", "nominal", "waiting")] == ["9/10~", "8~", "3~"]
    assert cell(found, "seats").value == 9
    assert cell(found, "dispatched").text == "-"


def test_the_exempt_level_shows_no_limit() -> None:
    moment = moment_of(*busy())
    exempt = replace(the_level(moment), name="exempt", state="exempt", current=5.0)

    found = seen(with_level(moment, exempt))

    assert cell(found, "seats", texts(found, "level").index("exempt")).text == "9/-"


def test_a_quiescing_level_is_marked() -> None:
    moment = moment_of(*busy())

    found = seen(with_level(moment, replace(the_level(moment), state="quiescing")))

    assert (cell(found, "state").text, cell(found, "state").mark) == ("quiescing", "warn")


def test_nobody_waiting_is_not_an_unknown_age() -> None:
    found = seen(case("C03"))

    ages = dict(zip(texts(found, "level"), texts(found, "oldest"), strict=True))
    assert (ages["workload-low"], ages["system"]) == ("860ms", "")


def test_where_the_levels_say_that_nobody_waits_an_older_dump_of_requests_does_not_count() -> None:
    moment = moment_of(*busy())
    inside = Inside(None, {}, None, {}, None, 12.0, None, 1, 1)
    some = replace(the_level(moment), inside=inside)

    assert cell(seen(with_level(moment, some)), "oldest").text == "12s"
    assert cell(seen(with_level(moment, replace(some, waiting=0.0))), "oldest").text == ""


def test_a_trend_shows_waiting_requests_where_any_waited_and_else_seats() -> None:
    moment = moment_of(*busy())
    waited = Trend((0.0, None, 1.0, 8.0), (10.0, 10.0, 10.0, 10.0))
    calm = Trend((0.0, 0.0, 0.0), (0.0, 5.0, 10.0))

    assert cell(seen(replace(moment, trends={("kas", "load"): waited})), "trend").text == "▁·▂█ w"
    assert cell(seen(replace(moment, trends={("kas", "load"): calm})), "trend").text == "▁▅█ s"


class TestModel:
    @pytest.mark.parametrize(
        ("checks", "text", "mark"),
        [
            ((ARRIVALS, HAND, ORDER), "off", "bad"),
            ((ARRIVALS, ORDER), "ok", ""),
            ((ORDER,), "?", "dim"),
            ((), "-", "dim"),
        ],
    )
    def test_it_is_off_where_any_check_is_and_unknown_only_where_none_could_be_made(
        self, checks: tuple[Check, ...], text: str, mark: str
    ) -> None:
        found = seen(with_checks(moment_of(*busy()), {"load": LevelChecks(checks)}))

        assert (cell(found, "model").text, cell(found, "model").mark) == (text, mark)

    def test_it_is_filtered_by_its_word(self) -> None:
        moment = with_checks(moment_of(*busy()), {"load": LevelChecks((ORDER,))})

        assert len(seen(moment, filter="model=unknown").rows) == 1
        assert not seen(moment, filter="model=off").rows

    def test_it_is_old_with_the_answers_that_it_is_of(self) -> None:
        moment = moment_of(*busy(), failed("kas", Endpoint.METRICS, 1015.0))

        assert cell(seen(with_checks(moment, {"load": LevelChecks((ARRIVALS,))})), "model").text == "ok~"

    def test_of_a_sum_it_is_that_of_the_worst_replica(self) -> None:
        moment = moment_of(*busy("kas-1"), *busy("kas-2"))
        moment = with_checks(moment, {"load": LevelChecks((ARRIVALS,))}, replica="kas-1")

        assert cell(seen(moment, scope=SUM), "model").text == "ok~"
        assert cell(seen(with_checks(moment, {"load": LevelChecks((ARRIVALS,))}), scope=SUM), "model").text == "ok"
        assert cell(seen(with_checks(moment, {"load": WAITED}, replica="kas-2"), scope=SUM), "model").text == "off"


class TestPredicted:
    def of(self, checks: LevelChecks, **changes: object) -> Cell:
        moment = with_level(moment_of(*busy()), replace(the_level(moment_of(*busy())), **changes))  # type: ignore[arg-type]
        return cell(seen(with_checks(moment, {"load": checks})), "predicted")

    @pytest.mark.parametrize(
        ("observed", "low", "high", "text"),
        [
            (0.24, 0.08, 0.55, "240 in 80-550ms"),
            (2.43, 0.08, 0.55, "2.4 not in 0.08-0.55s"),
            (0.24, 0.08, 1.3, "0.24 in 0.08-1.3s"),
            (0.004, -0.01, 0.1, "4 in 0-100ms"),
            (0.5512, 0.08, 0.5508, "551.2 not in 80-550.8ms"),
            (12.0, 0.2, 45.0, "12 in 0.2-45s"),
        ],
    )
    def test_the_mean_wait_stands_in_its_band_or_not(self, observed: float, low: float, high: float, text: str) -> None:
        found = self.of(replace(WAITED, prediction=replace(BAND, observed=observed, low=low, high=high)))

        assert (found.text, found.value) == (text, observed)
        assert found.mark == ("warn" if "not" in text else "")

    def test_without_a_simulation_the_time_spent_waiting_is_the_other_side(self) -> None:
        found = self.of(LevelChecks((ARRIVALS,), observed_wait_s=0.82, little_s=0.81))

        assert (found.text, found.value, found.mark) == ("820 vs 810ms", 0.82, "")

    def test_a_wait_that_breaks_that_law_is_marked(self) -> None:
        broken = Check("waiting-time", "off", 1.0, (2.0, 2.0), 0.1, "request-seconds")

        assert self.of(LevelChecks((broken,), observed_wait_s=1.6, little_s=0.81)).mark == "warn"

    def test_it_is_blank_where_nobody_waited_and_unknown_where_that_cannot_be_told(self) -> None:
        assert self.of(LevelChecks((ARRIVALS,), observed_wait_s=0.00004, little_s=0.00001)).text == ""
        assert self.of(LevelChecks((ARRIVALS,)), waiting=0.0).text == ""
        assert self.of(LevelChecks((ARRIVALS,)), waiting=3.0).text == "-"
        assert self.of(LevelChecks((ARRIVALS,), observed_wait_s=0.5)).text == "500ms vs -"

    def test_of_a_sum_it_is_the_wait_that_the_model_gives_least(self) -> None:
        moment = moment_of(*busy("kas-1"), *busy("kas-2"))
        moment = with_checks(moment, {"load": replace(WAITED, prediction=replace(BAND, observed=9.0))}, replica="kas-1")
        moment = with_checks(moment, {"load": WAITED}, replica="kas-2")

        assert cell(seen(moment, scope=SUM), "predicted").text == "9 not in 0.08-0.55s"


def test_a_row_names_the_level_whose_checks_are_shown_from_it() -> None:
    moment = moment_of(*busy("kas-1"), *busy("kas-2"))

    assert seen(moment).rows[0].subject == {"level": "load", "replica": "kas-1"}
    assert seen(moment, scope=SUM).rows[0].subject == {"level": "load"}


def test_a_row_leads_to_the_schemas_of_its_level_on_its_replica() -> None:
    moment = moment_of(*busy("kas-1"), *busy("kas-2"))
    first = seen(moment).rows[0]

    assert first.about == {"view": "schemas", "level": "load", "replica": "kas-1"}
    assert Look(filter="waiting>0", held=()).drilled(first.about) == Look(
        View.SCHEMAS, scope="kas-1", within={"level": "load"}
    )


def test_one_replica_in_scope_shows_its_rows_under_the_same_keys() -> None:
    moment = moment_of(*busy("kas-1"), *busy("kas-2"))

    each, one = seen(moment), seen(moment, scope="kas-2")

    assert [row.key for row in each.rows] == [("load", "kas-1"), ("load", "kas-2")]
    assert [row.key for row in one.rows] == [("load", "kas-2")]
    assert "replica" not in [column.key for column in one.columns]


def test_a_scope_that_is_gone_says_so() -> None:
    assert seen(moment_of(*busy()), scope="kas-9").empty == "there is no kas-9 any more"


def test_before_the_first_answer_the_view_says_so() -> None:
    assert seen(Moment(no_frame(), 1, "prod", 0.0)).empty == "no server has answered yet"


def test_idle_levels_can_be_hidden() -> None:
    whole, hidden = seen(case("C03")), seen(case("C03"), hide_idle=True)

    assert texts(hidden, "level") == ["workload-low", "exempt"]
    assert (whole.whole, hidden.whole) == (len(whole.rows), 2)


class TestSum:
    def test_a_sum_agrees_with_the_totals(self) -> None:
        moment = case("C23")
        found = seen(moment, scope=SUM)

        for row in found.rows:
            total = moment.frame.totals.levels[row.key[0]]
            assert cell(found, "waiting", row).value == total.waiting
            assert cell(found, "seats", row).value == total.seats_in_use
            assert cell(found, "nominal", row).value == total.nominal
            assert cell(found, "dispatched", row).value == pytest.approx(total.dispatched_per_s)
            assert cell(found, "rejected", row).value == pytest.approx(total.rejected_per_s)

    def test_a_sum_names_the_replica_that_is_worst_off(self) -> None:
        found = seen(case("C23"), scope=SUM)

        assert cell(found, "state").text == "saturated"
        assert cell(found, "worst").text == "1/3 kas-a"
        assert cell(found, "skew").text == "2.84 kas-a"

    def test_a_sum_that_does_not_know_a_term_is_unknown(self) -> None:
        moment = moment_of(*busy("kas-1"), metrics("kas-2", 1010.0))

        found = seen(moment, scope=SUM)

        assert cell(found, "dispatched").text == "-"
        assert cell(found, "waiting").text == "3"

    def test_the_worst_of_some_replicas_only_is_marked(self) -> None:
        moment = moment_of(*busy("kas-1"), metrics("kas-2", 1010.0))

        assert cell(seen(moment, scope=SUM), "wait_p95").text == "500ms-1s~"

    def test_a_row_of_a_sum_leads_to_all_replicas(self) -> None:
        assert seen(case("C23"), scope=SUM).rows[0].about == {"view": "schemas", "level": "workload-low"}

    def test_an_extension_server_is_left_out(self) -> None:
        found = seen(case("C35"), scope=SUM)

        catch_all = texts(found, "level").index("catch-all")
        assert cell(found, "worst", catch_all).text == "1/1"

    def test_trends_are_added_from_the_latest_point_back(self) -> None:
        moment = moment_of(*busy("kas-1"), *busy("kas-2"))
        trends = {("kas-1", "load"): Trend((9.0, 1.0, 2.0), ()), ("kas-2", "load"): Trend((1.0, 6.0), ())}

        assert cell(seen(replace(moment, trends=trends), scope=SUM), "trend").text == "▃█ w"
