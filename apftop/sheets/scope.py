"""What of a moment the reader looks at: one replica, each of them or their sum, and what they have drilled into."""

from __future__ import annotations

from apftop.present import plain
from apftop.records.frame import Replica
from apftop.records.moment import Moment
from apftop.records.raw import Endpoint
from apftop.sheets.look import EACH, SUM, Look


def replicas_of(moment: Moment, look: Look) -> tuple[Replica, ...]:
    """The replicas in scope. A sum leaves out extension servers: their levels have the same names and other loads."""
    found = moment.frame.replicas.values()
    if look.scope == EACH:
        return tuple(found)
    if look.scope == SUM:
        return tuple(one for one in found if one.kind != "extension")
    return tuple(one for one in found if one.name == look.scope)


def within(look: Look, **names: str | None) -> bool:
    """Whether something with these names lies in what the reader drilled into; a name that is unknown may."""
    return all(names.get(key) in (None, wanted) for key, wanted in look.within.items() if key in names)


def title(look: Look, whose: str) -> str:
    """The view, what it is narrowed to, and whose rows it has where that is not one replica."""
    parts = [look.view.value, *(f"{key} {plain(name, 40)}" for key, name in look.within.items())]
    if look.scope not in (EACH, SUM):
        whose = f"on {plain(look.scope, 40)}"
    return ", ".join([*parts, whose] if whose else parts)


def tells_apart(moment: Moment, look: Look) -> bool:
    """Whether rows are of several replicas, and have to name them."""
    return look.scope in (EACH, SUM) and len(moment.frame.replicas) > 1


def nobody(moment: Moment, look: Look) -> str:
    """Why there is no replica to show; empty if there is one."""
    if not moment.frame.replicas:
        return "no server has answered yet"
    if not replicas_of(moment, look):
        return f"there is no {plain(look.scope, 40)} any more"
    return ""


def is_stale(replica: Replica, source: str) -> bool:
    """Whether an endpoint has failed to answer since its sample, which is what a number stands on."""
    age = replica.samples.get(source.partition(",")[0])
    return age is not None and age.stale


def metrics_stale(replica: Replica) -> bool:
    """Whether limits, seats and waits are of metrics that could not be read again."""
    return is_stale(replica, Endpoint.METRICS.value)
