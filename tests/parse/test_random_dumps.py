"""Random tables, as the server's table writer lays them out."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apftop.parse.dumps import parse_levels, parse_queues, parse_requests
from apftop.records.parsed import LevelRow, ParseError, QueueRow
from tests.parse.dump_samples import (
    BASE_128,
    DETAILS,
    LEVELS_126,
    LEVELS_127,
    QUEUES,
    ZERO,
    as_row,
    plain,
    plain_cells,
    pod,
    request,
)
from tests.parse.go_table import render

FREE = st.text(st.sampled_from("ab,  '\"é日𝔘\u0301\x85\u2028\r/:"), max_size=12)
WORD = st.text(st.sampled_from("abc,.é"), min_size=1, max_size=6)
INDEX = st.integers(-1, 200).map(str)
TIMES = st.sampled_from([ZERO, "2026-04-12T10:03:20Z", "2026-04-12T10:03:20.5Z", "2026-04-12T10:03:20.123456789Z"])
LATENCY = st.sampled_from(["0s", "50ms", "833.333µs", "1m0s"])


@st.composite
def any_request(draw: st.DrawFn) -> list[str]:
    name = st.sampled_from(["exempt", "workload-low", "a"])
    row = [draw(name), draw(name), draw(INDEX), draw(INDEX), draw(FREE), draw(TIMES), draw(INDEX), draw(INDEX)]
    row += [
        draw(LATENCY),
        draw(TIMES),
        draw(FREE),
        draw(st.sampled_from(["get", "list"])),
        *draw(st.tuples(*[FREE] * 3)),
    ]
    return [*row, "v1", draw(FREE), draw(st.sampled_from(["", "status"]))]


@st.composite
def real_request(draw: st.DrawFn, mark: str = "") -> list[str]:
    """A request whose path agrees with its resource; with a mark, that mark stands in its user or its name."""
    user = draw(st.text(st.sampled_from("ab, c(é"), min_size=1, max_size=10))
    name = draw(WORD)
    if mark:
        place = draw(st.sampled_from(["user", "name", "both"]))
        user = f"{user}{mark}{draw(WORD)}" if place != "name" else user
        name = f"{name}{mark}{draw(WORD)}" if place != "user" else name
    distinguisher = draw(st.sampled_from([user, ""]))
    kind = draw(st.sampled_from(["named", "all", "other"])) if not mark else "named"
    if kind == "other":
        return request(user, f"/openapi/{name}", FlowDistingsher=distinguisher)
    if kind == "all":
        return request(user, "/apis/x.io/v1/ws", APIVersion="x.io/v1", Resource="ws", FlowDistingsher=distinguisher)
    row = pod(user, name)
    row[4] = distinguisher
    return row


def without_start(row: list[str]) -> list[str]:
    return row[:9] + row[10:]


@given(st.lists(any_request(), max_size=6), st.booleans(), st.booleans())
def test_any_rows_come_back_exactly(rows: list[list[str]], start: bool, details: bool) -> None:
    columns = [*BASE_128, *DETAILS]
    expected = [as_row(row) for row in rows]
    table = [columns, *rows]
    if not start:
        table = [without_start(row) for row in table]
        expected = [replace(row, start_ns=None) for row in expected]
    if not details:
        table = [row[: -len(DETAILS)] for row in table]
        expected = [replace(row, details=None) for row in expected]
    dump = parse_requests(render(table))
    assert dump.rows == tuple(expected)
    assert dump.bad == ()


@given(st.permutations(["exempt", "system", "a.b-c"]), st.lists(st.integers(0, 10**12), min_size=7, max_size=7))
def test_any_levels_come_back_exactly(names: list[str], numbers: list[int]) -> None:
    queues, waiting, executing, dispatched, rejected, timed_out, cancelled = numbers
    table = [LEVELS_127, *([name, str(queues), "true", "false", *map(str, numbers[1:])] for name in names)]
    expected = [
        LevelRow(name, queues, True, False, waiting, executing, dispatched, rejected, timed_out, cancelled)
        for name in names
    ]
    assert parse_levels(render(table)).rows == tuple(expected)
    old = [replace(row, dispatched=None, rejected=None, timed_out=None, cancelled=None) for row in expected]
    assert parse_levels(render([row[: len(LEVELS_126)] for row in table])).rows == tuple(old)


@given(st.lists(st.tuples(st.sampled_from(["x", "long-level-name"]), *[st.integers(0, 10**20)] * 8), max_size=5))
def test_any_queues_come_back_exactly(rows: list[tuple[str, int, int, int, int, int, int, int, int]]) -> None:
    def work(units: int) -> str:
        return f"{units // 10**8}.{units % 10**8:08d}ss"

    table = [QUEUES, *([row[0], *map(str, row[1:5]), work(row[5]), *map(str, row[6:8]), work(row[8])] for row in rows)]
    assert parse_queues(render(table)).rows == tuple(QueueRow(*row) for row in rows)


@given(st.lists(real_request(), min_size=1, max_size=4), st.data())
def test_real_rows_cut_anywhere_are_right_or_refused(rows: list[list[str]], data: st.DataObject) -> None:
    body = render([(*BASE_128, *DETAILS), *rows])
    end = data.draw(st.integers(0, len(body)))
    try:
        dump = parse_requests(body[:end])
    except ParseError:
        return
    assert dump.rows == tuple(as_row(row) for row in rows)[: len(dump.rows)]
    assert dump.bad == ()


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(["", "", "\t", "\n", "\v"]).flatmap(real_request), min_size=1, max_size=5))
def test_rows_with_tabs_and_newlines_are_right_or_bad(rows: list[list[str]]) -> None:
    dump = parse_requests(render([(*BASE_128, *DETAILS), *rows]))
    left = [plain_cells(row) for row in rows]
    for row in map(plain, dump.rows):
        assert row in left
        del left[: left.index(row) + 1]
    assert len(dump.rows) == len(rows) or dump.bad
