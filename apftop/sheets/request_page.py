"""The page of one request: where it is, what it takes, who it meets, and when it is to start."""

from __future__ import annotations

from collections.abc import Iterator

from apftop.derive.flows import flow_name, tells_no_flows_apart
from apftop.present import UNKNOWN, plain, seconds, utc
from apftop.records.checks import Start
from apftop.records.frame import Flow, Level, Replica, Request
from apftop.records.measures import NANOSECONDS
from apftop.records.moment import Moment
from apftop.sheets.bands import band
from apftop.sheets.look import Look
from apftop.sheets.page import Entry, Page, Section
from apftop.sheets.requests import Line, lines
from apftop.sheets.sheet import RowKey

NO_OBJECTS = "the objects that deal it are not known"
ASSUMES = (
    "that requests of the same flows and widths go on to come as often as in the last interval, that serving one takes "
    "as long as it did then, that the current limit stays, and that the objects known here are those in force"
)


def page(moment: Moment, look: Look, key: RowKey) -> Page | None:
    """The page of the request of a row; None where the last dump does not have it any more."""
    line = next((line for line in lines(moment, look) if line.key == key), None)
    if line is None:
        return None
    replica, request = line.replica, line.request
    level = replica.levels.get(request.level)
    what = plain(request.kind) or "a request"
    return Page(
        (
            Section(f"{what} of {_or_unknown(request.user)}", tuple(_asked(replica, request))),
            Section("Predicted start", tuple(_start(moment, line))),
            Section("Its work and its times", tuple(_times(replica, request, level))),
            Section("Its flow", tuple(_flow(replica, request, level, moment.frame.redacted))),
        )
    )


def _asked(replica: Replica, request: Request) -> Iterator[Entry]:
    state = "executes" if request.executing else "waits"
    yield "state", f"{state}; it is a question of apftop itself" if request.own else state
    yield "replica", plain(replica.name)
    yield "level", plain(request.level)
    yield "schema", plain(request.schema)
    yield "path", _or_unknown(request.path) if request.path is not None else _without_details()
    if request.executing or request.queue < 0:
        yield "queue", "the level has none" if request.queue < 0 else f"{request.queue}; it has left it"
    else:
        yield "queue", f"{request.queue}, place {request.index}: so many of this queue start before it"


def _without_details() -> str:
    return f"{UNKNOWN} this dump has no details of requests"


def _flow(replica: Replica, request: Request, level: Level | None, redacted: bool) -> Iterator[Entry]:
    """The hand that its flow was dealt, and the flows that may use one of these queues."""
    flow = _flow_of(replica, request, level)
    yield "flow", plain(request.distinguisher) or "none told apart"
    if flow is None:
        why = "flows are shown without apftop's own requests" if request.own else "its flow is not in the dump"
        yield "hand", f"{UNKNOWN} {why}"
        return
    if flow.hand is None:
        config = level.config if level is not None else None
        unkept = redacted and config is not None and config.queuing is not None
        why = "names are pseudonyms, which deal no hand, and none was kept" if unkept else NO_OBJECTS
        yield "hand", f"{UNKNOWN} {why}"
    elif not flow.hand:
        yield "hand", "the level has no queues to choose from"
    else:
        kept = ", kept at redaction" if redacted else ""
        yield "hand", f"{', '.join(map(str, flow.hand))}{kept}: it joins the one of these queues with the least work"
        met = ", ".join(plain(one or "(none)") for one in flow.collides_with)
        yield "shares queues with", met or "none of the flows compared, those with the most requests here"
    executing = UNKNOWN if flow.executing is None else str(flow.executing)
    yield "of this flow", f"{flow.waiting} waiting, {executing} executing"


def _flow_of(replica: Replica, request: Request, level: Level | None) -> Flow | None:
    rows = [one for one in replica.requests or () if one.level == request.level and not one.own]
    name = flow_name(request, flowless=tells_no_flows_apart(rows, level.config if level else None))
    wanted = request.level, request.schema, name
    return next((one for one in replica.flows if (one.level, one.schema, one.flow) == wanted), None)


def _times(replica: Replica, request: Request, level: Level | None) -> Iterator[Entry]:
    yield "initial seats", f"{request.initial_seats}, as the server estimates"
    after = f"held for {plain(request.additional_latency)} after it has ended"
    yield (
        "final seats",
        f"{request.final_seats}, {after}" if request.final_seats else "0: none is held after it has ended",
    )
    yield "arrived", f"{utc(request.arrive_ns / NANOSECONDS)}, by the server's clock"
    no_clock = f"{UNKNOWN} the server's clock at the dump is not known: {plain(replica.clock.known_from)}"
    yield "age at the dump", no_clock if request.age_s is None else seconds(request.age_s)
    limit = level.waits.limit if level is not None and level.waits is not None else None
    if request.executing:
        exact = f"{UNKNOWN} this dump does not say when it began to execute"
        yield "waited", exact if request.wait_s is None else f"{seconds(request.wait_s)}, exactly"
        yield "executes for", no_clock if request.executing_s is None else seconds(request.executing_s)
    elif limit is None:
        yield "wait limit", f"{UNKNOWN} no waits of the level were counted in a window yet"
    else:
        yield "wait limit", f"{seconds(limit.seconds)}, assumed from {plain(limit.assumed_from)}"


def _start(moment: Moment, line: Line) -> Iterator[Entry]:
    if line.request.executing:
        yield "start", "it has started"
        return
    found = moment.checks.get(line.replica.name)
    checks = found.levels.get(line.request.level) if found is not None else None
    if line.start is None:
        yield "start", f"{UNKNOWN} {_why_not(bool(checks and checks.starts), line.request)}"
        return
    yield "start", _in_words(line.start)
    yield "runs", f"{line.start.runs} runs of the model, each {seconds(line.start.by_s)} long"
    yield "assumes", ASSUMES


def _why_not(simulated: bool, request: Request) -> str:
    if request.own:
        return "apftop's own requests are not followed"
    if simulated:
        return "it was not in the dump that the last runs began with"
    return (
        "the level was not simulated: that takes a dump of requests next to metrics, its object, and waiting requests"
    )


def _in_words(start: Start) -> str:
    if start.after_s is None:
        return f"not within {seconds(start.by_s)} of the dump that the runs began with, in most of them"
    ends, middle = band(start.after_s.low, start.after_s.high), seconds(start.after_s.middle)
    return f"{ends} after the dump that the runs began with, in nine of ten of them; median {middle}"


def _or_unknown(text: str | None) -> str:
    return UNKNOWN if text is None else plain(text)
