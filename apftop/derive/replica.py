"""One API server: its levels, schemas, flows and requests, and what holds for the whole of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from apftop.apf.objects import EXEMPT
from apftop.apf.release import holds
from apftop.derive.access import access_problems
from apftop.derive.backend import backend
from apftop.derive.demand import MEASURES as DEMAND
from apftop.derive.evidence import Evidence, evidence
from apftop.derive.freshness import lately, sample_ages
from apftop.derive.levels import Gauges, gauges, levels
from apftop.derive.membership import Membership, membership
from apftop.derive.own import own_summary
from apftop.derive.readings import server_concurrency
from apftop.derive.schemas import schemas
from apftop.parse.vocabulary import corrections_for, vocabulary
from apftop.records.frame import Replica, SampleAge
from apftop.records.raw import CALLBACKS, DUMPS, OBJECTS, Endpoint
from apftop.records.state import ReplicaState
from apftop.records.view import View


def replica(state: ReplicaState, request_timeout_s: float | None = None) -> Replica:
    """Derive one server from what has been read of it."""
    state = lately(state)
    known = evidence(state, request_timeout_s)
    apf = _apf(known)
    members = membership(known) if apf != "absent" else Membership((), (), (), frozenset(), None)
    read = gauges(known, members.live)
    nan_levels = _nan_levels(known, members)
    ages = sample_ages(state)
    return Replica(
        name=state.name,
        version=known.view.version or None if known.view else None,
        kind=members.kind,
        apf=apf,
        endpoints=_endpoints(state),
        server_concurrency=server_concurrency(read.totals["upper"], read.totals["nominal"]),
        nominal_sum=_sum(read, "nominal", members.live),
        naive_nominal_sum=_sum(read, "nominal", (*members.live, *members.stale)),
        current_sum=_sum(read, "current", _enforced(known, members.live)),
        lower_sum=_sum(read, "lower", members.live),
        fair_frac=_fair_frac(known.view),
        nan_levels=nan_levels,
        borrowing=_borrowing(known.view, nan_levels),
        stale_levels=members.stale,
        possibly_stale_levels=members.possibly_stale,
        clock=known.clock,
        own=own_summary(state),
        samples=ages,
        window=known.step.window if known.step else None,
        levels=levels(known, members, read),
        schemas=schemas(known) if apf != "absent" else {},
        flows=known.flows,
        requests=known.requests,
        lists_executing=known.lists_executing,
        sources=known.view.sources if known.view else {},
        cannot_fill=_cannot_fill(known.view),
        unknown_families=known.view.unknown_families if known.view else (),
        unknown_columns=_unknown_columns(state),
        corrections=_corrections(known),
        problems=tuple(dict.fromkeys((*_faults(state), *known.problems, *_stale(ages, sample_ages(known.state))))),
        failed=bool(state.failures),
        started=known.view.start if known.view else None,
        peer=state.peer,
        backend=backend(state, known.step),
        callbacks=_worst(state, (*CALLBACKS, Endpoint.WEBHOOKS)),
    )


def _sum(read: Gauges, measure: str, names: tuple[str, ...]) -> float | None:
    """The sum over levels; one that is NaN or unknown is left out, and None if all are."""
    values = [value for name in names if (value := read.totals[measure].get(name)) is not None]
    finite = [value for value in values if not math.isnan(value)]
    return sum(finite) if finite else None


def _fair_frac(view: View | None) -> float | None:
    values = list(view.values.get("fair_frac", {}).values()) if view else []
    return values[0] if values and not math.isnan(values[0]) else None


def _nan_levels(known: Evidence, members: Membership) -> tuple[str, ...]:
    if known.view is None:
        return ()
    bad = {
        key.level
        for measure in DEMAND
        for key, value in known.view.values.get(measure, {}).items()
        if math.isnan(value)
    }
    return tuple(name for name in members.live if name in bad)


def _borrowing(view: View | None, nan_levels: tuple[str, ...]) -> Literal["ok", "frozen", "unknown"]:
    """A NaN demand makes every adjustment fail, so that limits freeze (fixed in 1.26.13, 1.27.10, 1.28.6)."""
    if view is None or not any(measure in view.values for measure in DEMAND):
        return "unknown"
    return "frozen" if nan_levels else "ok"


def _enforced(known: Evidence, live: tuple[str, ...]) -> tuple[str, ...]:
    """The levels whose limits share the server's seats: since 1.31 exempt's own is handed out on top."""
    apart = vocabulary().corrections["exempt-apart"]
    if known.release is not None and holds(known.release, apart.holds):
        return tuple(name for name in live if name != EXEMPT)
    return live


def _apf(known: Evidence) -> Literal["ok", "absent", "denied"] | None:
    prefix = vocabulary().prefix
    dumped = known.rows is not None or known.queues is not None or known.requests is not None
    if dumped or (known.view is not None and any(name.startswith(prefix) for name in known.view.sources.values())):
        return "ok"
    statuses = {endpoint: outcome.status for endpoint, outcome in known.state.outcomes.items()}
    if known.view is not None or any(statuses.get(dump) == 404 for dump in DUMPS):
        return "absent"
    if any(status in (401, 403) for status in statuses.values()):
        return "denied"
    return None


def _stale(ages: Mapping[str, SampleAge], used: Mapping[str, SampleAge]) -> list[str]:
    """One line for each answer that is used although its endpoint has not answered since."""
    newest = max((age.time for age in ages.values() if age.time is not None), default=None)
    return [f"{name}: as last read{_ago(age.time, newest)}; not read since" for name, age in used.items() if age.stale]


def _ago(stamp: float | None, newest: float | None) -> str:
    if stamp is None or newest is None or newest <= stamp:
        return ""
    return f", {newest - stamp:.0f} s before the newest answer"


def _endpoints(state: ReplicaState) -> dict[str, int | str | None]:
    """HTTP status of each endpoint, an error in words where there is none, None where it was not asked."""
    found: dict[str, int | str | None] = {}
    for endpoint in (Endpoint.METRICS, *DUMPS):
        outcome = state.outcomes.get(endpoint)
        found[endpoint.value] = (outcome.error or outcome.status) if outcome else None
    found["objects"] = _worst(state, OBJECTS)
    return found


def _worst(state: ReplicaState, endpoints: tuple[Endpoint, ...]) -> int | str | None:
    """How the first of several that failed ended, else how they did."""
    asked = [outcome for one in endpoints if (outcome := state.outcomes.get(one))]
    worst = next((outcome for outcome in asked if outcome.error or outcome.status != 200), asked[0] if asked else None)
    return (worst.error or worst.status) if worst else None


def _faults(state: ReplicaState) -> list[str]:
    bad = [
        f"{endpoint.value}, line {bad.number}: {bad.why}"
        for endpoint, read in (
            (Endpoint.LEVELS, state.levels[-1] if state.levels else None),
            (Endpoint.QUEUES, state.queues),
            (Endpoint.REQUESTS, state.requests),
        )
        if read is not None
        for bad in read.data.bad
    ]
    return access_problems(state.outcomes) + bad


def _unknown_columns(state: ReplicaState) -> tuple[str, ...]:
    """Columns of the dumps that are newer than we know, as `dump: column`."""
    found = [(Endpoint.LEVELS, row.extra) for read in state.levels[-1:] for row in read.data.rows]
    found += [(Endpoint.QUEUES, row.extra) for row in state.queues.data.rows] if state.queues else []
    found += [(Endpoint.REQUESTS, row.extra) for row in state.requests.data.rows] if state.requests else []
    return tuple(dict.fromkeys(f"{endpoint.value}: {column}" for endpoint, extra in found for column, _ in extra))


def _cannot_fill(view: View | None) -> tuple[str, ...]:
    """Measures that this server does not expose, by its release if known, else by what is missing."""
    if view is None:
        return ()
    words = vocabulary()
    return tuple(
        name
        for name, measure in words.measures.items()
        if name not in view.sources and not (view.release and measure.zero and holds(view.release, measure.holds))
    )


def _corrections(known: Evidence) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for measure in vocabulary().measures:
        for text in corrections_for(known.release, measure):
            found[text] = None
    return tuple(found)
