"""The lines above every view."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apftop.present import cells
from apftop.records.asking import Plan
from apftop.records.frame import Recent
from apftop.records.measures import Counts, Window
from apftop.records.moment import Moment
from apftop.records.raw import Endpoint
from apftop.sheets.answering import problems
from apftop.sheets.header import header
from apftop.sheets.look import Look
from apftop.sheets.sheet import Cell
from tests.sheets.checked import CLOCK, IN_TIME, WAITED, with_checks
from tests.sheets.moments import (
    BUNDLES,
    busy,
    case,
    denied,
    failed,
    metrics,
    moment_of,
    no_frame,
    with_level,
    with_replicas,
)


def lines(moment: Moment, width: int = 120, now: float = 1012.0, marks: tuple[Cell, ...] = ()) -> list[str]:
    return ["".join(cell.text for cell in line) for line in header(moment, Look(), now, width, marks)]


def alive(moment: Moment, number: int | None) -> Moment:
    return replace(moment, frame=replace(moment.frame, servers_alive=number))


@pytest.mark.parametrize("name", BUNDLES)
def test_no_line_is_wider_than_the_screen(name: str) -> None:
    for width in (20, 40, 80, 120, 200):
        assert all(cells(line) <= width for line in lines(case(name), width))


def test_the_first_line_says_whose_servers_and_how_bad_it_is() -> None:
    moment = moment_of(*busy("kas-1"), metrics("kas-2", 1000.0), metrics("kas-2", 1010.0))

    assert lines(moment)[0] == "apftop  prod  v1.30.4  2 of 2 replicas  saturated: load on kas-1"


def test_where_no_level_is_saturated_it_says_so() -> None:
    assert lines(case("C07"))[0].endswith("no level is saturated")


def test_a_server_that_cannot_be_seen_is_no_good_news() -> None:
    calm = (metrics("kas-1", 1000.0), metrics("kas-1", 1010.0))

    assert lines(moment_of(*calm))[0].endswith("1 of 1 replica  no level is saturated")
    assert lines(moment_of(*calm, failed("kas-2", Endpoint.METRICS, 1010.0)))[0].endswith(
        "1 of 2 replicas  no level is saturated that can be seen"
    )


def test_the_verdict_is_of_all_replicas_whatever_is_looked_at() -> None:
    moment = moment_of(*busy("kas-1"), metrics("kas-2", 1000.0))

    line = header(moment, Look(scope="kas-2"), 1012.0, 120)[0]

    assert line[-1].text == "saturated: load on kas-1"


def test_several_levels_in_trouble_are_counted() -> None:
    moment = moment_of(*busy("kas-1"), *busy("kas-2"))

    assert lines(moment)[0].endswith("saturated: load on kas-1, +1 more")


def test_a_server_of_which_a_check_of_the_whole_is_off_is_in_doubt() -> None:
    moment = moment_of(*busy("kas-1"), *busy("kas-2"))
    off = with_checks(moment, {"load": WAITED}, CLOCK, replica="kas-2")
    both = with_checks(off, {}, replace(CLOCK, law="metrics-moment"), replica="kas-1")

    assert "doubtful" not in lines(with_checks(moment, {"load": WAITED}, IN_TIME))[0]
    assert "  doubtful: clock of kas-2  " in lines(off)[0]
    assert "  doubtful: clock of kas-2, +1  " in lines(both)[0]
    assert len(lines(off)) == len(lines(moment))


def test_servers_behind_one_url_are_missed() -> None:
    moment = alive(moment_of(*busy()), 3)

    found = header(moment, Look(), 1012.0, 120)

    assert Cell("1 of 3 replicas", "1 of 3 replicas", "warn") in found[0]
    assert problems(moment)[0].startswith("2 servers are hidden: 3 are alive by their leases")


def test_leases_that_cannot_be_read_hide_nobody() -> None:
    assert "  1 of 1 replica  " in lines(alive(moment_of(*busy()), None))[0]


def test_versions_that_differ_are_named() -> None:
    moment = moment_of(*busy("kas-1"), *busy("kas-2"), *busy("kas-3"))
    other = replace(moment.frame.replicas["kas-3"], version="v1.31.0")
    moment = replace(moment, frame=replace(moment.frame, replicas={**moment.frame.replicas, "kas-3": other}))

    assert "  v1.30.4 on 2, v1.31.0 on kas-3  " in lines(moment)[0]


def test_the_second_line_says_how_old_the_numbers_are_and_over_what_time() -> None:
    moment = moment_of(*busy())
    recent = Recent(Window(2.0, "stamps"), Counts(8.0, {}, None, None))
    moment = with_level(moment, replace(moment.frame.replicas["kas"].levels["load"], recent=recent))

    assert lines(moment, now=1014.4)[1].startswith("metrics 4s, over 10s")


def test_the_oldest_answer_counts_and_one_that_could_not_be_renewed_is_named_stale() -> None:
    moment = moment_of(*busy("kas-1"), metrics("kas-2", 980.0), failed("kas-2", Endpoint.METRICS, 1010.0))

    found = header(moment, Look(), 1012.0, 120)[1]

    assert (found[0].text, found[0].mark) == ("metrics 32s~ stale, over 10s", "warn")


def test_windows_that_differ_are_told_from_the_shortest_to_the_longest() -> None:
    moment = moment_of(*busy("kas-1"), metrics("kas-2", 980.0), metrics("kas-2", 1010.0))

    assert "metrics 2s, over 10s to 30s" in lines(moment)[1]


def test_the_own_cost_is_an_estimate_and_what_is_left_out_has_its_reason() -> None:
    plans = {
        "kas": Plan(
            {Endpoint.METRICS: 5.0},
            left_out={Endpoint.QUEUES: "it would hold the server's lock for 80 ms"},
            cost_share=0.004,
        ),
    }

    found = lines(replace(moment_of(*busy()), plans=plans), width=200)[1]

    assert "  est. cost 0.4% of a core  " in found
    assert found.endswith("left out: dump_queues of kas: it would hold the server's lock for 80 ms")


def test_each_replica_in_trouble_has_a_line() -> None:
    moment = moment_of(
        *busy("kas-1"),
        failed("kas-3", Endpoint.METRICS, 1010.0),
        denied("kas-2", Endpoint.LEVELS, 1010.0),
        denied("kas-2", Endpoint.METRICS, 1010.0),
    )

    found = lines(moment, width=80)[2:]

    assert found[0].startswith("! kas-2 (+1 more): 403 on the dumps")
    assert found[1].startswith("  ClusterRole rule nonResourceURLs")
    assert found[2] == "! kas-3: no answer within 5 s"


def test_more_lines_than_there_is_room_for_are_counted() -> None:
    moment = moment_of(*(failed(f"kas-{n}", Endpoint.METRICS, 1010.0, f"no kas-{n}") for n in range(6)))

    found = lines(moment)[2:]

    assert len(found) == 3
    assert found[-1] == "! +4 more: 6 replicas"
    assert len(problems(moment)) == 6


def test_replicas_with_the_same_problem_share_a_line() -> None:
    lost = [failed(f"kas-{number}", Endpoint.METRICS, 1010.0) for number in range(2)]

    assert lines(moment_of(*lost))[2:] == ["! all 2 replicas: no answer within 5 s"]
    assert lines(moment_of(*lost, *busy("kas-9")))[2:] == ["! kas-0, kas-1: no answer within 5 s"]


def test_what_keeps_a_server_from_answering_comes_before_what_follows_from_it() -> None:
    moment = moment_of(*busy(), failed("kas", Endpoint.METRICS, 1011.0, "connection refused: kas"))

    assert lines(moment)[2] == "! kas (+1 more): connection refused: kas"


def test_a_server_that_answers_nothing_is_not_counted_whatever_another_one_said_of_its_objects() -> None:
    moment = moment_of(*busy("kas-1"), *busy("kas-2"))
    refused = "connection refused"
    of_others: dict[str, int | str | None] = {"objects": 200, "dump_queues": 200}
    for own in ({"metrics": refused, "dump_priority_levels": refused}, {"metrics": None, "dump_queues": None}):
        endpoints = of_others | own
        one = replace(moment.frame.replicas["kas-2"], endpoints=endpoints)
        seen = with_replicas(moment, [moment.frame.replicas["kas-1"], one])

        assert "  1 of 2 replicas  " in lines(seen)[0]


def test_the_verdict_is_of_servers_that_answer_and_else_says_that_it_was_so() -> None:
    calm = (metrics("kas-1", 1000.0), metrics("kas-1", 1010.0))
    lost = (*busy("kas-2"), failed("kas-2", Endpoint.METRICS, 1012.0))

    assert lines(moment_of(*busy("kas-1"), *lost))[0].endswith("  saturated: load on kas-1")
    assert lines(moment_of(*calm, *lost))[0].endswith("  was saturated: load on kas-2")


def test_servers_that_are_hidden_are_no_good_news() -> None:
    calm = moment_of(metrics("kas", 1000.0), metrics("kas", 1010.0))

    assert lines(alive(calm, 3))[0].endswith("  no level is saturated that can be seen")


def test_an_answer_that_is_overdue_is_marked_before_its_server_has_failed() -> None:
    moment = replace(moment_of(*busy()), plans={"kas": Plan({Endpoint.METRICS: 5.0})})

    assert lines(moment, now=1024.0)[1].startswith("metrics 14s, over 10s")
    assert lines(moment, now=1026.0)[1].startswith("metrics 16s~, over 10s")


def test_a_server_that_lets_all_questions_wait_too_long_is_not_counted_and_has_a_line() -> None:
    moment = replace(moment_of(*busy("kas-1"), *busy("kas-2")), plans={"kas-2": Plan({Endpoint.METRICS: 5.0})})

    assert lines(moment, now=1024.0)[0].endswith("  2 of 2 replicas  saturated: load on kas-1, +1 more")
    first, _, third = lines(moment, now=1026.0)
    assert first.endswith("  1 of 2 replicas  saturated: load on kas-1")
    assert third == "! kas-2: no answer for 16s"


def test_what_is_left_out_of_a_server_that_does_not_answer_is_not_told() -> None:
    moment = moment_of(failed("kas", Endpoint.METRICS, 1010.0))
    moment = replace(moment, plans={"kas": Plan({}, left_out={Endpoint.QUEUES: "how large it would be is not known"})})

    assert "left out" not in lines(moment, width=200)[1]


def test_where_all_is_well_there_are_two_lines() -> None:
    assert len(lines(moment_of(*busy()))) == 2


def test_the_latest_news_has_a_line_where_there_is_room() -> None:
    moment = replace(
        moment_of(failed("kas", Endpoint.METRICS, 1010.0)), news=("10.0.0.8 has gone", "10.0.0.9 has come")
    )

    assert lines(moment)[2:] == ["! kas: no answer within 5 s", "10.0.0.9 has come"]
    assert problems(moment) == ("kas: no answer within 5 s", "10.0.0.9 has come", "10.0.0.8 has gone")


def test_on_a_narrow_screen_the_verdict_and_the_marks_stay() -> None:
    moment = replace(moment_of(*busy("kas-1"), *busy("kas-2")), source="a-context-with-a-very-long-name-of-its-own")

    assert lines(moment, 60, marks=(Cell("FROZEN 12 s", mark="warn"),))[0] == (
        "FROZEN 12 s  2 of 2 replicas  saturated: load on kas-1, +1 …"
    )


def test_at_80_cells_a_long_source_is_cut() -> None:
    moment = replace(moment_of(*busy()), source="arn:aws:eks:eu-west-1:123456789012:cluster/production-cluster")

    assert lines(moment, 80)[0] == "arn:aws:eks:eu-west-1:123456789012:cluster/pro…  1 of 1 replica  saturated: load"


def test_before_the_first_answer_nothing_is_known() -> None:
    assert lines(Moment(no_frame(), 1, "prod", 0.0))[0] == "apftop  prod  no answer yet  nothing known yet"
