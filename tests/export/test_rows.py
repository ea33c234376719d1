"""Rows have the values of the report of the same moment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from apftop.export.batches import batches
from apftop.export.rows import rows_of_notes
from apftop.export.source import Asked, opened
from apftop.export.tables import chosen
from apftop.records.tape import Mark, Note, Pulse
from tests.export.exporting import BUNDLES, reported, rows, tape

Json = dict[str, Any]

LEVEL = {
    "seats_in_use": ("seats_in_use",),
    "nominal_seats": ("nominal",),
    "limit_delta_seats": ("limit_delta",),
    "waiting_requests": ("waiting",),
    "dispatched_requests": ("dispatched",),
    "rejected_requests": ("rejected", "total"),
    "dispatched_per_s": ("dispatched_per_s",),
    "rejected_per_s": ("rejected_per_s", "total"),
    "refused_ratio": ("refused_share",),
    "utilization_ratio": ("utilization", "mean"),
    "utilization_ge_95_ratio": ("utilization", "ge_0.95"),
    "wait_mean_s": ("wait", "executed", "mean_s"),
    "wait_p99_low_s": ("wait", "executed", "p99", "low"),
    "wait_p99_high_s": ("wait", "executed", "p99", "high"),
    "timed_out_requests": ("wait", "timed_out"),
    "execution_mean_s": ("execution", "mean_s"),
    "window_s": ("window", "seconds"),
    "window_end": ("window", "t1"),
    "model": ("model", "check"),
    "state": ("state",),
}


def at(told: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        told = None if told is None else told[step]
    return told


def held(exported: list[Json], report: Json) -> None:
    """Each level of each server is there once, with the values of the report."""
    assert [(row["replica"], row["level"]) for row in exported] == [
        (name, level) for name, replica in report["replicas"].items() for level in replica["levels"]
    ]
    for row in exported:
        level = report["replicas"][row["replica"]]["levels"][row["level"]]
        assert {name: row[name] for name in LEVEL} == {name: at(level, path) for name, path in LEVEL.items()}


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda path: path.name)
def test_levels_of_a_bundle_are_those_of_its_report(bundle: Path) -> None:
    report = reported(bundle)
    exported = rows("levels", bundle)

    held(exported, report)
    assert {row["time"] for row in exported} == {report["taken"]["t1"]}


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda path: path.name)
def test_other_tables_of_a_bundle_are_those_of_its_report(bundle: Path) -> None:
    report = reported(bundle)
    single = next(iter(report["replicas"]))

    assert [(row["replica"], row["user"], row["wait_s"]) for row in rows("requests", bundle)] == [
        (one.get("replica", single), one["user"], one["wait_s"]) for one in report["requests"]
    ]
    assert [(row["flow"], row["waiting_requests"], row["hand"]) for row in rows("flows", bundle)] == [
        (one["distinguisher"], one["waiting"], one["hand"]) for one in report["flows"]
    ]
    assert [row["title"] for row in rows("findings", bundle)] == [one["title"] for one in report["findings"]]
    assert {row["replica"]: row["verdict"] for row in rows("replicas", bundle)} == {
        name: replica["verdict"] for name, replica in report["replicas"].items()
    }
    checks = [check for replica in report["replicas"].values() for check in replica["checks"]]
    checks += [
        check
        for replica in report["replicas"].values()
        for level in replica["levels"].values()
        for check in level["checks"]
    ]
    assert [(row["law"], row["check"], row["observed"]) for row in rows("checks", bundle)] == [
        (check["law"], check["check"], check["observed"]) for check in checks
    ]


@pytest.mark.parametrize("number", [0, 1])
def test_a_moment_of_a_tape_is_the_report_of_that_moment(tmp_path: Path, number: int) -> None:
    path = tape(tmp_path, number)

    held(rows("levels", path, "--at", "-10s"), reported(path, "--at", "-10s"))


def test_the_moments_of_a_tape_are_so_many_seconds_apart(tmp_path: Path) -> None:
    path = tape(tmp_path)

    times = sorted({row["time"] for row in rows("totals", path, "--between", "-20s", "-8s", "--every", "5")})

    assert len(times) == 4
    assert rows("totals", path, "--at", "-8s")[0]["time"] == times[-1]


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda path: path.name)
def test_buckets_of_waits_add_up_to_what_was_counted(bundle: Path) -> None:
    levels = {(row["replica"], row["level"]): row for row in rows("levels", bundle)}
    buckets = rows("wait_buckets", bundle)

    for key, level in levels.items():
        counts = [row["count_requests"] for row in buckets if (row["replica"], row["level"]) == key]
        executed, timed_out = level["waits_executed_requests"], level["timed_out_requests"]
        if executed is not None:
            assert executed <= sum(counts) <= executed + timed_out + 2
    assert all(row["le_s"] is None or row["le_s"] >= row["above_s"] for row in buckets)


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda path: path.name)
def test_reasons_of_refusals_add_up_to_all_of_them(bundle: Path) -> None:
    refused = rows("rejections", bundle)

    for level in rows("levels", bundle):
        counts = [
            row["rejected_requests"]
            for row in refused
            if (row["replica"], row["level"], row["schema"]) == (level["replica"], level["level"], None)
        ]
        assert sum(counts) == (level["rejected_requests"] or 0)


def test_no_more_rows_are_held_than_a_batch_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apftop.export.batches.ROWS", 100)
    path = tape(tmp_path)

    with opened(path) as source:
        found = list(batches(source, Asked(every_s=20.0), chosen(["checks", "marks"]), []))

    assert max(len(some) for _, some in found) == 100
    exact = rows("checks", path, "--every", "20")
    assert [row for table, some in found if table.name == "checks" for row in some] == exact


def test_marks_and_pulses_are_rows_of_their_own() -> None:
    note = Note((Mark(1.5, "restart", "again", "kas-1"), Mark(2.0, "clock", "set")), (Pulse(3.0, None, 0.5, ""),))

    assert list(rows_of_notes(note, chosen(("marks", "pulses")))) == [
        ("marks", {"time": "1970-01-01T00:00:01.500Z", "replica": "kas-1", "kind": "restart", "text": "again"}),
        ("marks", {"time": "1970-01-01T00:00:02.000Z", "replica": None, "kind": "clock", "text": "set"}),
        (
            "pulses",
            {"time": "1970-01-01T00:00:03.000Z", "waiting_requests": None, "refused_per_s": 0.5, "severity": None},
        ),
    ]
