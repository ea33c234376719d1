"""Tapes of real servers: a replay shows what was seen live, and the marks tell what happened."""

from __future__ import annotations

from pathlib import Path

from apftop.records.asking import Demand
from apftop.records.frame import Replica
from apftop.records.tape import MarkKind
from apftop.reel import Reel
from apftop.tape.reading import Tape, open_tape
from tests.planes.flow import priority_level
from tests.planes.found_runs import one_elephant
from tests.planes.plane import Plane
from tests.planes.scenario import happen, prepared
from tests.planes.watched import ways
from tests.replay.seeing import all_through, at_place, differences, places, seeing

SECONDS = 40.0


def shares(replica: Replica) -> int | None:
    """Those of the level under load, as this server's objects say."""
    level = replica.levels.get("load")
    return level.config.shares if level is not None and level.config is not None else None


def texts(tape: Tape, kind: MarkKind) -> list[str]:
    """The marks of a kind, in order."""
    return [one.text for one in tape.notes().marks if one.kind == kind]


def test_what_was_seen_under_load_is_shown_again(plane: Plane, tmp_path: Path) -> None:
    path, scenario = tmp_path / "tape", one_elephant(plane)
    with prepared(plane, scenario), seeing(ways(plane), path, Demand(2.0)) as seen:
        happen(plane, scenario, SECONDS)
        plane.client().apply(priority_level("load", shares=25, queue_length=12))
        seen.until(lambda one: all(shares(its) == 25 for its in one.frame.servers))
    tape = open_tape(path)
    reel = Reel(tape)
    behind = places(reel)
    lived = [(one.moment, behind[one.records - 1]) for one in seen.lived if one.records]

    assert len(lived) > SECONDS
    for (moment, place), replayed in zip(lived, all_through(reel, [place for _, place in lived]), strict=True):
        assert differences(moment, replayed) == [], place
    for moment, place in lived[:: len(lived) // 8]:
        assert differences(moment, at_place(reel, place)) == [], place

    found = [one for one in tape.notes().marks if one.kind == "found"]
    assert "level-saturated" in {one.code for one in found}
    assert len(found) == len({(one.code, one.subject) for one in found})
    assert texts(tape, "recording") == ["recording began"]
    assert texts(tape, "config") == ["PriorityLevelConfiguration load was changed: shares 20 -> 25"]
    for kind in ("restart", "version", "gap", "back", "joined", "left", "clock"):
        assert texts(tape, kind) == []
