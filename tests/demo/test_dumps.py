"""The dumps byte for byte: their layout, their words for times and durations."""

from __future__ import annotations

import gzip
import json
import re

import pytest

from apftop.demo.dumps import DETAIL_COLUMNS, LEVEL_COLUMNS, QUEUE_COLUMNS, REQUEST_COLUMNS, duration
from apftop.parse.cells import duration_ns
from tests.demo.planes import DUMPS, HOT, a_plane, ask
from tests.parse.go_table import render
from tests.recording import FOLDER

TARGETS = {
    "dump_priority_levels": LEVEL_COLUMNS,
    "dump_queues": QUEUE_COLUMNS,
    "dump_requests": REQUEST_COLUMNS,
    "dump_requests?includeRequestDetails=1": (*REQUEST_COLUMNS, *DETAIL_COLUMNS),
}


@pytest.mark.parametrize("target", TARGETS)
def test_the_layout_is_that_of_the_servers_table_writer(target: str) -> None:
    plane = a_plane(30.0)

    body = ask(plane, plane.servers[HOT], DUMPS + target).body
    header, *rows = body.decode().splitlines()
    starts = [match.start() for match in re.finditer(r"\w+", header)]
    cells = [
        [line[start:end].strip().removesuffix(",") for start, end in zip(starts, [*starts[1:], None], strict=True)]
        for line in (header, *rows)
    ]

    assert tuple(cells[0]) == TARGETS[target]
    assert len(rows) > 5
    assert render(cells) == body


def test_columns_are_those_of_a_recorded_server() -> None:
    with gzip.open(FOLDER / "contention-1.37.2.jsonl.gz", "rt") as lines:
        scrape = json.loads(next(iter(lines)))

    for name, target in (("dump_priority_levels", "dump_priority_levels"), ("dump_queues", "dump_queues")):
        assert re.findall(r"\w+", scrape[name].splitlines()[0]) == list(TARGETS[target])
    assert re.findall(r"\w+", scrape["dump_requests"].splitlines()[0]) == [*REQUEST_COLUMNS, *DETAIL_COLUMNS]


@pytest.mark.parametrize("value", ["0", "false", "yes"])
def test_any_value_switches_the_details_on_but_none(value: str) -> None:
    plane = a_plane()
    server = plane.servers[0]

    assert b"APIPath" in ask(plane, server, f"{DUMPS}dump_requests?includeRequestDetails={value}").body
    assert b"APIPath" not in ask(plane, server, f"{DUMPS}dump_requests?includeRequestDetails=").body


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0s"),
        (5_000_000, "5ms"),
        (1_500_000_000, "1.5s"),
        (833_333, "833.333µs"),
        (7, "7ns"),
        (250_000_000, "250ms"),
    ],
)
def test_durations_are_written_as_go_writes_them(nanoseconds: int, text: str) -> None:
    assert duration(nanoseconds) == text
    assert duration_ns(text) == nanoseconds


def test_the_question_itself_is_a_row_and_counted() -> None:
    plane = a_plane()
    server = plane.servers[0]

    rows = ask(plane, server, f"{DUMPS}dump_requests?includeRequestDetails=1").body.decode().splitlines()[1:]
    (own,) = [row for row in rows if "/debug/api_priority_and_fairness/dump_requests" in row]

    assert own.startswith("global-default, ")
    assert "dana@example.com" in own
