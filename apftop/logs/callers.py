"""Requests by who sent them, with bounded memory: what is rare is counted together."""

from __future__ import annotations

from dataclasses import dataclass, field

from apftop.logs.words import Span
from apftop.records.logs import OTHERS, Caller

MOST_ROWS = 20_000
"""So many callers are told apart; then the rarer half of them is counted together, so that their rows begin anew."""

MOST_KINDS = 40
LONGEST_NAME = 400

_Key = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """One request by a log. `kind` is verb and resource, `queued_s` how long it waited in a queue, `time` any clock."""

    user: str
    user_agent: str
    source: str
    kind: str
    refused: bool = False
    schema: str = ""
    level: str = ""
    queued_s: float | None = None
    time: float | None = None


@dataclass(slots=True)
class _Row:
    requests: int = 0
    refused: int = 0
    queued: int = 0
    queued_s: float = 0.0
    max_queued_s: float = 0.0
    kinds: dict[str, int] = field(default_factory=dict)

    def add(self, other: _Row) -> None:
        self.requests += other.requests
        self.refused += other.refused
        self.queued += other.queued
        self.queued_s += other.queued_s
        self.max_queued_s = max(self.max_queued_s, other.max_queued_s)
        for kind, number in other.kinds.items():
            self.of_kind(kind, number)

    def of_kind(self, kind: str, number: int) -> None:
        kind = kind if kind in self.kinds or len(self.kinds) < MOST_KINDS else OTHERS
        self.kinds[kind] = self.kinds.get(kind, 0) + number


class Callers:
    """The requests of one kind of log, counted as they come."""

    def __init__(self, most_rows: int = MOST_ROWS) -> None:
        self.requests = 0
        self._most = most_rows
        self._rows: dict[_Key, _Row] = {}
        self._span = Span()

    def add(self, entry: Entry) -> None:
        """Count one request."""
        self.requests += 1
        self._span.add(entry.time)
        key = (entry.user[:LONGEST_NAME], entry.user_agent[:LONGEST_NAME], entry.source, entry.schema, entry.level)
        row = self._rows.get(key)
        if row is None:
            if len(self._rows) >= self._most:
                self._fold()
            row = self._rows.setdefault(key, _Row())
        row.requests += 1
        row.refused += entry.refused
        if entry.queued_s is not None:
            row.queued += 1
            row.queued_s += entry.queued_s
            row.max_queued_s = max(row.max_queued_s, entry.queued_s)
        row.of_kind(entry.kind[:LONGEST_NAME], 1)

    def seconds(self) -> float | None:
        """From the first to the last request."""
        return self._span.seconds()

    def callers(self) -> tuple[Caller, ...]:
        """All callers, most requests first."""
        ordered = sorted(self._rows.items(), key=lambda item: (-item[1].requests, item[0]))
        return tuple(
            Caller(*key, row.requests, row.refused, row.queued, row.queued_s, row.max_queued_s, row.kinds)
            for key, row in ordered
        )

    def _fold(self) -> None:
        """Count the rarer half together by user, and if there are too many users, all of them."""
        ordered = sorted(self._rows, key=lambda key: -self._rows[key].requests)
        rare = ordered[self._most // 2 :]
        by_user = len({(key[0], *key[3:]) for key in rare}) <= self._most // 4
        for user, agent, source, schema, level in rare:
            row = self._rows.pop((user, agent, source, schema, level))
            # A log that does not name users has none to be counted together.
            whose = user if by_user or not user else OTHERS
            key = (whose, OTHERS, "", schema, level) if by_user else (whose, OTHERS, "", "", "")
            self._rows.setdefault(key, _Row()).add(row)
