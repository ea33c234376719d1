"""An examination as text of 80 columns, the YAML that helps at its end."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from apftop.doctor.examination import ANONYMOUS, Answer, Examination, Examined
from apftop.doctor.grants import grant, missing
from apftop.present import UNKNOWN, percent, plain, seconds, size, utc
from apftop.records.raw import Endpoint
from apftop.report.looking import Servers

WIDTH = 80
REFUSALS = {401: "not accepted", 403: "denied", 404: "not there", 429: "too many requests"}
NAMES = {
    "dump_priority_levels": "levels dump",
    "dump_queues": "queues dump",
    "dump_requests": "requests dump",
    "webhooks_validating": "validating",
    "webhooks_mutating": "mutating",
    "webhooks_apiservices": "apiservices",
}


def text(found: Examination, at: Servers, who: str) -> str:
    """The whole of it."""
    lines = [*_head(found, at, who)]
    for server in found.servers:
        lines += ["", *_server(server)]
    lines += _rules(found.servers)
    lines += ["", *_end(found)]
    return "\n".join(lines) + "\n"


def _head(found: Examination, at: Servers, who: str) -> Iterator[str]:
    yield from _item("looked at", at.source, indent="")
    yield from _item("asks with", who, indent="")
    users = sorted({server.user for server in found.servers if server.user})
    yield from _item("known as", ", ".join(users) or "not told: no refusal, and no dump of requests", indent="")
    yield from _item("replicas", _replicas(found, at), indent="")
    for note in at.notes:
        yield from _item("", note, indent="")


def _replicas(found: Examination, at: Servers) -> str:
    how = "named by hand" if at.way is None else "found by EndpointSlice" if at.found else "the URL only"
    known = f"{len(found.servers)} ({how})"
    if found.alive is None:
        leases = found.leases
        why = "not asked" if leases is None else leases.error or f"status {leases.status}"
        return f"{known}; how many there are is not known: leases {why}"
    if not found.hidden:
        return f"{known}, {found.alive} alive by their leases"
    seen = found.alive - found.hidden
    way = "; the URL leads to one of them, or to a load balancer" if seen == 1 and at.way else ""
    return f"{known}, {seen} of {found.alive} that are alive by their leases{way}; name all with --server"


def _server(server: Examined) -> Iterator[str]:
    replica = server.replica
    kind = "not a kube-apiserver: mandatory levels only" if replica.kind == "extension" else ""
    started = f"started {utc(replica.started)}" if replica.started is not None else ""
    heading = (replica.name, server.version or "version unknown", started, kind)
    yield from _wrapped("  ".join(filter(None, heading)), "", "  ")
    yield from _item("url", server.access.url)
    yield from _item("tls", _tls(server))
    yield from _item("clock", _clock(server))
    yield from _item("own", _own(server))
    yield from _item("polling", _polling(server))
    if replica.version is not None and replica.borrowing != "ok":
        nan = f": NaN demand on {', '.join(replica.nan_levels)}" if replica.nan_levels else ""
        yield from _item("borrowing", f"{replica.borrowing}{nan}")
    if replica.cannot_fill:
        yield from _item("lacks", f"{', '.join(replica.cannot_fill)}: not exposed by this server")
    newer = (*replica.unknown_families, *replica.unknown_columns)
    if newer:
        yield from _item("newer", f"{', '.join(newer)}: newer than this apftop, not used")
    yield ""
    yield f"  {'ASKED':<14} {'STATUS':>6} {'FIRST BYTE':>10} {'WHOLE':>7} {'BYTES':>7}  FORMAT"
    for answer in server.answers:
        yield _answer(answer)
    for problem in (*server.problems, *((server.advice,) if server.advice else ())):
        yield from _wrapped(problem, "  ! ", "    ")


def _answer(answer: Answer) -> str:
    name = NAMES.get(answer.endpoint.value, answer.endpoint.value)
    status = UNKNOWN if answer.status is None else str(answer.status)
    named = {True: ", name[] honoured", False: ", name[] ignored", None: ""}[answer.by_name]
    refused = "no usable answer" if answer.error else REFUSALS.get(answer.status or 0, "not read")
    form = (plain(answer.form, 11) or UNKNOWN) + named if answer.good else refused
    return (
        f"  {name:<14} {status:>6} {seconds(answer.first_byte_s):>10} {seconds(answer.whole_s):>7} "
        f"{size(answer.wire_bytes):>7}  {form}"
    )


def _tls(server: Examined) -> str:
    access, peer = server.access, server.replica.peer
    if urlsplit(access.url).scheme == "http":
        return "none: plain HTTP on loopback"
    name = access.server_hostname or urlsplit(access.url).hostname or ""
    if not peer:
        return f"no connection as {name}"
    if access.insecure:
        return f"NOT verified, certificate {peer[:16]}"
    return f"verified as {name}, certificate {peer[:16]}"


def _clock(server: Examined) -> str:
    clock = server.replica.clock
    if clock.skew_s is None:
        return f"not known: {clock.known_from}"
    side = "behind" if clock.skew_s > 0 else "ahead of"
    bound = f", give or take {seconds(clock.tolerance_s)}" if clock.tolerance_s else ""
    return f"{seconds(abs(clock.skew_s))} {side} this machine's{bound} (by {clock.known_from})"


def _own(server: Examined) -> str:
    own = server.replica.own
    if not own.sent:
        return "not known in which level own requests run: no answer says so"
    level = server.replica.levels.get(own.level or "")
    state = f" ({level.state})" if level is not None else ""
    return (
        f"schema {own.schema or 'unknown'}, level {own.level or 'unknown'}{state}; {own.sent} requests, "
        f"{own.rejected} refused"
    )


def _polling(server: Examined) -> str:
    plan = server.plan
    share = plan.cost_share
    cost = "a share not known" if share is None else percent(share) if share >= 0.001 else "under 0.1%"
    size_s = "not known how many bytes" if server.bytes_per_s is None else f"{size(server.bytes_per_s)}/s"
    pace = ", ".join(f"{endpoint} each {every_s:g} s" for endpoint, every_s in plan.every_s.items())
    pace += "".join(f", {endpoint} with the metrics" for endpoint in plan.with_metrics)
    if Endpoint.REQUESTS not in plan.every_s:
        pace += "; dump_requests and dump_queues only while something waits, or a view shows them"
    left = "".join(f"; {endpoint}: {why}" for endpoint, why in plan.left_out.items())
    return f"by estimate {size_s}, and {cost} of a core of the server: {pace}{left}"


def _rules(servers: Iterable[Examined]) -> Iterator[str]:
    """What numbers mean by release: once for each release, however many replicas run it."""
    by_version: dict[str, tuple[str, ...]] = {}
    for server in servers:
        if server.replica.corrections:
            by_version.setdefault(server.version or "", server.replica.corrections)
    for version, rules in by_version.items():
        yield ""
        yield f"what holds in {plain(version)}"
        for rule in rules:
            yield from _wrapped(rule, "  - ", "    ")


def _end(found: Examination) -> Iterator[str]:
    lost = missing(found)
    if not lost:
        yield "all that was asked could be read" if found.well else "not all could be reached or read: see above"
        return
    needs = grant(found)
    if not needs:
        yield from _wrapped(
            f"denied: {', '.join(lost)}. The server takes this tool for {ANONYMOUS}: it needs credentials first"
        )
        return
    yield from _wrapped(f"denied: {', '.join(lost)}. This grants it (check the subject first):")
    yield ""
    yield needs.rstrip("\n")


def _item(label: str, said: str, indent: str = "  ") -> list[str]:
    head = f"{indent}{label:<10} "
    return _wrapped(said, head, " " * len(head))


def _wrapped(said: str, first: str = "", further: str = "") -> list[str]:
    """Text of any origin in lines that fit."""
    return textwrap.wrap(plain(said), WIDTH, initial_indent=first, subsequent_indent=further, break_on_hyphens=False)
