"""A store opened for one cluster: which of its scrapes tell how it was at a time, and what has to be said of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from apftop.present import utc
from apftop.prometheus.client import Client
from apftop.prometheus.overview import overview
from apftop.prometheus.scrapes import Read, last_two, read, spaced
from apftop.prometheus.store import Store
from apftop.prometheus.targets import Found, NoScrape, Target, selector_at, targets_at
from apftop.records.raw import Sample
from apftop.records.tape import Note

LOOK_BACK_S = 900.0
"""So long before a time scrapes are looked for (seconds): metrics of older ones say nothing of it."""

LISTED = 8
"""So many servers are named in one line."""

NOT_KEPT = "a store has metrics only: queues, requests in them, flows and the objects of the policy are unknown"


@dataclass(frozen=True, slots=True)
class Scraped:
    """What was read for a time or a span of it (Unix seconds), and lines on where it is from and how blurred."""

    read: Read
    notes: tuple[str, ...]


class Opened:
    """One store and the servers that `selector` leads to in it, or that are found. For one thread."""

    def __init__(self, store: Store, selector: str | None) -> None:
        self._client, self._given, self._url = Client(store), selector, store.url
        self.source = f"Prometheus at {store.url}"

    def at(self, time: float, interval_s: float) -> Scraped:
        """Of each server the last scrape by a time, and the last one about an interval before it. Raises Trouble."""
        found, notes = self._found(time - LOOK_BACK_S, time)
        there, gone = self._there(found.targets, time)
        wanted = [(target, last_two(target.times, time, interval_s)) for target in there]
        return self._read(found, wanted, (*notes, *_blur(wanted, time), *gone))

    def between(self, first: float, last: float, interval_s: float) -> Scraped:
        """All scrapes that tell how it was from one time to another, about an interval apart. Raises Trouble."""
        found, notes = self._found(first - LOOK_BACK_S, last)
        there, gone = self._there(found.targets, first)
        wanted = [(target, _within(target, first, interval_s)) for target in there]
        silent = [one for target, times in wanted for one in target.silences(times[0], last)]
        return self._read(found, wanted, (*notes, *_pace(there), *gone), silent)

    def overview(self, first: float, last: float) -> Note:
        """Marks and pulses from one time to another. Raises Trouble."""
        selector, _ = selector_at(self._client, self._given, max(first, last - LOOK_BACK_S), last)
        return overview(self._client, selector, first, last)

    def close(self) -> None:
        """Let the connection go."""
        self._client.close()

    def _there(self, targets: Sequence[Target], at: float) -> tuple[list[Target], tuple[str, ...]]:
        """Those that were not gone before a time, and a line on the others. Raises Trouble where there are none."""
        there = [one for one in targets if not one.gone(at)]
        gone = [one for one in targets if one.gone(at)]
        if not there:
            newest = utc(max(one.times[-1] for one in gone))
            todo = "name that time, or look whether it still scrapes API servers"
            raise NoScrape(f"no server was scraped any more at {utc(at)}: the last at {newest}", self._url, todo)
        # They may be down, or replaced by others: in sums they would be there twice.
        lines = (f"not scraped any more by {utc(at)}, and left out: {_listed([one.name for one in gone])}",)
        return there, lines if gone else ()

    def _found(self, first: float, last: float) -> tuple[Found, tuple[str, ...]]:
        selector, told = selector_at(self._client, self._given, first, last)
        found = targets_at(self._client, selector, first, last)
        return found, (*told, *found.notes)

    def _read(
        self,
        found: Found,
        wanted: Sequence[tuple[Target, Sequence[float]]],
        notes: tuple[str, ...],
        also: Sequence[Sample] = (),
    ) -> Scraped:
        whole = read(self._client, found, wanted, also)
        return Scraped(whole, (NOT_KEPT, *notes, *whole.notes, *self._client.warnings))


def _within(target: Target, first: float, interval_s: float) -> tuple[float, ...]:
    """Scrapes from a time on, and the two before it, with which rates begin."""
    times = spaced(target.times, interval_s)
    before = tuple(time for time in times if time <= first)[-2:]
    if len(before) < 2:
        before = last_two(target.times, first, interval_s)
    return (*before, *(time for time in times if time > first))


def _blur(wanted: Sequence[tuple[Target, Sequence[float]]], at: float) -> tuple[str, ...]:
    """How far from the wanted time the scrapes are that were read, and who was not scraped then."""
    lines: list[str] = []
    ages = [at - times[-1] for _, times in wanted if times]
    spans = [times[-1] - times[0] for _, times in wanted if len(times) > 1]
    if ages:
        oldest, newest = max(ages), min(ages)
        far = f"{oldest:.1f} s" if oldest - newest < 0.1 else f"{newest:.1f} to {oldest:.1f} s"
        over = f", with rates over {_range(spans)} s before it" if spans else ""
        lines.append(f"the last scrape of each server by {utc(at)} is {far} older{over}")
    lines += _pace(target for target, _ in wanted)
    once = [target.name for target, times in wanted if len(times) < 2]
    if once:
        lines.append(f"scraped once by then, so without rates: {_listed(once)}")
    return tuple(lines)


def _pace(targets: Iterable[Target]) -> tuple[str, ...]:
    known = [one.interval_s for one in targets if one.interval_s is not None]
    return (f"scraped every {_range(known)} s",) if known else ()


def _range(seconds: Sequence[float]) -> str:
    least, most = min(seconds), max(seconds)
    return f"{least:.1f}" if most - least < 0.1 else f"{least:.1f} to {most:.1f}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {more} more" if more > 0 else "")
