"""How a replica answers, in words; and all that is wrong with the asking."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from apftop.present import plain, span
from apftop.records.frame import Replica
from apftop.records.moment import Moment
from apftop.sheets.scope import is_late

Reach = Literal["ok", "partly", "denied", "silent", "unasked"]
"""Of the questions to a server: all, some or none were answered, by refusal of access or for any other reason."""

STEADY = ("metrics", "dump_priority_levels")
"""What each server is asked for all the time. Other answers may be old ones, and objects those of another server."""

REFUSED = (401, 403, 404)

SHORT = {
    "metrics": "metrics",
    "dump_priority_levels": "levels",
    "dump_queues": "queues",
    "dump_requests": "requests",
    "objects": "objects",
}


def reach(moment: Moment, replica: Replica) -> Reach:
    """How the last questions to a server ended; one that has let them all go overdue is silent."""
    known = {name: answer for name, answer in replica.endpoints.items() if answer is not None}
    steady = {name: known[name] for name in STEADY if name in known} or {
        name: known[name] for name in known if name != "objects"
    }
    if not steady:
        return "unasked"
    good = [name for name, answer in steady.items() if answer == 200]
    if any(not is_late(moment, replica, name) for name in good):
        return "ok" if all(answer == 200 for answer in known.values()) else "partly"
    if good or not all(answer in (401, 403) for answer in steady.values()):
        return "silent"
    return "partly" if 200 in known.values() and 401 not in steady.values() else "denied"


def reach_text(moment: Moment, replica: Replica) -> str:
    """The same with what was not answered, and how."""
    word = reach(moment, replica)
    if word in ("ok", "unasked"):
        return "ok" if word == "ok" else "no answer yet"
    lost = [
        f"{SHORT.get(name, name)} {answer if isinstance(answer, int) else 'no answer'}"
        for name, answer in replica.endpoints.items()
        if answer not in (None, 200)
    ]
    return f"{word}: {', '.join(lost)}" if lost else word


def answers(moment: Moment, replica: Replica) -> bool:
    """Whether any of the last questions to it was answered."""
    return reach(moment, replica) in ("ok", "partly")


def servers(moment: Moment) -> tuple[Replica, ...]:
    """The replicas that are kube-apiservers, as far as that is known."""
    return moment.frame.servers


def hidden(moment: Moment) -> int:
    """How many servers are alive by their leases and not among the known ones; 0 where that is not known."""
    return moment.frame.servers_hidden


def problems(moment: Moment) -> tuple[str, ...]:
    """All that is wrong: servers that cannot be seen, then replicas, those that do not answer first; then news."""
    struck: dict[str, list[Replica]] = {}
    for one in _worst_first(moment):
        for problem in _troubles(moment, one):
            struck.setdefault(problem, []).append(one)
    of_replicas = (f"{_names(those, moment)}: {plain(problem)}" for problem, those in struck.items())
    return (*_unseen(moment), *of_replicas, *map(plain, reversed(moment.news)))


def in_short(moment: Moment) -> tuple[str, ...]:
    """The same with one line for each replica, or for several that have the same problem, and without news."""
    struck: dict[str, list[Replica]] = {}
    for one in _worst_first(moment):
        if troubles := _troubles(moment, one):
            struck.setdefault(troubles[0], []).append(one)
    lines = list(_unseen(moment))
    for problem, those in struck.items():
        further = max(len(_troubles(moment, one)) for one in those) - 1
        lines.append(f"{_names(those, moment)}{f' (+{further} more)' if further else ''}: {plain(problem)}")
    return tuple(lines)


def _troubles(moment: Moment, replica: Replica) -> tuple[str, ...]:
    """The problems of a replica, also before a question to it has run into its deadline."""
    if replica.problems or reach(moment, replica) != "silent":
        return replica.problems
    times = [age.time for age in replica.samples.values() if age.time is not None]
    return (f"no answer for {span(moment.now - max(times))}",) if times else ()


def _names(those: list[Replica], moment: Moment) -> str:
    if 1 < len(those) == len(moment.frame.replicas):
        return f"all {len(those)} replicas"
    return ", ".join(plain(one.name) for one in those)


def _unseen(moment: Moment) -> Iterator[str]:
    if number := hidden(moment):
        behind = "one server is" if number == 1 else f"{number} servers are"
        yield (
            f"{behind} hidden: {moment.frame.servers_alive} are alive by their leases; name them with --server, or use "
            "a kubeconfig whose user may read the EndpointSlice default/kubernetes"
        )


def _worst_first(moment: Moment) -> list[Replica]:
    return sorted(moment.frame.replicas.values(), key=lambda one: (answers(moment, one), one.name))


def left_out(moment: Moment) -> tuple[str, ...]:
    """What is not asked for now, and why: one line for each endpoint and reason, with the replicas it is true of.

    What a server denies or lacks is among its problems instead, and so is that it does not answer.
    """
    reasons: dict[tuple[str, str], list[str]] = {}
    for name, plan in moment.plans.items():
        replica = moment.frame.replicas.get(name)
        for endpoint, why in plan.left_out.items():
            if (
                replica is not None
                and answers(moment, replica)
                and replica.endpoints.get(endpoint.value) not in REFUSED
            ):
                reasons.setdefault((endpoint.value, why), []).append(plain(name))
    return tuple(f"{endpoint} of {', '.join(names)}: {plain(why)}" for (endpoint, why), names in reasons.items())
