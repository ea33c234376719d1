"""What of a moment the reader looks at: one replica, each of them or their sum, and what they have drilled into."""

from __future__ import annotations

from apftop.present import plain
from apftop.records.frame import Replica
from apftop.records.moment import Moment
from apftop.records.raw import Endpoint
from apftop.rules import rules
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


def is_stale(moment: Moment, replica: Replica, source: str) -> bool:
    """Whether an endpoint has failed to answer since its sample, which is what a number stands on, or is overdue."""
    name = source.partition(",")[0]
    age = replica.samples.get(name)
    return age is not None and (age.stale or is_late(moment, replica, name))


def is_late(moment: Moment, replica: Replica, endpoint: str) -> bool:
    """Whether the plan was to have an endpoint's answer renewed long since: a server that hangs has not failed yet."""
    plan, age = moment.plans.get(replica.name), replica.samples.get(endpoint)
    if plan is None or age is None or age.time is None:
        return False
    limits = rules()
    every_s = plan.every_s.get(Endpoint(endpoint))
    if every_s is None:
        return endpoint in plan.left_out and moment.now - age.time > limits.polling.requests_slow_s
    return moment.now - age.time > limits.fresh.late_rounds * every_s


def metrics_stale(moment: Moment, replica: Replica) -> bool:
    """Whether limits, seats and waits are of metrics that could not be read again."""
    return is_stale(moment, replica, Endpoint.METRICS.value)
