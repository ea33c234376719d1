"""Which levels a server runs: the series of deleted ones are never removed from /metrics until it restarts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from apftop.apf.objects import MANDATORY
from apftop.derive.evidence import Evidence
from apftop.records.view import View

MOVING = ("dispatched", "rejected", "no_accommodation")


@dataclass(frozen=True, slots=True)
class Membership:
    """Level names: those that live, those that only /metrics still shows, and those that may be dead.

    `draining` are live ones whose object is gone, as far as that shows without a dump.
    """

    live: tuple[str, ...]
    stale: tuple[str, ...]
    possibly_stale: tuple[str, ...]
    draining: frozenset[str]
    kind: Literal["kube-apiserver", "extension"] | None


def membership(evidence: Evidence) -> Membership:
    """Tell live levels from stale ones.

    What the dump does not list is stale; without a dump, what has no object is, if the objects are surely complete.
    Without both, a level that has never moved over the window may be; it stays in the sums, since an idle level looks
    the same.
    """
    measured = _measured(evidence.view) if evidence.view else set()
    listed = set(evidence.request_rows or ()) | set(evidence.queues or ())
    kind = _kind(measured | set(evidence.rows or ()), listed)
    if evidence.rows is not None:
        # The dump is the server's own list, and holds deleted levels for as long as they drain.
        live = set(evidence.rows) | listed
        return Membership(_sorted(live), _sorted(measured - live), (), frozenset(), kind)
    configured = _configured(evidence, kind)
    if configured is None:
        return Membership(_sorted(measured | listed), (), _unmoved(evidence, measured), frozenset(), kind)
    gone = measured - configured - listed
    draining = {name for name in gone if evidence.view and _busy(evidence.view, name)}
    live = configured | listed | draining
    return Membership(_sorted(live), _sorted(gone - draining), (), frozenset(draining), kind)


def _configured(evidence: Evidence, kind: str | None) -> set[str] | None:
    """The levels that have an object; None where the objects are not surely all there are."""
    names = set(evidence.configs or ())
    if not names >= MANDATORY or not evidence.configs_whole:
        return None
    return names & MANDATORY if kind == "extension" else names


def _sorted(names: set[str]) -> tuple[str, ...]:
    return tuple(sorted(names))


def _measured(view: View) -> set[str]:
    names = {key.level for measure in view.values.values() for key in measure}
    names |= {key.level for measure in view.histograms.values() for key in measure}
    return names - {""}


def _kind(seen: set[str], listed: set[str]) -> Literal["kube-apiserver", "extension"] | None:
    """An aggregated server that cannot read the objects runs the two mandatory levels and nothing else."""
    if (seen | listed) - MANDATORY:
        return "kube-apiserver"
    return "extension" if seen else None


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
