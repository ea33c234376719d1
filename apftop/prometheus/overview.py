"""A long time at a glance, by range queries: where requests waited or were refused, and what happened to the servers.

These are the store's own sums and rates over steps, and so blurred by a step each: for a time line alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from apftop.prometheus.client import Client
from apftop.prometheus.names import TWINS
from apftop.records.tape import Mark, Note, Pulse

POINTS = 480
"""So many steps a time is cut into, of a minute at least: more than a time line has columns."""

LEAST_STEP_S = 60
SAME_START_S = 1.0
ONCE = f"max without ({', '.join(TWINS)})"
"""What was scraped more than once counts once."""

FLOW = "apiserver_flowcontrol_"
Line = Mapping[int, float]
"""Values by their times (Unix seconds)."""


def overview(client: Client, selector: str, first: float, last: float) -> Note:
    """Marks and pulses between two times (Unix seconds), to about a step. Raises Trouble."""
    step = max(LEAST_STEP_S, math.ceil((last - first) / POINTS))

    def asked(text: str) -> list[tuple[Mapping[str, str], Line]]:
        found = client.query_range(text, first, last, step)
        return [(one["metric"], _line(one.get("values", ()))) for one in found]

    picked = f"{{{selector}}}"
    waiting = asked(f"sum({ONCE} (max_over_time({FLOW}current_inqueue_requests{picked}[{step}s])))")
    # A rate needs two scrapes, which may be a minute apart.
    over = max(step, 4 * LEAST_STEP_S)
    refused = asked(f"sum({ONCE} (rate({FLOW}rejected_requests_total{picked}[{over}s])))")
    started = asked(f"max by (instance) (process_start_time_seconds{picked})")
    versions = asked(f"max by (instance, git_version) (kubernetes_build_info{picked})")
    nominal = asked(f"max by (priority_level) ({FLOW}nominal_limit_seats{picked})")
    marks = [*_processes(started, step), *_versions(versions), *_limits(nominal)]
    marks.sort(key=lambda one: one.at)
    return Note(tuple(mark for mark in marks if first <= mark.at <= last), tuple(_pulses(waiting, refused)))


def _line(values: Iterable[tuple[float, str]]) -> Line:
    found = {round(float(at)): float(value) for at, value in values}
    return {at: value for at, value in found.items() if math.isfinite(value)}


def _pulses(*lines: list[tuple[Mapping[str, str], Line]]) -> Iterator[Pulse]:
    waiting, refused = (line[0][1] if line else {} for line in lines)
    for at in sorted({*waiting, *refused}):
        # Whoever refuses nobody has no series of it.
        yield Pulse(float(at), waiting.get(at), refused.get(at, 0.0 if at in waiting else None))


def _processes(started: list[tuple[Mapping[str, str], Line]], step: int) -> Iterator[Mark]:
    """Restarts, at the time when the new process started by its own clock, and times without scrapes."""
    for metric, line in started:
        name = metric.get("instance", "")
        before: tuple[int, float] | None = None
        for at, value in sorted(line.items()):
            if before is not None:
                if at - before[0] > step:
                    yield Mark(float(before[0]), "gap", "not scraped any more", name)
                    yield Mark(float(at), "back", "scraped again", name)
                if abs(value - before[1]) >= SAME_START_S:
                    yield Mark(value, "restart", "another process", name)
            before = at, value


def _versions(versions: list[tuple[Mapping[str, str], Line]]) -> Iterator[Mark]:
    of_servers: dict[str, list[tuple[int, str]]] = {}
    for metric, line in versions:
        if line:
            one = min(line), metric.get("git_version", "")
            of_servers.setdefault(metric.get("instance", ""), []).append(one)
    for name, told in of_servers.items():
        told.sort()
        for (_, before), (at, version) in pairwise(told):
            yield Mark(float(at), "version", f"version {before} -> {version}", name)


def _limits(nominal: list[tuple[Mapping[str, str], Line]]) -> Iterator[Mark]:
    for metric, line in nominal:
        times = sorted(line)
        for before, at in pairwise(times):
            if line[before] != line[at]:
                level = metric.get("priority_level", "")
                text = f"{level}: nominal limit {line[before]:g} -> {line[at]:g} seats on the server that has most"
                yield Mark(float(at), "config", text)
