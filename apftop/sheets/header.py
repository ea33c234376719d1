"""The lines above every view: whose servers, how bad it is, how old the numbers are, what is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from textwrap import wrap

from apftop.present import cells, cut, percent, plain, seconds, size, span
from apftop.records.frame import Replica
from apftop.records.measures import Window
from apftop.records.moment import Moment
from apftop.records.raw import Endpoint
from apftop.sheets.answering import answers, hidden, in_short, left_out, reach, servers
from apftop.sheets.figures import STALE
from apftop.sheets.finding_text import MARKS as FINDING_MARKS
from apftop.sheets.finding_text import SIGNS
from apftop.sheets.look import Look
from apftop.sheets.scope import is_late, metrics_stale, replicas_of
from apftop.sheets.sheet import Cell, Mark
from apftop.sheets.trouble import MARKS, TROUBLE, places, worst
from apftop.sheets.views import needs

Line = tuple[Cell, ...]

MOST_PROBLEMS = 3
"""So many problems have a line of their own."""

SPACE = Cell("  ")
LEAST = 8
"""No part is cut to fewer cells: it goes instead."""


@dataclass(frozen=True, slots=True)
class Part:
    """Something a line says. Where there is no room parts of the highest rank go first, cut before if they may be."""

    rank: int
    text: str
    mark: Mark = ""
    cuts: bool = False


def header(moment: Moment, look: Look, now: float, width: int, marks: Sequence[Cell] = ()) -> tuple[Line, ...]:
    """Lines of cells to be drawn one after another, each line at most `width` cells wide.

    `now` is this machine's clock (Unix seconds), for ages, which are of the replicas in scope; what is wrong is told of
    all. `marks` are what the screen itself has to say, such as that it is frozen; they come first and stay.
    """
    moment = replace(moment, now=max(moment.now, now))
    lines = [_fitted(_first(moment, marks), width), _fitted(_second(moment, look), width)]
    lines += [_fitted(parts, width) for parts in (_worst_finding(moment),) if parts]
    told = [Part(0, line, "warn") for line in _problems(moment, width)]
    if moment.news and len(told) < MOST_PROBLEMS:
        told.append(Part(0, plain(moment.news[-1]), "dim"))
    return (*lines, *(_fitted([part], width) for part in told))


def _problems(moment: Moment, width: int) -> Iterable[str]:
    """What is wrong: a line each, and a second one for those that come first and are long, as far as there is room."""
    wrong = in_short(moment)
    shown = wrong if len(wrong) <= MOST_PROBLEMS else wrong[: MOST_PROBLEMS - 1]
    spare = MOST_PROBLEMS - len(shown) - (len(shown) < len(wrong))
    for line in shown:
        first, *rest = wrap(f"! {line}", max(LEAST, width)) or [""]
        if rest and spare:
            spare -= 1
            yield first
            yield f"  {' '.join(rest)}"
        else:
            yield f"! {line}"
    if len(shown) < len(wrong):
        yield f"! +{len(wrong) - len(shown)} more: 6 replicas"


def _fitted(parts: Sequence[Part], width: int) -> Line:
    """Cut what matters least, and leave it out where too little of it would be left."""
    kept = list(parts)
    while (over := _width(kept) - width) > 0 and len(kept) > 1:
        least = max(kept, key=lambda part: part.rank)
        at = kept.index(least)
        room = cells(least.text) - over
        if least.cuts and room >= LEAST:
            kept[at] = replace(least, text=cut(least.text, room))
        else:
            del kept[at]
    line: list[Cell] = []
    for part in kept:
        line += [*([SPACE] if line else []), Cell(cut(part.text, width), part.text, part.mark)]
    return tuple(line)


def _width(parts: Sequence[Part]) -> int:
    return sum(cells(part.text) for part in parts) + cells(SPACE.text) * (len(parts) - 1)


def _first(moment: Moment, marks: Sequence[Cell]) -> list[Part]:
    parts = [Part(6, "apftop"), *(Part(0, mark.text, mark.mark) for mark in marks)]
    parts += [Part(3, plain(moment.source), cuts=True), *_versions(moment), *_seen(moment)]
    return [*parts, *_doubtful(moment), *_whole(moment), _verdict(moment)]


def _versions(moment: Moment) -> Iterable[Part]:
    """The release that most run, and those that differ by name."""
    versions = {one.name: one.version for one in moment.frame.replicas.values() if one.version}
    if not versions:
        return
    common, number = Counter(versions.values()).most_common(1)[0]
    others = [f"{plain(one)} on {plain(name)}" for name, one in versions.items() if one != common]
    if not others:
        yield Part(4, plain(common))
    else:
        yield Part(4, ", ".join([f"{plain(common)} on {number}", *others]), "warn", cuts=True)


def _seen(moment: Moment) -> Iterable[Part]:
    """How many replicas answer, of how many there are: those alive by their leases, else those known."""
    known = servers(moment)
    if not moment.frame.replicas:
        yield Part(1, "no answer yet", "warn")
    elif known:
        seen, of = sum(answers(moment, one) for one in known), len(known) + hidden(moment)
        lost = any(reach(moment, one) in ("silent", "denied") for one in known)
        mark: Mark = "bad" if lost else "warn" if seen < of else ""
        yield Part(1, f"{seen} of {of} replica{'s' if of != 1 else ''}", mark)


def _doubtful(moment: Moment) -> Iterable[Part]:
    """The servers of which a check of the whole is off: all that is shown of them is in doubt."""
    found = [
        f"{check.law} of {plain(name, 40)}"
        for name, checks in moment.checks.items()
        for check in checks.checks
        if check.verdict == "off" and name in moment.frame.replicas
    ]
    if found:
        yield Part(1, f"doubtful: {found[0]}{f', +{len(found) - 1}' if found[1:] else ''}", "warn", cuts=True)


def _whole(moment: Moment) -> Iterable[Part]:
    """The verdict of the whole, once there is one."""
    found = moment.findings.verdict
    if found != "unknown":
        yield Part(1, f"verdict {found}", "good" if found == "quiet" else "warn")


def _worst_finding(moment: Moment) -> list[Part]:
    """What is found first, and how many more clients or the cluster suffer from; nothing where it is all calm."""
    found = [one for one in moment.findings.found if one.severity != "info"]
    if not found:
        return []
    first = found[0]
    text = f"{SIGNS[first.severity]} {first.severity}: {first.title}"
    more = [Part(0, f"+{len(found) - 1} more: 7")] if found[1:] else []
    return [Part(1, text, FINDING_MARKS[first.severity], cuts=True), *more]


def _verdict(moment: Moment) -> Part:
    """The worst level of all replicas in words, whatever the reader looks at.

    What a replica said last that does not answer any more is told where the others are well.
    """
    found = [place for place in places(moment.frame.replicas.values()) if place.level.state != "stale"]
    if not found:
        return Part(2, "nothing known yet", "dim")
    hurt = [place for place in found if place.level.state in TROUBLE]
    now = [place for place in hurt if answers(moment, place.replica)]
    if not hurt:
        unknown = any(place.level.state == "unknown" for place in found)
        if unknown or hidden(moment) or not all(_is_seen(moment, one) for one in moment.frame.replicas.values()):
            return Part(2, "no level is saturated that can be seen", "dim", cuts=True)
        return Part(2, "no level is saturated", "good")
    first = worst(now or hurt)
    more = f", +{len(now or hurt) - 1} more" if len(now or hurt) > 1 else ""
    where = f" on {plain(first.replica.name, 40)}" if len(moment.frame.replicas) > 1 else ""
    text = f"{'' if now else 'was '}{first.level.state}: {plain(first.level.name, 40)}{where}{more}"
    return Part(2, text, MARKS.get(first.level.state, "") if now else "warn", cuts=True)


def _is_seen(moment: Moment, replica: Replica) -> bool:
    return bool(replica.levels) and answers(moment, replica) and not metrics_stale(moment, replica)


def _second(moment: Moment, look: Look) -> list[Part]:
    replicas = replicas_of(moment, look)
    recents = [level.recent.window for one in replicas for level in one.levels.values() if level.recent]
    lane = partial(_lane, moment, replicas)
    parts = [
        *lane("dumps", Endpoint.LEVELS, recents, rank=1),
        *lane("metrics", Endpoint.METRICS, [one.window for one in replicas if one.window], rank=0),
        *(lane("queues", Endpoint.QUEUES, [], rank=2) if Endpoint.QUEUES in needs(look.view) else ()),
        *lane("requests", Endpoint.REQUESTS, [], rank=2),
    ]
    if not parts:
        parts.append(Part(0, "nothing read yet", "dim"))
    parts += _cost(moment, replicas)
    found = left_out(moment)
    if found:
        parts.append(Part(3, f"left out: {'; '.join(found)}", "warn", cuts=True))
    return parts


def _lane(
    moment: Moment,
    replicas: Sequence[Replica],
    name: str,
    endpoint: Endpoint,
    windows: Sequence[Window],
    *,
    rank: int,
) -> Iterable[Part]:
    """How old the oldest newest answer is, whether it could not be renewed, and over what time its rates are."""
    asked = [one for one in replicas if _is_asked(moment, one, endpoint)]
    ages = [age for one in asked if (age := one.samples.get(endpoint.value)) is not None]
    times = [age.time for age in ages if age.time is not None]
    if not times:
        return
    stale = any(age.stale for age in ages)
    late = stale or any(is_late(moment, one, endpoint.value) for one in asked)
    over = f", over {_range(windows)}" if windows else ""
    text = f"{name} {span(moment.now - min(times))}{STALE if late else ''}{' stale' if stale else ''}{over}"
    yield Part(rank, text, "warn" if late else "")


def _is_asked(moment: Moment, replica: Replica, endpoint: Endpoint) -> bool:
    """Whether an endpoint is asked for now, or would be if that could be done."""
    plan = moment.plans.get(replica.name)
    return plan is None or endpoint in plan.every_s or endpoint in plan.left_out


def _range(windows: Sequence[Window]) -> str:
    lengths = sorted(float(f"{window.seconds:.2g}") for window in windows)
    low, high = seconds(lengths[0]), seconds(lengths[-1])
    return low if low == high else f"{low} to {high}"


def _cost(moment: Moment, replicas: Sequence[Replica]) -> Iterable[Part]:
    """The estimated cost to the server that it costs most, and what was read so far."""
    shares = [plan.cost_share for plan in moment.plans.values() if plan.cost_share is not None]
    if shares:
        yield Part(4, f"est. cost {percent(max(shares))} of a core{' each' if len(shares) > 1 else ''}", "dim")
    if read := sum(one.own.bytes for one in replicas):
        yield Part(5, f"read {size(read)}", "dim")
