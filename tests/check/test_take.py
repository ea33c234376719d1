"""Which dumps belong to which metrics."""

from __future__ import annotations

from typing import Any

import pytest

from apftop.check.point import Fetched
from apftop.check.take import near
from apftop.records.parsed import Dump, LevelRow
from apftop.records.state import Read

NOTHING: Dump[Any] = Dump((), (), ())


def dump(at: float | None, peer: str = "") -> Read[Dump[LevelRow]]:
    return Read(NOTHING, at, at, None, None, None, "", 200, begun=at, peer=peer)


@pytest.mark.parametrize(
    ("read", "belongs"),
    [
        (dump(97.5), True),
        (dump(102.5), True),
        (dump(96.5), False),
        (dump(None), True),
        (dump(99.9, peer="one"), True),
        # A balancer had another server answer.
        (dump(99.9, peer="another"), False),
    ],
)
def test_a_dump_belongs_to_the_metrics_of_its_server_that_were_fetched_next_to_it(
    read: Read[Dump[LevelRow]], *, belongs: bool
) -> None:
    assert near(read, Fetched(99.9, 100.0, 100.0, "one")) is (read if belongs else None)
