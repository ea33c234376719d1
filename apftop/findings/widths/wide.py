"""Wide requests hold most of the seats of a level for which others wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apftop.findings.saturation.pressure import hurts
from apftop.findings.scene import Place, Scene, by_level, rows
from apftop.findings.widths.narrower import is_wide, narrower
from apftop.findings.words.callers import behind
from apftop.findings.words.listing import few
from apftop.findings.words.told import counted, most, servers_named
from apftop.present import percent, plain, seconds, whole
from apftop.records.findings import Finding
from apftop.records.frame import Level, Request
from apftop.rules import rules


@dataclass(frozen=True, slots=True)
class Wide:
    """What wide requests hold of a level on one server; `rows` are theirs, empty where no dump lists them."""

    place: Place
    seats: float
    of: float
    mean: float
    rows: tuple[Request, ...]

    @property
    def share(self) -> float:
        return self.seats / self.of


def wide_requests(scene: Scene) -> Iterator[Finding]:
    """Wide requests hold most of the seats of a level for which others wait."""
    for level, here in by_level(scene).items():
        found = [one for one in map(_wide, here) if one is not None]
        if found:
            yield _wide_requests(scene, level, sorted(found, key=lambda one: -one.seats))


def pressed(level: Level) -> bool:
    """Whether a level is too small now: many wait, or were refused."""
    own = rules().findings.widths
    refused = level.counts.rejected_total if level.counts else 0.0
    return (level.waiting or 0.0) >= own.waiting or refused > own.refused


def _wide(place: Place) -> Wide | None:
    level, own = place.level, rules().findings.widths
    if level.exempt or level.quiescing or not pressed(level):
        return None
    inside = rows(place)
    if place.replica.lists_executing and inside:
        # A moment alone may be a burst that is served in the next one.
        if not hurts(level):
            return None
        runs = [row for row in inside if row.executing]
        mine = tuple(row for row in inside if is_wide(row))
        seats, of = sum(row.width for row in mine if row.executing), sum(row.width for row in runs)
        if not of or len(mine) < own.requests or of / len(runs) <= own.width or seats < own.seats_share * of:
            return None
        return Wide(place, float(seats), float(of), of / len(runs), mine)
    return _wide_by_means(place)


def _wide_by_means(place: Place) -> Wide | None:
    """The condition of the alert, for the level as a whole: no metric tells the width of what executes by itself."""
    level, own = place.level, rules().findings.widths
    width = level.load.width if level.load else None
    full = level.utilization.gt_99 if level.utilization and not level.utilization.lifetime else None
    if width is None or width <= own.width or full is None or full <= own.full_share or not level.seats_in_use:
        return None
    return Wide(place, level.seats_in_use, level.seats_in_use, width, ())


def _wide_requests(scene: Scene, level: str, found: list[Wide]) -> Finding:
    worst = found[0]
    names = tuple(one.place.replica.name for one in found)
    runs = [row for row in worst.rows if row.executing]
    by_kind, by_user = _seats_by(runs, "kind"), _seats_by(runs, "user")
    advice, change = narrower(scene, worst.place, worst.rows)
    kind = next(iter(by_kind), "")
    mostly = kind if kind and by_kind[kind] >= worst.seats / 2 else ""
    user = next(iter(by_user), "")
    cap = worst.place.level.max_seats_per_request
    return Finding(
        "wide-requests",
        "warning",
        level,
        f"{_what(worst, runs, mostly)} in {plain(level)} on {servers_named(names)}, and "
        f"{counted(worst.place.level.waiting, 'request')} {'waits' if worst.place.level.waiting == 1 else 'wait'}",
        names,
        level,
        "",
        (
            *few([_wide_line(one) for one in found]),
            *((f"seats by client: {most(by_user)}",) if by_user else ()),
            *((f"seats by kind: {most(by_kind)}",) if by_kind else ()),
            *((f"one request of this level takes at most {cap} seats",) if cap is not None else ()),
            *(behind(scene, user) if user else ()),
        ),
        advice,
        change,
        {
            "seats": worst.seats,
            "seats_in_use": worst.of,
            "seats_share": worst.share if worst.rows else None,
            "mean_width": worst.mean,
            "seats_by_user": {one: float(seats) for one, seats in by_user.items()},
            "seats_by_kind": {one: float(seats) for one, seats in by_kind.items()},
            "max_seats_per_request": None if cap is None else float(cap),
        },
        float(sum(one.place.level.waiting or 0.0 for one in found)),
    )


def _what(worst: Wide, runs: Sequence[Request], kind: str) -> str:
    """What holds how many of the seats in use; without a dump the mean width of all requests, and the seats in use."""
    if not runs:
        limit = whole(worst.place.level.current)
        return f"requests of {worst.mean:.1f} seats each on average: {counted(worst.of, 'seat', limit)} in use"
    mine = [row.width for row in runs if kind in ("", row.kind)]
    seats = f"{sum(mine) / len(mine):.1f} seats each on average: {whole(worst.seats)} of {whole(worst.of)} seats in use"
    return f"{plain(kind) or 'wide requests'} of {seats}"


def _wide_line(one: Wide) -> str:
    level, server = one.place.level, plain(one.place.replica.name)
    if not one.rows:
        full = level.utilization.gt_99 if level.utilization else None
        window = level.load.seconds if level.load else None
        return (
            f"{server}: requests that came within {seconds(window)} were {one.mean:.1f} seats wide on average, "
            f"and the level was full for at least {percent(full)} of that time; {whole(level.waiting)} wait"
        )
    runs = [row for row in one.rows if row.executing]
    narrowest, widest = min(row.width for row in one.rows), max(row.width for row in one.rows)
    width = str(widest) if narrowest == widest else f"{narrowest} to {widest}"
    oldest = max((row.executing_s for row in runs if row.executing_s is not None), default=None)
    return (
        f"{server}: {len(runs)} requests of {width} seats hold {whole(one.seats)} of "
        f"{whole(one.of)} seats in use ({percent(one.share)}), the oldest for {seconds(oldest)}; "
        f"{len(one.rows) - len(runs)} more of them wait"
    )


def _seats_by(many: Sequence[Request], what: str) -> dict[str, int]:
    found: Counter[str] = Counter()
    for row in many:
        if getattr(row, what):
            found[getattr(row, what)] += row.width
    return dict(found.most_common())
