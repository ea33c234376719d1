"""What servers have said last by a place of a tape, at once: what comes with time is left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from apftop.deriving import Deriving
from apftop.kept import KEPT_OF, bare, came
from apftop.records.raw import Endpoint, Sample
from apftop.records.state import State
from apftop.records.tape import Note
from apftop.reel import Place, Reel
from apftop.tape.reading import Taken


@dataclass
class _Later:
    """What has come later than a sample, by replica and what it tells of: how often, and when the earliest came.

    `turned` once something came in another order than its times say.
    """

    counts: dict[tuple[str, Endpoint], int] = field(default_factory=dict)
    came: dict[tuple[str, Endpoint], float] = field(default_factory=dict)
    turned: bool = False

    def needs(self, sample: Sample) -> bool:
        """Whether later answers have left something for this one to tell; it is one of them from now on."""
        own = sample.replica, sample.endpoint
        keys = [own]
        if sample.endpoint is Endpoint.METRICS and not sample.named:
            # All metrics also tell what lies behind.
            keys.append((sample.replica, Endpoint.BACKEND))
        needed = any(self.counts.get(key, 0) < KEPT_OF.get(key[1], 1) for key in keys)
        self.counts[own] = self.counts.get(own, 0) + 1
        # Of the others the last one counts, whatever its time.
        self.turned |= sample.endpoint in KEPT_OF and came(sample) >= self.came.get(own, float("inf"))
        self.came[own] = came(sample)
        return needed


def glimpsed(reel: Reel, place: Place, deriving: Deriving) -> Deriving:
    """What servers have said last by a place, at once: of what later answers have overtaken nothing is read."""
    taken = reel.taken(place.segment)[: place.number]
    later = _Later()
    needed = _needed(taken, later)
    # Of what was carried only the content counts: the books have the rest.
    opening = reel.tape.opening(place.segment, lambda carried: [one for one in carried[::-1] if later.needs(one)][::-1])
    found, unread = _without_looks(opening, needed, deriving)
    if later.turned or unread:
        # What cannot be read, or is older than what was there, has not overtaken anything.
        found, _ = _without_looks(reel.tape.opening(place.segment), taken, deriving)
    return found


def _without_looks(
    opening: tuple[State, Sequence[Sample]], taken: Iterable[Taken], deriving: Deriving
) -> tuple[Deriving, bool]:
    """What is known then, and whether an answer could not be read."""
    found, unread = deriving.anew(), False
    found.resume(*opening, checks=False)
    for one in taken:
        if isinstance(one.what, Note):
            found.forget(one.what.forgotten)
        elif not found.take(one.what, looks=False):
            unread = True
        else:
            outcome = found.state.replicas[one.what.replica].outcomes.get(one.what.endpoint)
            unread |= one.what.ok and outcome is not None and bool(outcome.error)
    return found, unread


def _needed(taken: Sequence[Taken], later: _Later) -> list[Taken]:
    """The same without the bodies of answers that later ones have overtaken, of which there are so many."""
    found = []
    for one in reversed(taken):
        if isinstance(one.what, Sample) and one.what.ok and not later.needs(one.what):
            one = replace(one, what=_bare(one.what))
        found.append(one)
    return found[::-1]


def _bare(sample: Sample) -> Sample:
    """It without its body, whose bytes count all the same."""
    return replace(bare(sample), wire_bytes=len(sample.body) if sample.wire_bytes is None else sample.wire_bytes)
