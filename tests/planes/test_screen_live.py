"""The screen and the report say the same of the same answers, on real servers under load."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from apftop.present import UNKNOWN, interval, percent, rate, seconds, whole
from apftop.records.measures import Quantile
from apftop.sheets.figures import STALE
from tests.collect.saved import read
from tests.planes import load
from tests.planes.flow import apply_flow, flow_schema, priority_level, remove_flow
from tests.planes.objects import allow_loaders, create_namespace, delete_namespace, revoke, wait_on_replicas
from tests.planes.observe import metric
from tests.planes.plane import Plane
from tests.planes.screen import Row, Screen
from tests.planes.webhook import exponential, webhook_in_force
from tests.ui.terminal import Pty

Json = dict[str, Any]

NAMESPACE = "slow-screen"
LARGE, SMALL = (200, 50), (80, 24)
VIEWS = {"1": "levels", "2": "schemas", "4": "requests", "6": "replicas"}
NOT_REPORTED: Mapping[str, Set[str]] = {
    "levels": {"F", "TREND", "MODEL", "PREDICTED"},
    "schemas": frozenset(),
    "requests": {"RUNS", "STARTS IN"},
    "replicas": {"F", "WORST LEVEL", "CHECKS", "AGES", "REFUSED", "READ", "COST", "UP", "IDENTITY", "LEFT OUT"},
}
"""Columns that are about the polling of this run, or that the report has in other words."""
FREEZE, WAKE, WRITE, QUIT = " ", "\x12", "b", "q"
AGAIN_S = 1.2
"""A wake does not ask again what was asked a second before."""
BUNDLES = "apftop-*Z"


@contextmanager
def under_load(plane: Plane) -> Iterator[None]:
    """One level has a queue that is full, one has no seats, and some requests are exempt."""
    busy = priority_level("busy", shares=5, queues=4, hand_size=1, queue_length=6, borrowing=100)
    to_busy = flow_schema("busy", "busy", users=["elephant", "mouse0"], precedence=500)
    none, to_none = priority_level("none", shares=5), flow_schema("none", "none", users=["batch"], precedence=501)
    creates, version = load.create_configmap(NAMESPACE), load.get("/version")
    loads: list[load.Load] = [
        *(load.ClosedLoop("elephant", creates, replica=at, concurrency=12, pause_after_error=0.2) for at in (0, 1)),
        load.OpenLoop("mouse0", creates, replica=1, rate=2),
        load.OpenLoop("batch", load.get("/version?timeout=8s"), replica=2, rate=4),
        *(load.OpenLoop("admin", version, replica=at, rate=3) for at in range(3)),
    ]
    create_namespace(plane, NAMESPACE)
    allow_loaders(plane)
    try:
        apply_flow(plane, busy, to_busy, "elephant")
        apply_flow(plane, none, to_none, "batch")
        plane.client().apply(priority_level("none", shares=0))
        name = "apiserver_flowcontrol_nominal_limit_seats"
        wait_on_replicas(plane, "no seats", lambda _, client: metric(client, name, priority_level="none") == 0)
        with webhook_in_force(plane, NAMESPACE, exponential(0.25, 7)), load.running(plane, *loads):
            yield
    finally:
        remove_flow(plane, busy, to_busy)
        remove_flow(plane, none, to_none)
        revoke(plane, "plane-loaders")
        delete_namespace(plane, NAMESPACE)


def read_screens(plane: Plane, folder: Path) -> tuple[dict[str, list[Row]], dict[str, list[Row]], Path]:
    """Every view of one frozen moment in two sizes, and the bundle that was written of it."""
    servers = [part for url in plane.urls for part in ("--server", url)]
    command = [sys.executable, "-m", "apftop", "--kubeconfig", str(plane.kubeconfig()), *servers]
    with Pty(command, LARGE) as terminal:
        screen = Screen(terminal, LARGE)
        screen.until(lambda lines: len(levels_of(lines, "busy")) == 3 and not any("-/-" in line for line in lines))
        time.sleep(AGAIN_S)
        screen.send(WAKE)
        # Until two metrics are there of a replica, its shares of time are over the lives of its levels.
        screen.until(lambda lines: not any(" life " in line for line in lines))
        screen.send(FREEZE)
        screen.until(lambda lines: "FROZEN" in lines[0])
        large = {view: screen.view(key, view) for key, view in VIEWS.items()}
        screen.resize(*SMALL)
        small = {view: screen.view(key, view) for key, view in VIEWS.items()}
        screen.until(lambda lines: "FROZEN" in lines[0] and "3 of 3 replicas" in lines[0])
        screen.send(WRITE)
        screen.until(lambda _: list(folder.glob(BUNDLES)))
        screen.send(QUIT)
        assert terminal.until_end()[0] == 0
        assert terminal.is_given_back()
    (bundle,) = folder.glob(BUNDLES)
    return large, small, bundle


def levels_of(lines: Sequence[str], name: str) -> list[str]:
    # The sign of what is found comes first.
    return [line for line in lines if line[3:].startswith(f"{name} ")]


def reported(bundle: Path, output: str) -> str:
    command = [sys.executable, "-m", "apftop", "report", str(bundle), "--output", output]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def quantile(wait: Json | None) -> str:
    found = ((wait or {}).get("executed") or {}).get("p95")
    return interval(Quantile(found["low"], found["high"], found["estimate"]) if found else None)


def reasons(level: Json) -> str:
    """Rejections by reason: those of the metrics, or of the dumps where only these have any."""
    known = [one["rejected_per_s"] for one in (level, level["recent"] or {}) if one.get("rejected_per_s")]
    if not known:
        return UNKNOWN
    told = next((one for one in known if one["total"]), known[0])
    parts = sorted(((n, name) for name, n in told.items() if n and name != "total"), key=lambda part: -part[0])
    return parts[0][1] if len(parts) == 1 else ", ".join(f"{name} {rate(n)}" for n, name in parts)


def total(rates: Json | None) -> str:
    return rate(rates["total"] if rates else None)


def full(level: Json) -> str:
    share = level["utilization"]
    if share is None or level["type"] == "Exempt":
        return UNKNOWN
    return percent(share["gt_0.99"]) + (" life" if share["lifetime"] else "")


def levels(document: Json) -> Iterator[Row]:
    for replica, one in document["replicas"].items():
        for name, level in one["levels"].items():
            pace = level["recent"] or level
            limit = UNKNOWN if level["type"] == "Exempt" else whole(level["current"])
            yield {
                "LEVEL": name,
                "REPLICA": replica,
                "STATE": level["state"],
                "SEATS": f"{whole(level['seats_in_use'])}/{limit}",
                "WAITING": whole(level["waiting"]),
                "DISP/S": rate(pace["dispatched_per_s"]),
                "REJ/S": total(pace["rejected_per_s"]),
                "REASON": reasons(level),
                "WAIT p95": quantile(level["wait"]),
                "FULL": full(level),
                "OLDEST": "" if 0 in (level["waiting"], level["flows_waiting"]) else seconds(level["oldest_waiting_s"]),
                "NOMINAL": whole(level["nominal"]),
                "BORR": whole(level["borrowed_in_use"]),
            }


def schemas(document: Json) -> Iterator[Row]:
    for replica, one in document["replicas"].items():
        for name, schema in one["schemas"].items():
            oldest = schema["oldest_waiting_s"]
            yield {
                "SCHEMA": name,
                "REPLICA": replica,
                "LEVEL": schema["level"],
                "PREC": whole(schema["precedence"]),
                "DISTINGUISHER": UNKNOWN if schema["deleted"] else schema["distinguisher"] or "none",
                "WAITING": whole(schema["waiting"]),
                "EXEC": whole(schema["executing"]),
                "SEATS": whole(schema["seats_in_use"]),
                "DISP/S": rate(schema["dispatched_per_s"]),
                "REJ/S": total(schema["rejected_per_s"]),
                "WAIT p95": quantile(schema["wait"]),
                "FLOWS": whole(schema["flows"]),
                "OLDEST": "" if schema["waiting"] == 0 and oldest is None else seconds(oldest),
                "REMARKS": remarks(schema),
            }


def remarks(schema: Json) -> str:
    past = f"once on {', '.join(schema['past_levels'])}" if schema["past_levels"] else ""
    return "; ".join(filter(None, ("deleted" if schema["deleted"] else "", past)))


def requests(document: Json) -> Iterator[Row]:
    for one in document["requests"]:
        executing = one["state"] == "executing"
        place = str(one["queue"]) if executing else f"{one['queue']}/{one['index']}"
        what = one["resource"] or one["path"]
        yield {
            "STATE": f"{one['state']}, own" if one["own"] else one["state"],
            "REPLICA": one["replica"],
            "LEVEL": one["pl"],
            "SCHEMA": one["fs"],
            "QUEUE": "" if one["queue"] < 0 else place,
            "FLOW": one["distinguisher"],
            "USER": one["user"],
            "WHAT": f"{one['verb']} {what}",
            "OBJECT": f"{one['namespace']}/{one['name']}" if one["namespace"] else one["name"],
            "WIDTH": whole(max(one["initial_seats"], one["final_seats"])),
            "AGE": seconds(one["age_s"]),
            "WAIT": seconds(one["wait_s"]) if executing else "",
        }


def replicas(document: Json) -> Iterator[Row]:
    for name, one in document["replicas"].items():
        live = [level for level in one["levels"].values() if level["state"] != "stale"]
        limited = [level for level in live if level["type"] != "Exempt"]
        rejected = sum((level["recent"] or level)["rejected_per_s"]["total"] for level in live)
        yield {
            "REPLICA": name,
            "VERSION": one["version"],
            "ANSWERS": "ok" if set(one["endpoints"].values()) <= {200, None} else "partly",
            "APF": one["apf"],
            "SEATS": f"{whole(sum(level['seats_in_use'] for level in limited))}/{whole(one['server_concurrency'])}",
            "NOMINAL": whole(one["nominal_sum"]),
            "WAITING": whole(sum(level["waiting"] for level in limited)),
            "REJ/S": rate(rejected),
            "PROBLEMS": whole(len(one["problems"])),
            "OWN SCHEMA / LEVEL": f"{one['own']['flow_schema']} / {one['own']['priority_level']}",
            "CLOCK": seconds(one["clock_skew_s"]),
        }


TOLD: Mapping[str, Callable[[Json], Iterator[Row]]] = {
    "levels": levels,
    "schemas": schemas,
    "requests": requests,
    "replicas": replicas,
}


def is_same(shown: str, told: str) -> bool:
    """Whether a cell shows a text; what there is no room for is left out at one end, and what is old has a mark."""
    front, cut, end = shown.removesuffix(STALE).partition("…")
    return told.startswith(front) and told.endswith(end) if cut else front == told


def differences(shown: Row, told: Row) -> Row:
    return {title: f"{text}, not {told[title]}" for title, text in shown.items() if not is_same(text, told[title])}


def check(view: str, rows: Sequence[Row], document: Json) -> None:
    """Every row is one of the report's, with the same text in each cell, and none is missing."""
    left = list(TOLD[view](document))
    assert len(rows) == len(left) > 0
    for row in rows:
        shown = {title: text for title, text in row.items() if title not in NOT_REPORTED[view]}
        off, at = min(((differences(shown, told), at) for at, told in enumerate(left)), key=lambda found: len(found[0]))
        assert off == {}, f"{view}: {row}"
        del left[at]


def tabled(text: str) -> Iterator[Row]:
    """The levels of a text report."""
    replica = ""
    titles: list[str] = []
    for line in text.splitlines()[2:]:
        parts = re.split(r" {2,}", line.strip())
        if line and not line.startswith(" "):
            replica, titles = parts[0], []
        elif parts[0] == "LEVEL":
            titles = parts
        elif len(parts) == len(titles):
            yield {"REPLICA": replica} | dict(zip(titles, parts, strict=True))


def check_text(rows: Sequence[Row], text: str) -> None:
    """The levels of the text report are those of the screen, in the columns that both have."""
    told = {(row["LEVEL"], row["REPLICA"]): row for row in tabled(text)}
    assert len(told) == len(rows)
    for row in rows:
        other = told[row["LEVEL"], row["REPLICA"]]
        both = row.keys() & other.keys() - {"REJ/S"}
        assert {"SEATS", "WAITING", "DISP/S", "NOMINAL", "FULL"} <= both
        assert differences({title: row[title] for title in both}, other) == {}
        rejected = f"{row['REASON']} {row['REJ/S']}" if row["REASON"] else "0"
        assert is_same(rejected, other["REJ/S"])


def test_the_screen_shows_the_numbers_of_the_report(
    plane: Plane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with under_load(plane):
        large, small, bundle = read_screens(plane, tmp_path)
    document = json.loads(reported(bundle, "json"))
    for view in VIEWS.values():
        check(view, large[view], document)
        check(view, small[view], document)
    check_text(large["levels"], reported(bundle, "text"))
    # What the load is for.
    states = {(row["LEVEL"], row["STATE"]) for row in large["levels"]}
    assert {("busy", "saturated"), ("none", "blocked"), ("exempt", "exempt")} <= states
    assert {"queue-full", "time-out"} <= {row["REASON"] for row in large["levels"]}
    # Objects that are shared by all replicas carry nobody else's certificate.
    peers = {(sample.replica, sample.peer) for sample in read(bundle).samples if sample.peer}
    assert len(peers) == len({peer for _, peer in peers}) == 3
