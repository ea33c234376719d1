"""Requests that take many seats, and what makes them take fewer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from apftop.apf.release import holds, parse_release
from apftop.findings.changes.apart import kinds_apart
from apftop.findings.changes.resharing import taken_by_a_new_level
from apftop.findings.scene import Place, Scene, servers
from apftop.findings.words.callers import of_the_cluster, process_of
from apftop.findings.words.told import listed
from apftop.present import plain
from apftop.records.findings import Change
from apftop.records.frame import Request
from apftop.rules import rules

SHARES = 20
"""Shares of a level for wide requests: fewer would leave it so few seats that each of them counts as one seat."""
LIMIT_COUNTS = ("<1.31",)
"""Where `limit` makes a LIST cheaper by the count of objects; from 1.31 to 1.33 the watch cache answers, which counts
all of them whatever is asked for."""
BY_SIZE = (">=1.34",)


def is_wide(row: Request) -> bool:
    """Whether a request takes so many seats that few of them fill a level."""
    return row.width > rules().findings.widths.width


def narrower(scene: Scene, place: Place, wide: Sequence[Request]) -> tuple[tuple[str, ...], Change | None]:
    """How wide requests become narrower or rarer on this release, and how they are kept out of the others' way."""
    reads = [row for row in wide if row.verb in ("list", "watch")]
    change, user = None, _one_user(wide) if wide else None
    if user is not None and of_the_cluster(user):
        return (process_of(user), *_cheaper(place)), None
    if wide:
        carriers = sorted({row.schema for row in wide})
        kinds = sorted({row.kind for row in wide if row.kind})
        of = f" of {plain(user)}" if user else ""
        text = f"a schema for {listed(kinds)}{of} ahead of {listed(carriers)}, to a level of their own"
        change = kinds_apart(scene, text, f"wide-{_widest(wide)}", wide, SHARES, user)
    apart = (
        (
            f"keep the rest out of their way: {change.text}",
            taken_by_a_new_level((place.replica, *servers(scene)), SHARES),
        )
        if change
        else ()
    )
    if wide and not reads:
        return (
            *apart,
            "these are writes of objects that many watch: a seat for each ten watches that are to be told; fewer "
            "watches of all objects, or rarer writes, make them narrower",
        ), change
    return (*apart, *_cheaper(place)), change


def _one_user(wide: Sequence[Request]) -> str | None:
    """Who has half or more of their seats."""
    seats: Counter[str] = Counter()
    for row in wide:
        seats[row.user or ""] += row.width
    user, most = seats.most_common(1)[0]
    return user if user and most >= seats.total() / 2 else None


def _widest(wide: Sequence[Request]) -> str:
    """The resource whose requests have most of their seats."""
    seats: Counter[str] = Counter()
    for row in wide:
        seats[row.resource or "requests"] += row.width
    return seats.most_common(1)[0][0]


def _cheaper(place: Place) -> tuple[str, ...]:
    """What makes a LIST cost fewer seats, by the estimate of the server's release."""
    release = parse_release(place.replica.version or "")
    first = "let the clients watch (an informer) instead of listing again and again: a LIST costs what it may read"
    if release is None:
        return (first, "page with limit, and read from the watch cache with resourceVersion=0")
    if holds(release, BY_SIZE):
        return (
            first,
            "page with limit: a page costs one seat for each 100 kB that it may have",
            "read from the watch cache (resourceVersion=0): this costs 10 seats at most, and 100 from storage",
        )
    if holds(release, LIMIT_COUNTS):
        return (
            first,
            "page with limit and without resourceVersion: a page costs one seat for each fifty objects",
            "or read from the watch cache (resourceVersion=0): one seat for each hundred objects that there are, half "
            "of what it costs from storage",
        )
    return (
        first,
        f"on {release} limit makes a LIST shorter and no cheaper: it counts one seat for each hundred objects that "
        f"there are",
    )
