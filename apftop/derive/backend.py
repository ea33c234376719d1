"""What lies behind the queues: how requests ended over a window, and what storage, webhooks and admission took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from apftop.derive.deltas import Step
from apftop.derive.freshness import answers
from apftop.derive.pairing import told_apart
from apftop.records.backend import Backend, Timed
from apftop.records.measures import Window
from apftop.records.parsed import Behind, Spent
from apftop.records.raw import Endpoint
from apftop.records.state import Read, ReplicaState
from apftop.rules import rules

K = TypeVar("K")


def backend(state: ReplicaState, step: Step | None) -> Backend | None:
    """The rises between the last two answers that tell of the backend; None where these give no window.

    `step` is that of the metrics: where both come from the same two answers, it says whether they may be compared, and
    whose clock gives the time between them. A restart or a reset in between leaves nothing to compare: a short life
    has no usual to hold it against.
    """
    if len(state.behind) < 2 or not answers(state, Endpoint.BACKEND) or _outdated(state):
        return None
    before, after = state.behind
    window = _shared_window(step) if _of_metrics(state) else _own_window(before, after)
    if window is None or _fell(before.data, after.data):
        return None
    was, now = before.data, after.data
    return Backend(
        window=window,
        requests=_rises(was.requests, now.requests),
        terminations=_rises(was.terminations, now.terminations),
        forbidden=_rises(was.forbidden, now.forbidden),
        too_many=_rises(was.too_many, now.too_many),
        etcd=_timed(was.etcd, now.etcd),
        webhooks=_timed(was.webhooks, now.webhooks),
        admission=_timed(was.admission, now.admission),
    )


def _outdated(state: ReplicaState) -> bool:
    """Whether the newest answer is of another time than the newest metrics or dump of levels."""
    last = state.behind[-1].time
    others = [read.time for read in (*state.metrics[-1:], *state.levels[-1:]) if read.time is not None]
    return last is not None and any(one - last > rules().behind.outdated_s for one in others)


def _of_metrics(state: ReplicaState) -> bool:
    """Whether both answers are those of the metrics too."""
    return [_who(read) for read in state.behind] == [_who(read) for read in state.metrics]


def _who(read: Read[object]) -> tuple[float | None, float | None, str]:
    return read.sent, read.time, read.origin


def _shared_window(step: Step | None) -> Window | None:
    return None if step is None or step.anew else step.window


def _own_window(before: Read[Behind], after: Read[Behind]) -> Window | None:
    """The time between two answers by this machine's clock, if they are of one life of one server."""
    if told_apart(before, after) or before.time is None or after.time is None or before.time >= after.time:
        return None
    starts = before.data.started, after.data.started
    if None not in starts and abs((starts[0] or 0.0) - (starts[1] or 0.0)) > rules().window.start_jitter_s:
        return None
    return Window(after.time - before.time, "stamps", before.time, after.time)


def _fell(before: Behind, after: Behind) -> bool:
    """Whether a counter fell or went, which none does while its process lives and nobody resets it."""
    spent = ((before.etcd, after.etcd), (before.webhooks, after.webhooks), (before.admission, after.admission))
    return (
        _less(before.requests, after.requests)
        or _less(before.terminations, after.terminations)
        or _less(before.forbidden, after.forbidden)
        or _less(before.too_many, after.too_many)
        or any(_less(_counts(was), _counts(now)) or _less(_seconds(was), _seconds(now)) for was, now in spent)
    )


def _less(before: Mapping[K, float], after: Mapping[K, float]) -> bool:
    return any(after.get(key, -1.0) < value for key, value in before.items())


def _counts(calls: Mapping[str, Spent]) -> dict[str, float]:
    return {name: one.count for name, one in calls.items()}


def _seconds(calls: Mapping[str, Spent]) -> dict[str, float]:
    return {name: one.seconds for name, one in calls.items()}


def _rises(before: Mapping[K, float], after: Mapping[K, float]) -> dict[K, float]:
    """What came in the window; a series that was born in it counts from 0, and what did not rise is left out."""
    rises = {key: value - before.get(key, 0.0) for key, value in after.items()}
    return {key: rise for key, rise in rises.items() if rise > 0}


def _timed(before: Mapping[str, Spent], after: Mapping[str, Spent]) -> dict[str, Timed]:
    """Calls in the window; the usual mean is that of all before it."""
    none = Spent(0.0, 0.0)
    return {
        name: Timed(
            count=now.count - was.count,
            mean_s=_mean(now.count - was.count, now.seconds - was.seconds),
            usual_s=_mean(was.count, was.seconds),
        )
        for name, now in after.items()
        for was in (before.get(name, none),)
    }


def _mean(count: float, seconds: float) -> float | None:
    return seconds / count if count > 0 else None
