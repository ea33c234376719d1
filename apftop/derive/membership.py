"""Which levels a server runs: the series of deleted ones are never removed from /metrics until it restarts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from apftop.derive.evidence import Evidence
from apftop.records.view import View

MANDATORY = frozenset({"exempt", "catch-all"})
LIMITS = ("nominal", "current", "upper", "lower")
MOVING = ("dispatched", "rejected", "no_accommodation")


@dataclass(frozen=True, slots=True)
class Membership:
    """Level names: those that live, those that only /metrics still shows, and those that may be dead."""

    live: tuple[str, ...]
    stale: tuple[str, ...]
    possibly_stale: tuple[str, ...]
    kind: Literal["kube-apiserver", "extension"] | None


def membership(evidence: Evidence) -> Membership:
    """Tell live levels from stale ones.

    A level that neither the dump nor the configuration knows is stale. Without both, a level that has never moved over
    the window may be; it stays in the sums, since an idle level looks the same.
    """
    measured = _measured(evidence.view) if evidence.view else set()
    dumped = set(evidence.rows) if evidence.rows is not None else None
    listed = set(evidence.request_rows or ()) | set(evidence.queues or ())
    configured = set(evidence.configs) if evidence.configs is not None else None
    kind = _kind(measured, dumped)
    if kind == "extension":
        configured = None if configured is None else configured & MANDATORY
    known = (dumped or set()) | (configured or set()) | listed
    if dumped is None and configured is None:
        return Membership(tuple(sorted(measured | listed)), (), _unmoved(evidence, measured), kind)
    stale = measured - known
    if dumped is None:
        # A deleted level drains before it goes: without the dump, seats in use or waiting requests show that it lives.
        draining = {name for name in stale if evidence.view and _busy(evidence.view, name)}
        stale -= draining
        known |= draining
    return Membership(tuple(sorted(known)), tuple(sorted(stale)), (), kind)


def _measured(view: View) -> set[str]:
    names = {key.level for measure in view.values.values() for key in measure}
    names |= {key.level for measure in view.histograms.values() for key in measure}
    return names - {""}


def _kind(measured: set[str], dumped: set[str] | None) -> Literal["kube-apiserver", "extension"] | None:
    """An aggregated server that cannot read the objects runs the two mandatory levels and nothing else."""
    seen = measured | (dumped or set())
    if not seen:
        return None
    return "extension" if seen <= MANDATORY else "kube-apiserver"


def _busy(view: View, level: str) -> bool:
    return any(
        value > 0
        for measure in ("executing", "seats_in_use", "waiting")
        for key, value in view.values.get(measure, {}).items()
        if key.level == level
    )


def _unmoved(evidence: Evidence, measured: set[str]) -> tuple[str, ...]:
    step = evidence.step
    if step is None:
        return ()
    moved = {key.level for measure in MOVING for key, rise in step.counters(measure).items() if rise}
    return tuple(sorted(name for name in measured - moved - MANDATORY if not _busy(step.after, name)))
