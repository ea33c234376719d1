"""Which API servers a store knows at some time, and when it scraped them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from math import isfinite
from statistics import median

from apftop.errors import Trouble, one_line
from apftop.prometheus.client import Client, Series
from apftop.prometheus.names import ANCHORS, CLUSTERS, JOBS, OWN, PROBED, TWINS, quoted
from apftop.records.raw import Endpoint, Sample

LISTED = 8
"""So many of what there is to choose from are named."""

OLD_INTERVALS = 2.5
"""A server whose last scrape is so many intervals old was not scraped at that time."""

CLOCKS_S = 60.0
"""So far the clocks of a server and of who scrapes it may be apart (seconds)."""

SINCE = " since "
_JOB = re.compile(r'(?:^|,)\s*"?job"?\s*(?:=|!)')
Label = tuple[str, str]


class NoScrape(Trouble):
    """There is nothing of that time."""


@dataclass(frozen=True, slots=True)
class Target:
    """One server as it was scraped: its name, the labels that scraping gave it, and when (Unix seconds, rising)."""

    name: str
    labels: tuple[Label, ...]
    times: tuple[float, ...]

    def silences(self, first: float, last: float) -> Iterator[Sample]:
        """An answer that did not come for each time without scrapes between two times (Unix seconds)."""
        for before, after in pairwise((*(time for time in self.times if time >= first), last)):
            if self.interval_s is not None and after - before > OLD_INTERVALS * self.interval_s:
                at = before + OLD_INTERVALS * self.interval_s
                error = "not scraped any more"
                yield Sample(
                    self.name, Endpoint.METRICS, error=error, sent=at, received=at, origin=f"no scrape {at:.3f}"
                )

    def gone(self, at: float) -> bool:
        """Whether it was not scraped any more at a time after all of its scrapes."""
        return self.interval_s is not None and at - self.times[-1] > OLD_INTERVALS * self.interval_s

    @property
    def interval_s(self) -> float | None:
        """Seconds from one scrape to the next, as they mostly are."""
        gaps = [after - before for before, after in pairwise(self.times)]
        return median(gaps) if gaps else None


@dataclass(frozen=True, slots=True)
class Found:
    """The servers of one cluster by their names, by which selector, and notes on how they were found."""

    targets: tuple[Target, ...]
    selector: str
    notes: tuple[str, ...] = ()


def selector_at(client: Client, given: str | None, first: float, last: float) -> tuple[str, tuple[str, ...]]:
    """The label matchers that lead to API servers, and a note on how they were found.

    Where those given name no job, with the job that is best known by name of all that have metrics of flow control
    between two times (Unix seconds): others have start times too. Raises Trouble where there is none, or where nobody
    can tell.
    """
    own = (given or "").strip().removeprefix("{").removesuffix("}").strip().strip(",")
    if _JOB.search(own):
        return own, ()
    probed = _joined(own, f"__name__=~{quoted(PROBED)}")
    probe = f"last_over_time({{{probed}}}[{_milliseconds(last - first)}])"
    jobs = [one["metric"].get("job", "") for one in client.query(f"count by (job) ({probe})", last)]
    if not jobs:
        todo = "see that it scrapes API servers, or name another time with --at"
        raise NoScrape("there are no metrics of flow control at that time", client.store.url, todo)
    known = [job for job in JOBS if job in jobs]
    if not known and len(jobs) > 1:
        todo = f"name one with --selector, such as {_joined(own, f'job={quoted(min(jobs))}')}"
        raise Trouble(f"several jobs have metrics of flow control: {_listed(jobs)}", client.store.url, todo)
    job = (known or jobs)[0]
    others = [one for one in jobs if one != job]
    note = f"the servers of job {job!r}" + (f"; flow control is also in {_listed(others)}" if others else "")
    return _joined(own, f"job={quoted(job)}"), (note,)


def _joined(*matchers: str) -> str:
    return ",".join(filter(None, matchers))


def targets_at(client: Client, selector: str, first: float, last: float) -> Found:
    """The servers that a selector leads to, with their scrapes between two times (Unix seconds).

    Raises Trouble where there is none, and where they are of several clusters.
    """
    series: Sequence[Series] = ()
    anchor = ANCHORS[0]
    for anchor in ANCHORS:
        series = client.query(f"{anchor}{{{selector}}}[{_milliseconds(last - first)}]", last)
        if series:
            break
    by_labels: dict[tuple[Label, ...], set[float]] = {}
    starts: dict[tuple[Label, ...], dict[float, float]] = {}
    for one in series:
        own = OWN if anchor != ANCHORS[0] else OWN[:1]
        labels = tuple(sorted((name, value) for name, value in one["metric"].items() if name not in own))
        times = {_exact(time) for time, _ in one.get("values", ())}
        by_labels.setdefault(labels, set()).update(time for time in times if first <= time <= last)
        if anchor == ANCHORS[0]:
            started = {_exact(time): float(value) for time, value in one.get("values", ())}
            starts[labels] = {time: start for time, start in started.items() if isfinite(start)}
    found = {labels: tuple(sorted(times)) for labels, times in by_labels.items() if times}
    if not found:
        todo = "name others with --selector, or another time with --at"
        raise NoScrape(f"there are no scrapes of {{{one_line(selector, 120)}}} at that time", client.store.url, todo)
    _refuse_several_clusters(client, found)
    kept, notes = _without_twins(found)
    named, renamed = _named(client, kept)
    notes = (*notes, *renamed)
    targets = [part for one in named for part in _processes(one, starts.get(one.labels, {}))]
    if len(targets) > len(named):
        told = {part.name.rpartition(SINCE)[0] for part in targets if SINCE in part.name}
        notes = (*notes, f"several servers answer in turn, and each is shown by its start: {_listed(told)}")
    return Found(tuple(targets), selector, notes)


def _processes(target: Target, starts: Mapping[float, float]) -> Iterator[Target]:
    """A target, or the servers that it is: behind a load balancer now one answers, now another.

    Counters of two servers make no rate. Unlike a server that was restarted, another one may have started before the
    last scrape. `starts` are Unix seconds by times of scrapes.
    """
    changes = [(time, starts[after]) for time, after in pairwise(sorted(starts)) if starts[time] != starts[after]]
    if all(start > time - CLOCKS_S for time, start in changes):
        yield target
        return
    for start in sorted(set(starts.values())):
        times = tuple(time for time in target.times if starts.get(time) == start)
        if times:
            yield Target(f"{target.name}{SINCE}{_moment(start)}", target.labels, times)


def _refuse_several_clusters(client: Client, found: Mapping[tuple[Label, ...], tuple[float, ...]]) -> None:
    for label in CLUSTERS:
        clusters = {dict(labels).get(label, "") for labels in found}
        if len(clusters) > 1:
            todo = f"name one with --selector, such as {label}={quoted(min(filter(None, clusters)))}"
            raise Trouble(f"it has several clusters: {label} is {_listed(clusters)}", client.store.url, todo)


def _without_twins(
    found: Mapping[tuple[Label, ...], tuple[float, ...]],
) -> tuple[dict[tuple[Label, ...], tuple[float, ...]], tuple[str, ...]]:
    """Of servers that were scraped by several, the scrapes of the one who has most, of those who scrape to the end."""
    kept: dict[tuple[Label, ...], tuple[Label, ...]] = {}
    end = max(times[-1] for times in found.values())
    for labels in sorted(found, key=lambda one: (Target("", one, found[one]).gone(end), -len(found[one]), one)):
        kept.setdefault(tuple(pair for pair in labels if pair[0] not in TWINS), labels)
    notes: tuple[str, ...] = ()
    if len(kept) < len(found):
        scraped = {value for labels in kept.values() for name, value in labels if name in TWINS}
        notes = (f"scraped more than once: only what {_listed(scraped)} scraped is read",)
    return {labels: found[labels] for labels in kept.values()}, notes


def _named(
    client: Client, found: Mapping[tuple[Label, ...], tuple[float, ...]]
) -> tuple[tuple[Target, ...], tuple[str, ...]]:
    """The servers by name. Of one whose labels have changed since only the later scrapes. Raises Trouble."""
    made: dict[str, Target] = {}
    changed: set[str] = set()
    for labels, times in sorted(found.items(), key=lambda one: (one[1][0], one[0])):
        known = dict(labels)
        name = known.get("instance") or known.get("pod") or known.get("node") or "server"
        if (other := made.get(name)) is not None:
            if other.times[-1] >= times[0]:
                differ = sorted({label for label, _ in set(labels) ^ set(other.labels)})
                todo = f"name one with --selector: they differ in {', '.join(differ)}"
                raise Trouble(f"several servers are called {name!r}", client.store.url, todo)
            changed.add(name)
        made[name] = Target(name, labels, times)
    notes = (f"read only since its labels have changed: {_listed(changed)}",) if changed else ()
    return tuple(made[name] for name in sorted(made)), notes


def _listed(names: Sequence[str] | set[str]) -> str:
    shown = [repr(name) for name in sorted(names)]
    return ", ".join(shown[:LISTED]) + (f" and {len(shown) - LISTED} more" if len(shown) > LISTED else "")


def _milliseconds(seconds: float) -> str:
    return f"{round(seconds * 1000) + 1}ms"


def _moment(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _exact(time: float) -> float:
    """A time as the store has it, in whole milliseconds."""
    return round(float(time) * 1000) / 1000
