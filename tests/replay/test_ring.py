"""The last minutes in memory: bounded, and a tape as any other."""

from __future__ import annotations

import random
from pathlib import Path

from apftop.live import observe
from apftop.records.raw import Endpoint, Sample
from apftop.records.state import State
from apftop.reel import Reel
from apftop.tape.carry import Carry, Numbered, carried
from apftop.tape.file import write_tape
from apftop.tape.reading import Tape, open_tape
from apftop.tape.ring import MOST_BYTES, Ring
from apftop.tape.segments import SEGMENT_BYTES, Segments
from tests.replay.living import live
from tests.replay.seeing import all_through, at_place, differences, places
from tests.tape.taping import samples

MOST, SEGMENT = MOST_BYTES // 16, SEGMENT_BYTES // 16
"""The bounds as they are, in a smaller measure."""

WINDOW_S = 12.0
"""Checks look back so far, with answers as far apart as in the recording."""


def large(number: int) -> Sample:
    """A dump that can hardly be compressed."""
    body = random.Random(number).randbytes(1 << 17).hex().encode()
    at = 1_800_000_000.0 + 2.0 * number
    return Sample("kas", Endpoint.REQUESTS, body, 200, sent=at, received=at)


def test_large_dumps_stay_within_the_bound_and_the_oldest_go_first() -> None:
    ring, segments, state = Ring(most_bytes=MOST), Segments("a test", "0", segment_bytes=SEGMENT), State()
    carry: Carry = {}
    for number in range(60):
        one = large(number)
        now, before = one.received or 0.0, state
        state = observe(state, one)
        begins = segments.due(now)
        for piece in segments.sample(one, now, before, carry, begins=begins):
            ring.write(piece, now, begins=begins)
            begins = False
        carry = carried(carry, Numbered(number, one), before, state)
        assert ring.size <= MOST + SEGMENT

    tape = Tape([ring.tape()], "the last minutes")
    assert tape.span[0] > 1_800_000_000.0
    assert tape.span[1] == 1_800_000_000.0 + 2.0 * 59


def test_a_tape_whose_beginning_has_gone_shows_what_was_seen_a_window_after_its_first_memory(tmp_path: Path) -> None:
    lived = live(tmp_path / "whole", samples(), segment_s=6.0)
    whole = open_tape(tmp_path / "whole")
    second = whole.segments[1].began
    write_tape(whole.cut(second, whole.span[1]), tmp_path / "cut")
    reel = Reel(open_tape(tmp_path / "cut"))
    gone = len(Reel(whole).taken(0))
    behind = places(reel)
    first = reel.memories(0)[0][0]
    shown = [
        (one.moment, behind[one.records - gone - 1])
        for one in lived
        if one.records > gone and reel.at(behind[one.records - gone - 1]) > max(reel.at(first), reel.first + WINDOW_S)
    ]

    assert len(shown) > 1
    for (moment, place), replayed in zip(shown, all_through(reel, [place for _, place in shown]), strict=True):
        assert differences(moment, replayed) == [], place
    assert differences(shown[-1][0], at_place(reel, shown[-1][1])) == []
