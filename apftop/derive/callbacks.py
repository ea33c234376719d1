"""The services that API servers call while they serve, by whichever server told of them."""

from __future__ import annotations

from apftop.records.backend import Callback
from apftop.records.raw import Endpoint
from apftop.records.state import Read, State


def callbacks(state: State) -> tuple[Callback, ...] | None:
    """All that are known, each once; None where no server and no file told of any kind of them.

    The objects are the same on all servers: the newest answer counts for its kind.
    """
    newest: dict[Endpoint, Read[tuple[Callback, ...]]] = {}
    for replica in state.replicas.values():
        for endpoint, read in replica.callbacks.items():
            known = newest.get(endpoint)
            if known is None or (read.time or 0.0) >= (known.time or 0.0):
                newest[endpoint] = read
    if not newest:
        return None
    return tuple(dict.fromkeys(one for endpoint in sorted(newest) for one in newest[endpoint].data))
