"""What is shown at once of a place is what is shown there once all is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from apftop.course import beginning
from apftop.deriving import Deriving
from apftop.glimpse import glimpsed
from apftop.records.frame import Frame, Replica
from apftop.reel import Place, Reel
from apftop.tape.reading import open_tape
from tests.replay.faults import faulty
from tests.replay.living import live
from tests.replay.seeing import places

PLACES = 12


@pytest.mark.parametrize("kind", ["", "gap", "denied", "odd", "clock", "left", "balancer", "again"])
def test_the_frame_at_once_is_the_frame_that_stays(kind: str, tmp_path: Path) -> None:
    live(tmp_path / "tape", faulty(kind), every=50)
    reel = Reel(open_tape(tmp_path / "tape"))
    blank = Deriving("a test", None, print)
    course = beginning(reel, 0, blank)
    behind = [*places(reel)[:: len(places(reel)) // PLACES], Place(1, 1)]
    for place in sorted(behind):
        while course.place < place and course.forth(looks=False, checks=False):
            pass
        whole = course.copied().deriving.glimpse(()).frame

        assert seen(glimpsed(reel, place, blank).glimpse(()).frame) == seen(whole), place


def seen(frame: Frame) -> list[Replica]:
    """All of it but what could not be read of answers that others have overtaken since."""
    return [replace(one, problems=(), failed=False) for one in frame.replicas.values()]
