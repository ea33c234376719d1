"""Memories on a tape that make no sense to this version: all else of it is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from apftop.course import course_to
from apftop.deriving import Deriving
from apftop.records.memory import Memory, PastFrame, Tracked
from apftop.records.tape import Note
from apftop.reel import Reel
from apftop.tape.packing import pack_note, unpack_note
from apftop.tape.reading import open_tape
from tests.replay.living import live
from tests.replay.seeing import places
from tests.tape.taping import samples


@pytest.mark.parametrize(
    "lie",
    [
        lambda one: replace(one, counted=(("0", "an endpoint of a later version"),)),
        lambda one: replace(one, past=(PastFrame(("never seen",), ()),), kept=1),
    ],
)
def test_a_memory_that_makes_no_sense_is_told_and_all_else_is_shown(
    lie: Callable[[Memory], Memory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Deriving.memory
    monkeypatch.setattr(Deriving, "memory", lambda self: lie(memory(self)))
    lived = live(tmp_path / "tape", samples()[:90])
    reel = Reel(open_tape(tmp_path / "tape"))
    told: list[str] = []
    course = course_to(reel, places(reel)[lived[-1].records - 1], Deriving("a test", None, told.append))

    assert course is not None
    assert course.deriving.show({}, ()).frame == lived[-1].moment.frame
    assert any(one.startswith("cannot use what was remembered") for one in told)


def test_a_memory_of_a_later_form_is_left_out_and_its_marks_are_read() -> None:
    note = msgspec.msgpack.decode(pack_note(Note(forgotten=("0",), memory=Memory(tracked=(Tracked("0", 1.0),)))))
    note["memory"]["tracked"][0]["first"] = {"of": "a later version"}

    assert unpack_note(msgspec.msgpack.encode(note)) == Note(forgotten=("0",))
