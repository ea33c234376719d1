"""The view of checks: which come first, what their numbers say, and what is told of the waits of a level."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apftop.check.lawbook import lawbook
from apftop.present import cells
from apftop.records.checks import Check, LevelChecks
from apftop.records.moment import Moment
from apftop.records.raw import Endpoint
from apftop.sheets.look import Look, View
from apftop.sheets.sheet import Sheet
from tests.sheets.checked import ARRIVALS, BAND, CLOCK, FLOWS, HAND, IN_TIME, ORDER, SEATS, WAITED, with_checks
from tests.sheets.moments import busy, cell, denied, failed, moment_of, seen, texts


def of_two() -> Moment:
    return moment_of(*busy("kas-1"), *busy("kas-2"))


def checks(moment: Moment, **look: object) -> Sheet:
    return seen(moment, view=View.CHECKS, **look)


def only(check: Check) -> Sheet:
    """The view of one check."""
    return checks(with_checks(moment_of(*busy()), {"load": LevelChecks((check,))}))


def row(found: Sheet, at: int = 0) -> dict[str, str]:
    return {column.key: one.text for column, one in zip(found.columns, found.rows[at].cells, strict=True)}


def codes(found: Sheet) -> list[str]:
    return [str(cell(found, "check", row).value) for row in found.rows]


def test_a_row_says_what_is_held_against_what() -> None:
    assert row(only(ARRIVALS)) == {
        "level": "load",
        "check": lawbook()["arrivals"].title,
        "verdict": "ok",
        "observed": "5170",
        "expected": "5168",
        "tolerance": "103.4",
        "unit": "requests",
        "over": "10.2s",
        "what": "",
    }


def test_one_that_is_off_says_what_it_is_about_and_what_that_means() -> None:
    found = only(HAND)

    assert row(found)["what"].startswith("flow bob: the hand is not the one that the objects deal")
    assert (cell(found, "verdict").text, cell(found, "verdict").mark) == ("off", "bad")


def test_one_that_is_unknown_says_what_is_missing_and_has_no_numbers() -> None:
    found = only(ORDER)

    assert [cell(found, key).text for key in ("verdict", "observed", "expected", "tolerance", "what")] == [
        *("unknown", "-", "-", "-", "no dump of requests next to the metrics")
    ]
    assert found.rows[0].mark == "dim"


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ((39.0, 39.0), "39"),
        ((None, 39.0), "<=39"),
        ((39.0, None), ">=39"),
        ((0.5, 39.0), "0.5-39"),
        ((-1.0, 25.5), "-1 to 25.5"),
        ((None, None), "-"),
        ((123456.25, 123456.75), "123456-123457"),
    ],
)
def test_what_is_expected_is_a_value_an_interval_or_open(
    expected: tuple[float | None, float | None], text: str
) -> None:
    assert cell(only(replace(ARRIVALS, expected=expected)), "expected").text == text


def test_seconds_have_their_unit_beside_them() -> None:
    found = only(CLOCK)

    assert [cell(found, key).text for key in ("observed", "expected", "tolerance", "unit")] == [
        *("2.1s", "0s-12ms", "20ms", "")
    ]


def test_what_is_off_comes_first_and_what_could_not_be_made_last_servers_before_their_levels() -> None:
    moment = with_checks(of_two(), {"load": LevelChecks((HAND, ARRIVALS, ORDER))}, IN_TIME, replica="kas-1")
    moment = with_checks(moment, {"load": LevelChecks((ARRIVALS,))}, CLOCK, replica="kas-2")

    found = checks(moment)

    assert codes(found) == ["clock", "hand", "clock", "arrivals", "arrivals", "order"]
    assert texts(found, "verdict") == ["off", "off", "ok", "ok", "ok", "unknown"]
    assert texts(found, "replica") == ["kas-2", "kas-1", "kas-1", "kas-1", "kas-2", "kas-1"]
    assert texts(found, "level") == ["-", "load", "-", "load", "load", "load"]


def test_checks_are_filtered_as_any_other_rows() -> None:
    moment = with_checks(of_two(), {"load": WAITED}, IN_TIME)

    assert codes(checks(moment, filter="verdict=off")) == ["hand", "hand"]
    assert codes(checks(moment, filter="check=clock")) == ["clock", "clock"]
    assert codes(checks(moment, filter="observed>5000 kas-1")) == ["arrivals"]
    assert len(checks(moment, filter="verdict!=unknown").rows) == 10


def test_of_one_level_only_its_own_are_shown() -> None:
    moment = with_checks(of_two(), {"load": WAITED, "other": LevelChecks((SEATS,))}, IN_TIME)

    found = checks(moment, within={"level": "load"})

    assert codes(found) == ["hand", "hand", *["arrivals", "waiting-time", "seats-within-limit"] * 2, "order", "order"]
    assert "level" not in [column.key for column in found.columns]
    assert found.title == "checks, level load, each replica"


def test_several_of_one_law_have_rows_of_their_own_whatever_they_are_about() -> None:
    def keys(*about: str) -> list[tuple[str, ...]]:
        level = LevelChecks(tuple(replace(HAND, about=one) for one in about))
        return [one.key for one in checks(with_checks(moment_of(*busy()), {"load": level})).rows]

    assert len(set(keys("flow a", "flow a"))) == 2
    assert keys("flow a", "flow b") == keys("flow c", "flow a")


def test_checks_of_answers_that_were_not_renewed_are_marked() -> None:
    moment = moment_of(*busy(), failed("kas", Endpoint.METRICS, 1015.0))

    found = checks(with_checks(moment, {"load": LevelChecks((ARRIVALS,))}))

    assert cell(found, "verdict").text == "ok~"
    assert len(checks(with_checks(moment, {"load": LevelChecks((ARRIVALS,))}), filter="verdict=ok").rows) == 1


def test_before_the_first_check_the_view_says_what_it_takes() -> None:
    found = checks(moment_of(*busy()))

    assert found.empty == "nothing is checked here yet: it takes answers of metrics, for most checks two"


def test_a_dump_that_is_denied_is_told_with_what_grants_it() -> None:
    found = checks(with_checks(moment_of(*busy(), denied("kas", Endpoint.REQUESTS, 1011.0)), {"load": WAITED}))

    assert "ClusterRole rule" in found.notes[0]


def test_thousands_that_are_not_off_are_counted_and_not_listed() -> None:
    levels = {f"level-{number}": LevelChecks((ARRIVALS,)) for number in range(2100)} | {"z": LevelChecks((HAND,))}

    found = checks(with_checks(moment_of(*busy()), levels))

    assert (len(found.rows), codes(found)[0]) == (2001, "hand")
    assert found.notes[-1] == "100 more checks, none of which is off, are not listed: those of a level are"


class TestFacts:
    def test_they_are_about_one_level_only(self) -> None:
        moment = with_checks(moment_of(*busy()), {"load": WAITED})

        assert checks(moment).facts == ()
        assert len(checks(moment, within={"level": "load"}).facts) == 3

    def test_the_mean_wait_is_held_against_the_band_and_no_more_is_claimed(self) -> None:
        moment = with_checks(moment_of(*busy()), {"load": WAITED})

        assert checks(moment, within={"level": "load"}).facts[0] == (
            "mean wait 236ms, in 80-553ms of 64 runs over each of 3 intervals: "
            "this load on these seats could give such waits"
        )

    def test_a_wait_that_such_a_load_does_not_give_is_told(self) -> None:
        other = replace(WAITED, prediction=replace(BAND, observed=2.43, intervals=1))
        moment = with_checks(moment_of(*busy()), {"load": other})

        assert checks(moment, within={"level": "load"}).facts[0] == (
            "mean wait 2.43s, not in 80-553ms of 64 runs over 1 interval: this load on these seats gives other waits"
        )

    def test_without_a_simulation_it_is_what_the_time_spent_waiting_makes_it(self) -> None:
        moment = with_checks(moment_of(*busy()), {"load": replace(WAITED, prediction=None, flows=(), followed=None)})

        assert checks(moment, within={"level": "load"}).facts == (
            "mean wait 240ms, 231ms by the time that requests spent waiting; not simulated",
        )

    def test_flows_with_the_most_waiting_requests_come_first_and_unseen_waits_are_not_zero(self) -> None:
        more = (*FLOWS, replace(FLOWS[1], flow="carol"), replace(FLOWS[1], flow="dave"))
        moment = with_checks(moment_of(*busy()), {"load": replace(WAITED, flows=more)})

        assert checks(moment, within={"level": "load"}).facts[1] == (
            "exact waits: …iceaccount:build:runner 12 seen, mean 252ms, max 1.21s, 30 waiting, for 410ms; "
            "bob 7 waiting, for 200ms; alice 3 seen, mean 16ms, max 40ms; 2 more flows"
        )

    def test_those_that_are_gone_are_not_said_to_be_served(self) -> None:
        moment = with_checks(moment_of(*busy()), {"load": WAITED})

        assert checks(moment, within={"level": "load"}).facts[2] == (
            "of 42 that waited a dump ago 12 execute, 3 still wait, 27 are gone: served or not"
        )

    def test_several_replicas_have_a_line_each(self) -> None:
        moment = with_checks(of_two(), {"load": WAITED})

        found = checks(moment, within={"level": "load"})

        assert [fact.partition(",")[0] for fact in found.facts] == ["kas-1: mean wait 236ms", "kas-2: mean wait 236ms"]

    def test_the_first_ones_fit_a_narrow_screen_as_far_as_they_matter(self) -> None:
        moment = with_checks(moment_of(*busy()), {"load": WAITED})

        first = checks(moment, within={"level": "load"}).facts[0]

        assert cells(first.partition(":")[0]) < 80


def test_a_row_names_the_level_and_the_server_whose_checks_are_shown_from_it() -> None:
    moment = with_checks(of_two(), {"load": WAITED}, CLOCK)
    found = checks(moment)

    assert found.rows[0].subject == {"replica": "kas-1"}
    assert found.rows[2].subject == {"level": "load", "replica": "kas-1"}
    assert Look(filter="x").drilled({"view": "checks", **(found.rows[2].subject or {})}) == Look(
        View.CHECKS, scope="kas-1", within={"level": "load"}
    )
