"""The screen and the reports say the same of the same frame."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from apftop.derive.frame import frame
from apftop.live import fold
from apftop.records.moment import Moment
from apftop.report.document import document
from apftop.report.text import text
from apftop.sheets.look import SUM, View
from tests.recording import Recording, recordings
from tests.sheets.moments import BUNDLES, case, cell, seen, texts

Json = dict[str, Any]


def of_recording(recording: Recording) -> Moment:
    """The middle of a run, when its load is on: the screen stands on two answers of each replica."""
    samples = []
    for replica in recording.replicas:
        scrapes = recording.of(replica)
        for scrape in scrapes[len(scrapes) // 2 :][:2]:
            samples += list(scrape.samples())
    found = frame(fold(samples))
    return Moment(found, 1, recording.name, found.t1 or 0.0)


MOMENTS = [pytest.param(case(name), id=name) for name in BUNDLES]
MOMENTS += [pytest.param(of_recording(one), id=one.name) for one in recordings()]
of_each = pytest.mark.parametrize("moment", MOMENTS)


def reported(moment: Moment) -> Json:
    return document(moment.frame, "here", {})


def same(shown: object, told: object) -> bool:
    """Whether a cell's value is that of the document, which cuts noise beyond 1e-9."""
    if isinstance(shown, float) and isinstance(told, int | float):
        return math.isclose(shown, told, rel_tol=1e-6, abs_tol=1e-8)
    return shown == told


def interval(told: Json | None) -> tuple[float, float] | None:
    return None if told is None else (told["low"], math.inf if told["open"] else told["high"])


@of_each
def test_levels_are_those_of_the_json_report(moment: Moment) -> None:
    told, found = reported(moment), seen(moment)

    assert len(found.rows) == sum(len(one["levels"]) for one in told["replicas"].values())
    for row in found.rows:
        level = told["replicas"][row.key[1]]["levels"][row.key[0]]
        pace = moment.frame.replicas[row.key[1]].levels[row.key[0]].recent
        expected = {
            "state": level["state"],
            "seats": level["seats_in_use"],
            "nominal": level["nominal"],
            "borrowed": level["borrowed_in_use"],
            "waiting": level["waiting"],
            "wait_p95": interval(level["wait"] and level["wait"].get("executed") and level["wait"]["executed"]["p95"]),
        }
        if pace is None:
            expected["dispatched"] = level["dispatched_per_s"]
            expected["rejected"] = level["rejected_per_s"] and level["rejected_per_s"]["total"]
        for key, value in expected.items():
            assert same(cell(found, key, row).value, value), (row.key, key)


@of_each
def test_levels_are_those_of_the_text_report(moment: Moment) -> None:
    table = text(moment.frame, "here", None, None, None).splitlines()
    found = seen(moment)

    for row in found.rows:
        name, state, seats, waiting = (cell(found, key, row).text for key in ("level", "state", "seats", "waiting"))
        line = re.compile(rf"  {re.escape(name)} +{state} +{re.escape(seats)} .* {waiting} ")
        assert any(line.match(one) for one in table), row.key


@of_each
def test_sums_are_those_of_the_report(moment: Moment) -> None:
    told, found = reported(moment)["totals"]["levels"], seen(moment, scope=SUM)

    assert sorted(texts(found, "level")) == sorted(told)
    for row in found.rows:
        total = told[row.key[0]]
        assert same(cell(found, "seats", row).value, total["seats_in_use"])
        assert same(cell(found, "waiting", row).value, total["waiting"])
        assert same(cell(found, "nominal", row).value, total["nominal"])


@of_each
def test_schemas_are_those_of_the_report(moment: Moment) -> None:
    told, found = reported(moment)["replicas"], seen(moment, view=View.SCHEMAS)

    for row in found.rows:
        schema = told[row.key[1]]["schemas"][row.key[0]]
        assert same(cell(found, "waiting", row).value, schema["waiting"])
        assert same(cell(found, "seats", row).value, schema["seats_in_use"])
        assert same(cell(found, "dispatched", row).value, schema["dispatched_per_s"])
        assert same(cell(found, "flows", row).value, schema["flows"])
        assert cell(found, "level", row).value == schema["level"]


@of_each
def test_requests_are_those_of_the_report(moment: Moment) -> None:
    told, found = reported(moment)["requests"], seen(moment, view=View.REQUESTS)

    def shown(key: str) -> list[object]:
        return sorted((cell(found, key, row).value for row in found.rows), key=repr)

    assert len(found.rows) == len(told)
    assert all(map(same, shown("age"), sorted((as_float(one["age_s"]) for one in told), key=repr)))
    assert shown("user") == sorted((one["user"] for one in told), key=repr)
    assert shown("level") == sorted((one["pl"] for one in told), key=repr)


def as_float(value: float | None) -> float | None:
    return None if value is None else float(value)


@of_each
def test_clients_have_the_waiting_requests_of_the_report(moment: Moment) -> None:
    told: dict[str, int] = {}
    for replica in reported(moment)["replicas"].values():
        for level in replica["levels"].values():
            for user, number in ((level["by_user"] or {}).get("waiting") or {}).items():
                told[user] = told.get(user, 0) + number
    found = seen(moment, view=View.CLIENTS)

    shown = {str(row.key[0]): cell(found, "waiting", row).value for row in found.rows if row.key}
    assert {user: number for user, number in shown.items() if number} == told
