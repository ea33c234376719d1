"""What a page shows of one moment, table by table: levels, servers, schemas, clients, requests, queues, checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from apftop.present import UNKNOWN, plain, seconds, span, whole
from apftop.records.checks import ReplicaChecks
from apftop.records.frame import Flow, Replica
from apftop.records.moment import Moment
from apftop.report.asked import asked_lines
from apftop.report.checks import check_lines
from apftop.report.html_parts import Markup, block, element, joined, listed, sheet_table, table
from apftop.report.level_columns import MORE_COLUMNS, columns_of
from apftop.report.logs import MOST_CALLERS
from apftop.report.look import Look
from apftop.report.text import ABSENT, heading, problems, remarks, totals
from apftop.sheets import look as looking
from apftop.sheets.views import sheet

MOST_ROWS = {
    looking.View.REPLICAS: 200,
    looking.View.SCHEMAS: 200,
    looking.View.CLIENTS: 100,
    looking.View.REQUESTS: 200,
    looking.View.QUEUES: 100,
    looking.View.CHECKS: 100,
}
MOST_FLOWS = 100
MOST_KINDS = 3

Part = tuple[str, str, Markup]
"""The id of a section, its title, and what is in it."""


def sections_now(look: Look) -> Iterator[Part]:
    """The sections in order; those that have nothing to show are empty."""
    times = [age.time for one in look.frame.replicas.values() for age in one.samples.values() if age.time is not None]
    now = max((time for time in (look.t1, *times) if time is not None), default=0.0)
    moment = Moment(look.frame, 1, look.source, now, checks=look.checks, findings=look.found)
    yield "levels", "Priority levels", _levels(look)
    if look.classified:
        yield "asked", "Requests in question", block(asked_lines(look.classified))
    yield "servers", "API servers", _view(moment, looking.View.REPLICAS, "API servers")
    if not look.frame.replicas:
        return
    yield "schemas", "Flow schemas", _view(moment, looking.View.SCHEMAS, "Flow schemas")
    yield "clients", "Clients", _view(moment, looking.View.CLIENTS, "Who asks, by the dump of requests")
    yield "flows", "Flows", _flows(look)
    yield "requests", "Requests", _view(moment, looking.View.REQUESTS, "Requests that wait and execute")
    yield "queues", "Queues", _view(moment, looking.View.QUEUES, "Queues in which anything happens", hide_idle=True)
    yield (
        "checks",
        "Checks",
        joined((_tally(look), _view(moment, looking.View.CHECKS, "Checks, those that are off first"))),
    )
    yield "logs", "Logs", _logs(look)


def _view(moment: Moment, view: looking.View, caption: str, *, hide_idle: bool = False) -> Markup:
    shown = looking.Look(view, hide_idle=hide_idle)
    return sheet_table(sheet(moment, shown), caption, MOST_ROWS[view])


def _levels(look: Look) -> Markup:
    told = [
        joined(_of_replica(replica, look.checks.get(name, ReplicaChecks())))
        for name, replica in look.frame.replicas.items()
    ]
    if len(look.frame.replicas) > 1:
        told += [element("h3", "All servers"), listed(line.strip() for line in totals(look.frame))]
    return joined(told)


def _of_replica(replica: Replica, checks: ReplicaChecks) -> Iterator[Markup]:
    name, *others = heading(replica)
    yield element("h3", plain(name, 200))
    yield element("p", " · ".join(others), class_="dim")
    yield listed(problems(replica))
    if replica.apf == "absent":
        yield element("p", ABSENT)
        return
    if replica.levels:
        columns = (*columns_of(checks), *MORE_COLUMNS)
        yield table(
            f"Priority levels of {plain(name, 200)}",
            [one.title for one in columns],
            [[one.cell(level) for one in columns] for level in replica.levels.values()],
            left=frozenset(at for at, one in enumerate(columns) if one.left),
            helps=[one.help for one in columns],
        )
    yield listed(line for level in replica.levels.values() for line in remarks(level))
    yield listed(check_lines(checks))


def _flows(look: Look) -> Markup:
    """The heaviest flows of all servers."""
    found = sorted(
        ((replica.name, flow) for replica in look.frame.replicas.values() for flow in replica.flows),
        key=lambda pair: -(pair[1].waiting + (pair[1].seats or 0)),
    )
    if not found:
        return Markup()
    titles = (
        "FLOW",
        "SCHEMA",
        "LEVEL",
        "REPLICA",
        "WAITING",
        "EXEC",
        "SEATS",
        "QUEUES OF ITS HAND",
        "SHARES THEM WITH",
        "WHAT",
    )
    rows = [(plain(flow.flow, 80) or "(none)", *_cells(name, flow)) for name, flow in found[:MOST_FLOWS]]
    made = table("Flows that have requests, heaviest first", titles, rows, left=frozenset((0, 1, 2, 3, 7, 8, 9)))
    left_out = len(found) - MOST_FLOWS
    told = (
        element("p", f"{left_out} more of {len(found)} flows are left out.", class_="dim") if left_out > 0 else Markup()
    )
    return joined((made, told))


def _cells(replica: str, flow: Flow) -> tuple[str, ...]:
    kinds = ", ".join(f"{kind} {number}" for kind, number in list(flow.by_kind.items())[:MOST_KINDS])
    return (
        plain(flow.schema, 80),
        plain(flow.level, 80),
        plain(replica, 80),
        whole(flow.waiting),
        whole(flow.executing),
        whole(flow.seats),
        UNKNOWN if flow.hand is None else ", ".join(map(str, flow.hand)),
        ", ".join(plain(one, 60) for one in flow.collides_with[:MOST_KINDS])
        + (f" and {len(flow.collides_with) - MOST_KINDS} more" if len(flow.collides_with) > MOST_KINDS else ""),
        plain(kinds, 200),
    )


def _tally(look: Look) -> Markup:
    """How many checks came out how."""
    all_ = [
        check
        for one in look.checks.values()
        for check in (*one.checks, *(check for level in one.levels.values() for check in level.checks))
    ]
    if not all_:
        return Markup()
    numbers = Counter(check.verdict for check in all_)
    return element("p", f"{numbers['off']} off, {numbers['ok']} ok, {numbers['unknown']} unknown")


def _logs(look: Look) -> Markup:
    """Who asked by the logs that were given, and what a client log says of its own limiter."""
    logs, told = look.logs, list[Markup]()
    if (client := logs.client) is not None:
        waits = f"{seconds(client.sum_wait_s)} in all, at most {seconds(client.max_wait_s)}"
        told.append(element("p", f"client log: {client.lines} requests were held back by their own client: {waits}"))
    if logs.callers:
        titles = (
            "USER",
            "USER AGENT",
            "ADDRESS",
            "SCHEMA",
            "LEVEL",
            "REQUESTS",
            "REFUSED",
            "QUEUED",
            "LONGEST",
            "WHAT",
        )
        rows = [
            (
                plain(one.user, 80) or UNKNOWN,
                plain(one.user_agent, 80) or UNKNOWN,
                plain(one.source, 60) or UNKNOWN,
                plain(one.schema, 80) or UNKNOWN,
                plain(one.level, 80) or UNKNOWN,
                whole(one.requests),
                whole(one.refused),
                whole(one.queued),
                seconds(one.max_queued_s) if one.queued else "",
                plain(
                    ", ".join(f"{kind} {number}" for kind, number in Counter(one.kinds).most_common(MOST_KINDS)), 200
                ),
            )
            for one in logs.callers[:MOST_CALLERS]
        ]
        caption = f"Callers by the logs: {logs.entries} requests over {span(logs.seconds)}"
        told.append(table(caption, titles, rows, left=frozenset((0, 1, 2, 3, 4, 9))))
        if len(logs.callers) > MOST_CALLERS:
            line = f"{len(logs.callers) - MOST_CALLERS} more of {len(logs.callers)} callers are left out."
            told.append(element("p", line, class_="dim"))
    told.append(
        listed(
            f"{plain(one.user, 80)} may not list {plain(one.resource, 80)}: {one.lines} lines" for one in logs.denied
        )
    )
    return joined(told)
