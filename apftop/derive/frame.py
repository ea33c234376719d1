"""The Frame: all replicas and their totals out of the samples so far."""

from __future__ import annotations

from apftop.derive.alive import servers_alive
from apftop.derive.callbacks import callbacks
from apftop.derive.replica import replica
from apftop.derive.totals import totals
from apftop.records.frame import Frame
from apftop.records.state import State


def frame(state: State, request_timeout_s: float | None = None, *, before: tuple[State, Frame] | None = None) -> Frame:
    """Derive everything from the state. `request_timeout_s` is the server's flag, if it was given.

    `before` is an earlier state with its frame, by the same flag: a replica that has said nothing since is as it was.
    """
    was, seen = before or (State(), None)
    replicas = {
        name: seen.replicas[name] if seen and was.replicas.get(name) is one else replica(one, request_timeout_s)
        for name, one in state.replicas.items()
        if not one.federated
    }
    firsts = [one.metrics[0].time for one in state.replicas.values() if len(one.metrics) == 2]
    lasts = [read.time for one in state.replicas.values() for read in (*one.metrics[-1:], *one.levels[-1:])]
    return Frame(
        t0=min((time for time in firsts if time is not None), default=None),
        t1=max((time for time in lasts if time is not None), default=None),
        replicas=replicas,
        totals=totals(replicas),
        servers_alive=servers_alive(state),
        callbacks=callbacks(state),
        redacted=state.redacted,
    )
