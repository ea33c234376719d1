"""The three debug dumps in every release's columns, well formed and odd."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from apftop.parse.dumps import parse_levels, parse_queues, parse_requests
from apftop.records.parsed import Details, LevelRow, ParseError, QueueRow, RequestRow
from tests.parse.dump_samples import (
    BASE_126,
    BASE_128,
    DETAILS,
    LEVELS_126,
    LEVELS_127,
    LEVELS_SAMPLE,
    QUEUES,
    QUEUES_SAMPLE,
    REQUEST_ROWS,
    REQUESTS_SAMPLE,
    SECOND,
    plain,
    plain_cells,
    pod,
    request,
)
from tests.parse.go_table import render


def test_levels_since_127() -> None:
    dump = parse_levels(LEVELS_SAMPLE)
    assert dump.columns == LEVELS_127
    assert dump.rows[2] == LevelRow("workload-low", 17, False, True, 143, 201, 88231, 512, 0, 498)
    assert [row.name for row in dump.rows] == ["catch-all", "exempt", "workload-low"]
    assert dump.bad == ()


def test_levels_of_126_lack_the_totals() -> None:
    body = render([LEVELS_126, ("system", "1", "false", "false", "4", "9")])
    assert parse_levels(body).rows == (LevelRow("system", 1, False, False, 4, 9, None, None, None, None),)


@pytest.mark.parametrize("columns", [LEVELS_126, LEVELS_127])
def test_exempt_level_of_none_cells(columns: tuple[str, ...]) -> None:
    body = render([columns, ("exempt", *["<none>"] * (len(columns) - 1))])
    assert parse_levels(body).rows == (LevelRow("exempt", None, None, None, None, None, None, None, None, None),)


def test_unknown_columns_of_levels_go_to_extra() -> None:
    body = render(
        [("PriorityLevelName", "Mood", *LEVELS_126[1:]), ("system", "calm, so far", "0", "true", "false", "0", "0")]
    )
    assert parse_levels(body).rows[0].extra == (("Mood", "calm, so far"),)


def test_a_level_line_with_a_broken_cell_is_bad() -> None:
    body = render([LEVELS_126, ("system", "x", "false", "false", "4", "9"), ("other", "0", "true", "false", "0", "0")])
    dump = parse_levels(body)
    assert [row.name for row in dump.rows] == ["other"]
    assert [(line.number, line.why) for line in dump.bad] == [(2, "ActiveQueues: 'x' is not an integer")]


def test_levels_laid_out_anew_are_read() -> None:
    body = b"PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing\nsystem,3,false,true\n"
    assert parse_levels(body).rows[0].active_queues == 3


def test_queues() -> None:
    dump = parse_queues(QUEUES_SAMPLE)
    assert dump.rows == (
        QueueRow("workload-low", 0, 0, 0, 0, 0, 0, 0, 0),
        QueueRow("workload-low", 1, 3, 2, 5, 152_340_012_500, 12, 12, 3_600_000),
    )
    assert dump.bad == ()


def test_the_exempt_row_of_queues_is_left_out() -> None:
    body = render(
        [QUEUES, ("exempt", *["<none>"] * 8), ("a", "0", "0", "0", "0", "0.00000001ss", "0", "0", "0.00000000ss")]
    )
    dump = parse_queues(body)
    assert [(row.level, row.next_dispatch_r) for row in dump.rows] == [("a", 1)]
    assert dump.bad == ()


def test_queues_before_seats_had_one_seat_a_request() -> None:
    columns = (*QUEUES[:4], "VirtualStart")
    row = parse_queues(render([columns, ("a", "7", "3", "2", "1.5")])).rows[0]
    assert row == QueueRow("a", 7, 3, 2, 2, 0, 3, 3, 0, (("VirtualStart", "1.5"),))


def test_commas_blanks_and_runes_inside_fields() -> None:
    dump = parse_requests(REQUESTS_SAMPLE)
    assert dump.columns == (*BASE_128, *DETAILS)
    assert dump.rows == REQUEST_ROWS
    assert dump.bad == ()


def test_the_same_rows_without_details() -> None:
    lines = REQUESTS_SAMPLE.decode().splitlines()
    start = lines[0].index("UserName")
    body = "".join(line[:start].rstrip().removesuffix(",") + "\n" for line in lines).encode()
    dump = parse_requests(body)
    assert dump.columns == BASE_128
    assert dump.rows == tuple(replace(row, details=None) for row in REQUEST_ROWS)


def test_rows_of_an_editor_that_strips_blanks_and_writes_carriage_returns() -> None:
    body = b"\r\n".join(line.rstrip() for line in REQUESTS_SAMPLE.splitlines()) + b"\r\n"
    assert parse_requests(body).rows == REQUEST_ROWS


def test_requests_of_126_have_no_start_time() -> None:
    cells = ("a", "s", "4", "0", "u", "2026-04-12T10:03:20Z", "2", "0", "50ms")
    row = parse_requests(render([BASE_126, cells])).rows[0]
    assert row == RequestRow("a", "s", 4, 0, "u", SECOND, 2, 0, 50_000_000, "50ms", None, None)


def test_requests_before_seats_had_one_seat() -> None:
    cells = ("a", "s", "4", "0", "u", "2026-04-12T10:03:20Z")
    row = parse_requests(render([BASE_126[:6], cells])).rows[0]
    assert (row.initial_seats, row.final_seats, row.additional_latency) == (1, 0, "0s")


def test_the_distinguisher_column_may_be_spelled_right() -> None:
    body = REQUESTS_SAMPLE.replace(b"FlowDistingsher,  ", b"FlowDistinguisher,", 1).replace(
        b"FlowDistinguisher,  ", b"FlowDistinguisher, "
    )
    assert parse_requests(body).rows[0].distinguisher == "svc, batch (blue)"


def test_columns_are_found_by_name_in_any_order() -> None:
    row = dict(zip((*BASE_128, *DETAILS), pod("u, v", "p"), strict=True)) | {"Color": "red, blue"}
    columns = sorted(row)
    dump = parse_requests(render([columns, [row[column] for column in columns]]))
    assert dump.rows[0].extra == (("Color", "red, blue"),)
    assert dump.rows[0].details == Details(*pod("u, v", "p")[10:])


def test_a_table_without_a_needed_column_is_refused() -> None:
    with pytest.raises(ParseError, match="no column QueueIndex"):
        parse_requests(render([("PriorityLevelName", "FlowSchemaName", "RequestIndexInQueue", "ArriveTime")]))


@pytest.mark.parametrize("mark", ["\t", "\v", "\n", "\n\n"])
def test_a_field_with_a_tab_or_newline_is_read_by_structure(mark: str) -> None:
    rows = [pod("before", "p"), pod(f"a, b{mark}c", f"x{mark}y"), pod("after, all", "q")]
    dump = parse_requests(render([(*BASE_128, *DETAILS), *rows]))
    assert dump.bad == ()
    assert [plain(row) for row in dump.rows] == [plain_cells(cells) for cells in rows]


def test_a_newline_is_given_back_as_it_was() -> None:
    dump = parse_requests(render([(*BASE_128, *DETAILS), pod("a\nb", "x\ny"), pod("c", "z")]))
    assert dump.rows[0].distinguisher == "a\nb"
    assert dump.rows[0].details == Details(*pod("a\nb", "x\ny")[10:])


def test_a_newline_without_details() -> None:
    rows = [request("a\nb")[:10], request("c")[:10]]
    dump = parse_requests(render([BASE_128, *rows]))
    assert [row.distinguisher for row in dump.rows] == ["a\nb", "c"]
    assert dump.bad == ()


def test_rows_below_a_byte_that_stops_the_alignment() -> None:
    """The server's table writer takes 0xff for the begin of text in which it aligns nothing."""
    head, row = render([(*BASE_128, *DETAILS), pod("a, b", "p")]).split(b"\n")[:2]
    odd = row[: row.index(b"/api")] + b"/x\xff,\t,\t,\t,\t,\t"
    raw = ",\t".join(pod(" c,  d", "q")).encode()
    dump = parse_requests(b"\n".join((head, row, odd, raw, b"")))
    assert dump.bad == ()
    assert [row.details.path for row in dump.rows if row.details] == [
        "/api/v1/namespaces/a/pods/p/status",
        "/x\udcff",
        "/api/v1/namespaces/a/pods/q/status",
    ]
    assert dump.rows[2].distinguisher == " c,  d"


def test_a_row_with_two_readings_is_bad() -> None:
    cells = request("u\t", "/a, get, /b", FlowDistingsher="")
    dump = parse_requests(render([(*BASE_128, *DETAILS), cells]))
    assert dump.rows == ()
    assert [(line.number, "2 readings" in line.why) for line in dump.bad] == [(2, True)]


def test_a_line_of_nonsense_is_bad_and_its_neighbours_stay() -> None:
    lines = REQUESTS_SAMPLE.splitlines(keepends=True)
    dump = parse_requests(b"".join((*lines[:3], b"panic: oops\n", *lines[3:])))
    assert dump.rows == REQUEST_ROWS
    assert [(line.number, line.text) for line in dump.bad] == [(4, "panic: oops")]


def test_half_a_row_does_not_swallow_the_next() -> None:
    lines = REQUESTS_SAMPLE.splitlines(keepends=True)
    half = lines[1][:90] + b"\n"
    dump = parse_requests(b"".join((lines[0], half, *lines[1:])))
    assert dump.rows == REQUEST_ROWS
    assert [line.number for line in dump.bad] == [2]


def test_a_row_with_a_broken_time_is_bad() -> None:
    dump = parse_requests(REQUESTS_SAMPLE.replace(b"10:03:28Z", b"10:03:88Z"))
    assert [line.number for line in dump.bad] == [4]
    assert len(dump.rows) == 7


def test_twenty_thousand_rows_take_well_under_a_second() -> None:
    head, *lines = REQUESTS_SAMPLE.splitlines(keepends=True)
    body = head + b"".join(lines) * 2500
    begin = time.process_time()
    assert len(parse_requests(body).rows) == 20_000
    assert time.process_time() - begin < 1
