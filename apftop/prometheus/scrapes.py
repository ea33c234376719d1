"""Scrapes out of a store as answers of the servers, with their real times: nothing in them is a rate or a mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import overload
from zlib import compress, decompress

from apftop.errors import Trouble
from apftop.prometheus.client import Client
from apftop.prometheus.exposition import Scrapes
from apftop.prometheus.names import groups, quoted
from apftop.prometheus.targets import Found, Target
from apftop.records.raw import Endpoint, Sample

MOST_AT_ONCE = 8
"""So many scrapes of one server are asked for at once: each has some ten thousand samples."""

MOST_SCRAPES = 20_000
"""So many are read in all."""

SLACK = 0.1
"""Two scrapes may be this part of an interval nearer to each other than the interval is long."""

TEXT = "text/plain; version=0.0.4"


class Samples(Sequence[Sample]):
    """Samples in order of time, with bodies that are packed until one is looked at: thousands are much text."""

    def __init__(self, some: Iterable[Sample]) -> None:
        packed = ((replace(one, body=b""), compress(one.body, 1)) for one in some)
        self._packed = sorted(packed, key=lambda one: one[0].received or 0.0)

    def __len__(self) -> int:
        return len(self._packed)

    @overload
    def __getitem__(self, at: int) -> Sample: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Sample]: ...

    def __getitem__(self, at: int | slice) -> Sample | Sequence[Sample]:
        if isinstance(at, slice):
            return [self[number] for number in range(len(self))[at]]
        sample, body = self._packed[at]
        return replace(sample, body=decompress(body))


@dataclass(frozen=True, slots=True)
class Read:
    """What was read: answers in order of time, and lines on what the store lacks."""

    samples: Samples
    notes: tuple[str, ...] = ()


def spaced(times: Sequence[float], interval_s: float) -> tuple[float, ...]:
    """Of rising times the last, and before it those that are at least about an interval apart (seconds)."""
    kept: list[float] = []
    for time in reversed(times):
        if not kept or kept[-1] - time >= interval_s * (1 - SLACK):
            kept.append(time)
    return tuple(reversed(kept))


def last_two(times: Sequence[float], at: float, interval_s: float) -> tuple[float, ...]:
    """The last of rising times by another one, and the last about an interval before it (seconds), else the first.

    One, or none, where there are no more.
    """
    there = [time for time in times if time <= at]
    found = spaced(there, interval_s)[-2:]
    return found if len(found) > 1 or len(there) < 2 else (there[0], *found)


def read(
    client: Client, found: Found, wanted: Sequence[tuple[Target, Sequence[float]]], also: Iterable[Sample] = ()
) -> Read:
    """The scrapes of each server at these of its times (Unix seconds), and other samples. Raises Trouble."""
    if (number := sum(len(times) for _, times in wanted)) > MOST_SCRAPES:
        todo = "ask for a shorter time, or a longer --interval"
        raise Trouble(f"these are {number} scrapes, more than {MOST_SCRAPES}", client.store.url, todo)
    lacking: set[str] = set()
    samples = Samples(chain(also, _scraped(client, found, wanted, lacking)))
    notes = (f"the store has no buckets of {', '.join(sorted(lacking))}: unknown",) if lacking else ()
    return Read(samples, notes)


def _scraped(
    client: Client, found: Found, wanted: Sequence[tuple[Target, Sequence[float]]], lacking: set[str]
) -> Iterator[Sample]:
    """The scrapes, server by server; adds what is lacking."""
    for target, times in wanted:
        given = frozenset(name for name, _ in target.labels)
        for some in _together(times, target.interval_s):
            scrapes = Scrapes(given)
            matchers = ",".join(f"{name}={quoted(value)}" for name, value in target.labels)
            span = round((some[-1] - some[0]) * 1000) + 1
            for pattern in groups():
                # The selector may say more than labels of the servers do.
                asked = ",".join(filter(None, (f"__name__=~{quoted(pattern)}", matchers, found.selector)))
                scrapes.add(client.query(f"{{{asked}}}[{span}ms]", some[-1]))
            stamps = {round(time * 1000) for time in some}
            yield from (_sample(target.name, scrapes, time) for time in scrapes.times if time in stamps)
            lacking |= scrapes.lacking


def _sample(replica: str, scrapes: Scrapes, time: int) -> Sample:
    at = time / 1000
    return Sample(
        replica,
        Endpoint.METRICS,
        scrapes.text(time),
        content_type=TEXT,
        sent=at,
        received=at,
        origin=f"scrape {at:.3f}",
    )


def _together(times: Sequence[float], interval_s: float | None) -> Iterator[Sequence[float]]:
    """Times in groups that one question covers without many others between them."""
    group: list[float] = []
    for before, time in pairwise((None, *times)):
        if time is None:
            continue
        apart = before is not None and interval_s is not None and time - before > 2.5 * interval_s
        if group and (apart or len(group) >= MOST_AT_ONCE):
            yield group
            group = []
        group.append(time)
    if group:
        yield group
