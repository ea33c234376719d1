"""Without a source, live servers are looked at twice."""

from __future__ import annotations

import json
from pathlib import Path

from tests.collect.loopback import DUMPS, denied, kubeconfig, names, running
from tests.export.exporting import run
from tests.export.test_openmetrics import LINE, strict, well_ordered
from tests.reach.server import Ca


def test_all_servers_are_looked_at_twice(ca: Ca, tmp_path: Path) -> None:
    with running(ca, 2) as servers:
        config = ("--kubeconfig", kubeconfig(servers[0], ca, tmp_path))
        done = run("--to", "jsonl", "--table", "levels", "--every", "0.2", *config)
        replicas = set(names(servers))

    assert (done.return_value, done.stderr) == (0, "")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["replica"] for row in rows} == replicas
    assert [row["window_s"] > 0 for row in rows if row["level"] == "load"] == [True, True]


def test_their_series_are_there_at_both_times(ca: Ca, tmp_path: Path) -> None:
    with running(ca) as (server,):
        config = ("--kubeconfig", kubeconfig(server, ca, tmp_path))
        text = run("--to", "openmetrics", "--every", "0.2", *config).stdout

    well_ordered(text)
    samples = strict(text)["apiserver_flowcontrol_dispatched_requests_total"].samples
    assert len({str(sample.timestamp) for sample in samples}) == 2
    assert all(LINE.fullmatch(line) or line.startswith("# ") for line in text.splitlines())


def test_what_is_denied_is_told_and_unknown(ca: Ca, tmp_path: Path) -> None:
    with running(ca) as (server,):
        server.replies[f"{DUMPS}dump_requests"] = denied(f"{DUMPS}dump_requests")
        config = ("--kubeconfig", kubeconfig(server, ca, tmp_path))
        done = run("--to", "jsonl", "--table", "requests", "--every", "0.2", *config)

    assert (done.return_value, done.stdout) == (3, "")
    assert "403 on the dumps: no requests" in done.stderr
