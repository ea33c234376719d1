"""Records real control planes under load: `python -m tests.planes.record FOLDER [--runs NAME ...]`.

Every run has a control plane of its own, so that its counters begin at 0, and gives three files: NAME.jsonl.gz with a
scrape of one replica a line, NAME.client.json.gz with the requests as the clients saw them, and NAME.objects.json.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.planes.client import Client, Json
from tests.planes.plane import Plane, start_plane
from tests.planes.recorded_runs import RUNS
from tests.planes.scenario import Happened, Scenario, happen, prepared
from tests.planes.scrapes import Line, Scrapes, scraping

INTERVAL_SECONDS = 2.0
# The quiet before the load and after it.
MARGIN_SECONDS = 2.5
GROUP = "/apis/flowcontrol.apiserver.k8s.io/v1/"
WAITED_NS = 50e6
_WAITING = re.compile(
    r"^apiserver_flowcontrol_priority_level_request_utilization_"
    r'(?:count\{phase="waiting",priority_level="([^"]*)"\}'
    r'|bucket\{phase="waiting",priority_level="([^"]*)",le="0"\}) (\S+)$',
    re.MULTILINE,
)


def record(plane: Plane, scenario: Scenario, folder: Path, seconds: float, interval: float = INTERVAL_SECONDS) -> str:
    """Writes the three files of one run on a fresh control plane; gives a line that sums it up."""
    with prepared(plane, scenario), scraping(plane, scenario.level_names, interval) as scrapes:
        objects = _objects(plane.client())
        time.sleep(MARGIN_SECONDS)
        happened = happen(plane, scenario, seconds)
        time.sleep(MARGIN_SECONDS)
        after = _objects(plane.client())
    scrapes.lines.sort(key=lambda line: float(line["t"]))
    _write(folder, scenario, scrapes, happened, objects, after)
    return _summary(scenario, scrapes, happened, seconds)


def waiting_intervals(lines: Sequence[Line], levels: Sequence[str]) -> Counter[str]:
    """How many intervals between two scrapes of a replica have over 50 ms with something waiting, by level/replica.

    The histogram counts nanoseconds, and its bucket at 0 those without anything waiting.
    """
    found: Counter[str] = Counter({f"{level}/{replica}": 0 for level in levels for replica in _replicas(lines)})
    former: dict[str, tuple[float, float]] = {}
    for line in lines:
        for level, (whole, idle) in _waited(line["metrics"]).items():
            key = f"{level}/{line['replica']}"
            before = former.get(key)
            former[key] = whole, idle
            if key in found and before is not None and whole >= before[0]:
                found[key] += (whole - before[0]) - (idle - before[1]) > WAITED_NS
    return found


def _replicas(lines: Sequence[Line]) -> list[int]:
    return sorted({line["replica"] for line in lines})


def _waited(metrics: str) -> dict[str, tuple[float, float]]:
    whole: dict[str, float] = {}
    idle: dict[str, float] = {}
    for count, bucket, value in _WAITING.findall(metrics):
        (whole if count else idle)[count or bucket] = float(value)
    return {level: (value, idle[level]) for level, value in whole.items()}


def _objects(client: Client) -> dict[str, Json]:
    plurals = {"flowschemas": "flowschemas", "prioritylevels": "prioritylevelconfigurations"}
    return {key: client.get(GROUP + plural).expect(200).json() for key, plural in plurals.items()}


def _write(
    folder: Path,
    scenario: Scenario,
    scrapes: Scrapes,
    happened: Happened,
    objects: dict[str, Json],
    after: dict[str, Json],
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    about: dict[str, Any] = {
        "version": scenario.version,
        "inflight": list(scenario.inflight),
        "levels": list(scenario.level_names),
        **objects,
        "notes": scenario.notes,
        "events": [{"begin": begin, "end": end, "what": what} for begin, end, what in happened.events],
        "prioritylevels_after": after["prioritylevels"],
        "missed": [{"t": t, "replica": replica, "why": why} for t, replica, why in scrapes.missed],
    }
    requests = {"requests": [asdict(one) for one in happened.records]}
    (folder / f"{scenario.name}.objects.json").write_text(json.dumps(about, indent=1))
    with gzip.open(folder / f"{scenario.name}.client.json.gz", "wt") as file:
        json.dump(requests, file)
    # The lines come last, so that whoever sees them finds the rest.
    unfinished = folder / f"{scenario.name}.unfinished"
    with gzip.open(unfinished, "wt") as file:
        file.writelines(json.dumps(line) + "\n" for line in scrapes.lines)
    unfinished.replace(folder / f"{scenario.name}.jsonl.gz")


def _summary(scenario: Scenario, scrapes: Scrapes, happened: Happened, seconds: float) -> str:
    found = waiting_intervals(scrapes.lines, scenario.level_names)
    took = [line["stamps"]["metrics"][2] - line["t"] for line in scrapes.lines]
    codes = Counter(one.code for one in happened.records)
    return (
        f"{scenario.name}: {len(scrapes.lines)} scrapes, {len(scrapes.missed)} missed, "
        f"fetches {sum(took) / max(1, len(took)):.2f} s mean {max(took, default=0.0):.2f} s max; "
        f"{len(happened.records) / seconds:.0f} requests/s, codes {dict(sorted(codes.items()))}; "
        f"waiting intervals {found.total()}: {dict(found)}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Records the runs that were asked for, one after another; 1 if one of them failed."""
    names = {scenario.name: scenario for scenario in RUNS}
    parser = argparse.ArgumentParser(prog="record", description="Records real control planes under load.")
    parser.add_argument("folder", type=Path, nargs="?", help="where the recordings go")
    parser.add_argument("--runs", nargs="+", choices=names, default=list(names), metavar="NAME", help="only these")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the load of each lasts")
    parser.add_argument("--list", action="store_true", help="say what there is")
    asked = parser.parse_args(arguments)
    if asked.list:
        for scenario in RUNS:
            print(f"{scenario.name}: {scenario.notes}")
        return 0
    if asked.folder is None:
        parser.error("FOLDER is missing")
    # Stamps are taken in threads that share the interpreter with the clients.
    sys.setswitchinterval(0.001)
    failed = False
    for name in asked.runs:
        scenario = names[name]
        try:
            with (
                tempfile.TemporaryDirectory(prefix="apftop-record-") as own,
                start_plane(scenario.version, inflight=scenario.inflight, folder=Path(own)) as plane,
            ):
                print(record(plane, scenario, asked.folder, asked.seconds), flush=True)
        except Exception:
            failed = True
            print(f"{name} failed\n{traceback.format_exc()}", file=sys.stderr, flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
