"""Servers whose clocks are set: what their rows say is left out for as long as some may be from before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from apftop.check.checks import checked
from apftop.check.clock_steps import was_set
from apftop.check.point import Fetched, Point, Track
from apftop.check.track import CLOCK_SET
from apftop.records.raw import Endpoint
from tests.check.build import START, a_level, a_point, later
from tests.check.recorded import tracks
from tests.recording import SHIPPED, Recording, recordings

TIME = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z")
NEVER = b"0001"


def at(seconds: float, *, ahead_s: float = 0.0, here_s: float = 0.0, late_s: float = 0.0) -> Point:
    """A point whose dump and metrics took 50 ms each.

    The server's clock is ahead by so much, this machine's too, and the metrics are so old.
    """
    sent = START + seconds + here_s
    point = a_point(later(a_level(), seconds + 0.075 - late_s))
    return replace(
        point,
        requests_fetched=Fetched(sent, sent + 0.05, sent + 0.05),
        metrics=Fetched(sent + 0.05, sent + 0.1, sent + 0.1),
        clock=replace(point.clock, dump_time=START + seconds + 0.025 + ahead_s),
    )


@pytest.mark.parametrize("by_s", [0.2, 5.0, 3600.0, -0.2, -5.0])
def test_a_clock_that_is_set_is_noticed(by_s: float) -> None:
    assert was_set(at(20.0), at(25.0, ahead_s=by_s))


def test_what_else_may_look_like_it_is_not_taken_for_it() -> None:
    assert not was_set(at(20.0), at(25.0))
    assert not was_set(at(20.0), at(25.0, here_s=5.0))
    assert not was_set(at(20.0), at(25.0, late_s=5.0))
    assert not was_set(at(20.0), replace(at(25.0, ahead_s=5.0), requests_fetched=None))


def stepped(recording: Recording, by_s: float, since: float) -> Iterator[Track]:
    """The tracks of a recording whose first replica's clock is set at a moment."""

    def moved(match: re.Match[bytes]) -> bytes:
        if match[1].startswith(NEVER):
            return match[0]
        time = datetime.fromisoformat(match[1].decode()).replace(tzinfo=UTC)
        if time.timestamp() + float(match[2] or 0) < since:
            return match[0]
        time += timedelta(seconds=by_s)
        return time.strftime("%Y-%m-%dT%H:%M:%S").encode() + (match[2] or b"") + b"Z"

    scrapes = tuple(
        replace(one, bodies={**one.bodies, Endpoint.REQUESTS: TIME.sub(moved, one.bodies[Endpoint.REQUESTS])})
        for one in recording.of("0")
    )
    return tracks(replace(recording, scrapes=scrapes))


@pytest.mark.parametrize("by_s", [60.0, -60.0])
@pytest.mark.parametrize(
    "recording", [one for one in recordings(SHIPPED) if one.level == "load"], ids=lambda one: one.name
)
def test_only_the_clock_itself_is_off_after_it_was_set(recording: Recording, by_s: float) -> None:
    scrapes = recording.of("0")
    found = list(stepped(recording, by_s, scrapes[len(scrapes) // 2].t - 1.0))
    off = {
        check.law
        for track in found
        for checks in [checked(track)]
        for check in (*checks.checks, *(check for level in checks.levels.values() for check in level.checks))
        if check.verdict == "off"
    }

    assert any(track.broken == CLOCK_SET for track in found)
    assert off <= {"clock"}
    order = [check for check in checked(found[-1]).levels["load"].checks if check.law == "order"]
    assert [check.missing for check in order] == ["dumps from some time after the server's clock was set"]
