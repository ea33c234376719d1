"""How long requests wait in a level: as counted, by the model, by flow, and what became of those that waited."""

from __future__ import annotations

from collections.abc import Iterator

from apftop.present import cut_front, plain, seconds, span
from apftop.records.checks import FlowWaits, Followed, LevelChecks, Prediction
from apftop.records.moment import Moment
from apftop.sheets.bands import allowed, band
from apftop.sheets.look import Look
from apftop.sheets.page import Entry, Section
from apftop.sheets.scope import replicas_of
from apftop.sheets.verdicts import level_checks

NAME_WIDTH = 24
FLOWS_TOLD, FLOWS_LISTED = 3, 20
"""So many flows are in the line about them, and on a page."""


def facts(moment: Moment, look: Look) -> tuple[str, ...]:
    """Lines about the level that the reader looks at; where several replicas are in scope, one for each."""
    name = look.within.get("level")
    if name is None:
        return ()
    found = {
        replica.name: checks
        for replica in replicas_of(moment, look)
        if (checks := level_checks(moment, replica.name, name)) is not None
    }
    if len(found) == 1:
        (checks,) = found.values()
        return tuple(line for line in (_mean(checks), _flows(checks), _followed(checks.followed)) if line)
    return tuple(f"{plain(replica, NAME_WIDTH)}: {_mean(checks)}" for replica, checks in found.items())


def waits_section(checks: LevelChecks, now: float) -> Section:
    """The same at length; `now` is this machine's clock (Unix seconds)."""
    return Section("Waits of the level", tuple(_entries(checks, now)))


def _entries(checks: LevelChecks, now: float) -> Iterator[Entry]:
    yield "mean wait", f"{seconds(checks.observed_wait_s)} as counted over the window, time-outs among it"
    yield "by Little's law", f"{seconds(checks.little_s)} by the time that requests spent waiting"
    yield "by the model", _modelled(checks.prediction, now)
    for one in _most_waiting(checks)[:FLOWS_LISTED]:
        yield f"flow {plain(one.flow or '(none)')}", f"schema {plain(one.schema)}: {_of_flow(one)}"
    if len(checks.flows) > FLOWS_LISTED:
        yield "", f"and {len(checks.flows) - FLOWS_LISTED} more flows"
    if checks.flows:
        yield "", "exact waits are of those that the dumps of the window saw executing: a sample"
    if checks.followed is not None:
        yield "followed", _followed(checks.followed)


def _mean(checks: LevelChecks) -> str:
    """The mean wait, and whether this load on these seats could give it: no more is known of it than that."""
    found = checks.prediction
    if found is None:
        observed, due = seconds(checks.observed_wait_s), seconds(checks.little_s)
        return f"mean wait {observed}, {due} by the time that requests spent waiting; not simulated"
    could = "could give such waits" if found.inside else "gives other waits"
    return (
        f"mean wait {seconds(found.observed)}, {'in' if found.inside else 'not in'} {band(*allowed(found))} "
        f"of {_runs(found)}: this load on these seats {could}"
    )


def _modelled(found: Prediction | None, now: float) -> str:
    if found is None:
        return "- not simulated: only levels in which requests waited are, and one after another"
    middle = found.mean_wait
    return (
        f"{band(middle.low, middle.high)}, median {seconds(middle.middle)}, and with its allowance "
        f"{band(*allowed(found))}; observed {seconds(found.observed)} is {'' if found.inside else 'not '}in it. "
        f"{_runs(found)} of this load on these seats, {seconds(found.seconds)} up to {span(now - found.at)} ago: "
        "could it give such waits? It does not say that they are fair, or why they are long."
    )


def _runs(found: Prediction) -> str:
    return f"{found.runs} runs over {'1 interval' if found.intervals == 1 else f'each of {found.intervals} intervals'}"


def _flows(checks: LevelChecks) -> str:
    """Exact waits of the flows with the most waiting requests."""
    told = [
        f"{cut_front(plain(one.flow or '(none)'), NAME_WIDTH)} {_of_flow(one)}"
        for one in _most_waiting(checks)[:FLOWS_TOLD]
    ]
    more = len(checks.flows) - len(told)
    return f"exact waits: {'; '.join([*told, *([f'{more} more flows'] if more else [])])}" if told else ""


def _most_waiting(checks: LevelChecks) -> list[FlowWaits]:
    return sorted(checks.flows, key=lambda one: (-one.waiting, -one.count, one.schema, one.flow))


def _of_flow(one: FlowWaits) -> str:
    parts = [f"{one.count} seen, mean {seconds(one.mean_s)}, max {seconds(one.max_s)}"] if one.count else []
    if one.waiting:
        parts.append(f"{one.waiting} waiting, for {seconds(one.mean_age_s)}")
    return ", ".join(parts)


def _followed(found: Followed | None) -> str:
    """Of those that are gone nothing is known: they may have been served, or not."""
    if found is None or not found.waited:
        return ""
    return (
        f"of {found.waited} that waited a dump ago {found.executing} execute, {found.still_waiting} still wait, "
        f"{found.gone} are gone: served or not"
    )
