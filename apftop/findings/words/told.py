"""How names and their counts are put: the most first, a few of them, and how many more there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from apftop.present import plain, whole

MOST_NAMES = 3
"""So many names of one count are told."""


def most(counts: Mapping[str, float], unit: str = "") -> str:
    """`a 12, b 3 and 4 more`: names and their counts, most first."""
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = ", ".join(f"{plain(name) or '(empty)'} {whole(count)}{unit}" for name, count in ordered[:MOST_NAMES])
    more = len(ordered) - MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def listed(names: Iterable[str], fewest: int = MOST_NAMES) -> str:
    """`a, b, c and 4 more`: names in order."""
    known = [plain(name) for name in names]
    more = len(known) - fewest
    return ", ".join(known[:fewest]) + (f" and {more} more" if more > 0 else "")


def counted(number: float | None, one: str, of: str = "") -> str:
    """`1 seat`, `5 seats`, `0 of 1 seat`: how many of a regular noun, which agrees with the last number.

    `of` is the number in words of all there are, if there is one.
    """
    last = of or whole(number)
    return f"{whole(number)} of {of} {_many(one, last)}" if of else f"{last} {_many(one, last)}"


def wait(number: float | None) -> str:
    """`1 waits`, `5 wait`."""
    return f"{whole(number)} waits" if number == 1 else f"{whole(number)} wait"


def _many(one: str, number: str) -> str:
    return one if number == "1" else f"{one}s"


def servers_named(names: Sequence[str]) -> str:
    """`kas-a`, or `3 servers`, as titles name them."""
    return plain(names[0]) if len(names) == 1 else f"{len(names)} servers"
