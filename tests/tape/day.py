"""A day on a tape, made of one recorded minute: its records again and again, at times moved on."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import msgspec

from apftop.live import observe
from apftop.records.raw import Endpoint, Sample
from apftop.records.state import State
from apftop.tape.carry import Carry, Numbered, carried
from apftop.tape.layout import FIRST_LINE, FORMAT, SYNC, Kind, packed, records
from apftop.tape.packing import unpack_open
from apftop.tape.segments import SEGMENT_S, Segments
from tests.tape.taping import samples

DAY_S = 86400.0
BUSY = "0"
"""Where requests wait: only there are queues and requests asked for."""

EVERY = {Endpoint.METRICS: 3, Endpoint.QUEUES: 3}
"""Of the scrapes two seconds apart those in which these are asked for at the default intervals; the others in all."""


@dataclass(frozen=True)
class Minute:
    """One segment, its length (seconds), bytes of its samples and its opening, and CPU time a sample (ms)."""

    body: bytes
    seconds: float
    sample_bytes: int
    opening_bytes: int
    ms_a_sample: float

    @property
    def bytes_of_a_day(self) -> float:
        """With an opening for each segment as recorders make them."""
        return DAY_S * (self.sample_bytes / self.seconds + self.opening_bytes / SEGMENT_S)


def asked() -> list[Sample]:
    """What three servers are asked at default intervals, of the recording of 1.37.2 under load."""
    turns: dict[tuple[str, Endpoint], int] = {}
    found = []
    for one in samples(1):
        turn = turns[one.replica, one.endpoint] = turns.get((one.replica, one.endpoint), -1) + 1
        if one.endpoint in (Endpoint.QUEUES, Endpoint.REQUESTS) and one.replica != BUSY:
            continue
        if turn % EVERY.get(one.endpoint, 1) == 0:
            found.append(one)
    return found


def minute(some: list[Sample]) -> Minute:
    """Samples as one segment, that begins with what was known at its end: as in the middle of a day."""
    state, carry = _after(some)
    segments, body, parts = Segments("a day", "0", 1e9), b"", dict.fromkeys(Kind, 0)
    began, first = time.process_time(), some[0].received or 0.0
    for one in some:
        for piece in segments.sample(one, one.received or 0.0, state, carry):
            body += piece
    took = time.process_time() - began
    for record in records(body, 0):
        parts[Kind(record.kind)] += len(packed(record.kind, 0.0, record.payload))
    seconds = (some[-1].received or 0.0) - first
    return Minute(body, seconds, parts[Kind.SAMPLE], len(body) - parts[Kind.SAMPLE], 1000 * took / len(some))


def _after(some: list[Sample]) -> tuple[State, Carry]:
    state = State()
    carry: Carry = {}
    for number, sample in enumerate(some):
        before, state = state, observe(state, sample)
        carry = carried(carry, Numbered(number, sample), before, state)
    return state, carry


def write_day(path: Path, one: Minute, seconds: float = DAY_S) -> None:
    """Its segment again and again, so far apart as those of a recorder."""
    found = list(records(one.body, 0))
    about = unpack_open(found[0].payload)
    before, before_ended, moved = 0, None, 0.0
    with path.open("wb") as file:
        file.write(FIRST_LINE % FORMAT)
        while moved < seconds:
            told = replace_open(about, before, before_ended)
            body = SYNC + packed(Kind.OPEN, found[0].time + moved, told)
            body += b"".join(packed(each.kind, each.time + moved, each.payload) for each in found[1:])
            file.write(body)
            before, before_ended = len(body), found[-1].time + moved
            moved += SEGMENT_S


def replace_open(about: msgspec.Struct, before: int, before_ended: float | None) -> bytes:
    """An opening that goes on from another segment."""
    return msgspec.msgpack.encode(msgspec.structs.replace(about, before=before, before_ended=before_ended))
