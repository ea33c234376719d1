"""A recording in the middle of which something goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from apftop.records.raw import Sample
from tests.replay.living import Forgotten
from tests.tape.taping import samples

SAMPLES = 66
"""Of the recording so many: more than two segments."""


def faulty(kind: str) -> Iterator[Sample | Forgotten]:
    """A recording in the middle of which something happens."""
    some = samples()[:SAMPLES]
    names = sorted({one.replica for one in some})
    begin, end = len(some) // 3, len(some) // 2
    for number, one in enumerate(some):
        inside = begin <= number < end
        match kind:
            case "gap" if inside and one.replica == names[0]:
                yield replace(one, body=b"", status=None, error="no answer in 5 s")
            case "denied" if inside:
                yield replace(one, body=b"Forbidden", status=403)
            case "odd" if inside and number % 4 == 0:
                yield replace(one, body=b"<html>it works</html>")
            case "cut" if inside:
                yield replace(one, body=one.body[: len(one.body) // 2])
            case "clock" if number >= begin:
                yield replace(one, sent=(one.sent or 0.0) - 7.0, received=(one.received or 0.0) - 7.0)
            case "added" if number < begin and one.replica == names[0]:
                continue
            case "left" if number >= begin and one.replica == names[0]:
                if number == begin or some[number - 1].replica != names[0]:
                    yield Forgotten((names[0],))
            case "balancer" if number < begin:
                yield replace(one, replica="balancer")
            case "balancer" if number == begin:
                yield Forgotten(("balancer",))
                yield one
            case "again" if number % 50 == 0:
                yield one
                yield one
            case _:
                yield one
