"""Lines of logs with other names: those that apftop reads are written anew in one form, all others are left out."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote, unquote

import msgspec

from apftop.logs import access, audit
from apftop.logs.denials import DENIED, GROUP
from apftop.logs.in_bundle import Kind as LogKind
from apftop.logs.throttled import GIVEN_UP, REFUSED, wait_of
from apftop.logs.words import pairs
from apftop.redacting import words
from apftop.redacting.pseudonyms import Kind, Naming, staying

_CLOCK = re.compile(r'[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} |"ts":\s*\d{9,}(?:\.\d+)?')
_MEASURE = re.compile(
    r"[+-]?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?|-?(?:[0-9]+(?:\.[0-9]+)?(?:[munµ]s|[hms])){1,4}|true|false"
)
_STAGES = ("RequestReceived", "ResponseStarted", "ResponseComplete", "Panic")
_KEPT = ("resp", "hijacked", "latency", "apf_execution_time", "fl_priorityandfairness", "apf_iseats", "apf_fseats")
Line = Callable[[bytes, Naming], str | None]
"""A line to the same under other names; None where it says nothing that is read."""


def client_line(raw: bytes, naming: Naming) -> str | None:
    """A line in which client-go says that it waits, or that it gave up."""
    line = raw.decode("utf-8", "replace")
    head = _head(line)
    if GIVEN_UP.search(line):
        return f"{head}client rate limiter: rate: Wait(n=1) would exceed context deadline"
    wait = wait_of(line)
    if wait is None:
        return None
    method, _, path = wait.request.partition(" ")
    method = method if method.lower() in staying(Kind.VERB) else "GET"
    request = f"request: {method}:https://server{quote(words.path(path, naming))}"
    took = f"Waited for {round(wait.seconds * 1e9)}ns"
    if not wait.reason:
        return f"{head}{took} due to client-side throttling, not priority and fairness, {request}"
    refused = REFUSED.search(wait.reason)
    why = f'due to server-side throttling, FlowSchema UID: "{naming(Kind.UID, refused[1])}"' if refused else "not told"
    return f"{head}{took}, retries: 1, retry-after: 1s - retry-reason: {why} - {request}"


def server_line(raw: bytes, naming: Naming) -> str | None:
    """An audit event, a line of the access log, or one that says that the APF objects may not be listed."""
    if b'"auditID"' in raw:
        try:
            found = audit.events(raw[max(0, raw.find(b"{")) :])
        except ValueError:
            return None
        return "\n".join(msgspec.json.encode(_event(one, naming)).decode() for one in found)
    line = raw.decode("utf-8", "replace")
    if access.is_access(raw):
        return _access(line, naming) if access.entry(line) is not None else None
    denied = DENIED.search(line) if GROUP in raw else None
    if denied is None:
        return None
    user = words.user(denied[1], naming)
    where = 'in API group "flowcontrol.apiserver.k8s.io" at the cluster scope'
    return f'{_head(line)}User "{user}" cannot list resource "{denied[2]}" {where}'


LINES: dict[LogKind, Line] = {"client": client_line, "audit": server_line, "server": server_line}


def log(body: bytes, kind: LogKind, naming: Naming) -> tuple[bytes, int]:
    """A log under other names, and how many of its lines were left out."""
    made: list[str] = []
    left = 0
    for raw in body.splitlines():
        line = LINES[kind](raw, naming)
        if line is None:
            left += bool(raw.strip())
        else:
            made.append(f"{line}\n")
    return "".join(made).encode(), left


def _head(line: str) -> str:
    """The clock of a line, as far as there is one, in klog's layout."""
    found = _CLOCK.search(line)
    if found is None:
        return ""
    return f"{found[0]}      1 log.go:1] " if found[0][0] in "IWEF" else f"{{{found[0]}}} "


def _event(event: audit.Event, naming: Naming) -> dict[str, object]:
    about, status = event.object_ref, event.response_status
    path, _, _ = event.request_uri.partition("?")
    made: dict[str, object] = {
        "auditID": naming(Kind.UID, event.audit_id),
        "stage": event.stage if event.stage in _STAGES else "",
        "verb": words.verb(event.verb, naming),
        "requestURI": quote(words.path(unquote(path), naming)),
        "user": {"username": words.user(event.user.username, naming)},
        "sourceIPs": [naming(Kind.ADDRESS, one) for one in event.source_ips or ()],
        "userAgent": naming(Kind.AGENT, event.user_agent),
    }
    if event.impersonated_user is not None:
        made["impersonatedUser"] = {"username": words.user(event.impersonated_user.username, naming)}
    if about is not None:
        made["objectRef"] = {
            "resource": naming(Kind.RESOURCE, about.resource),
            "subresource": naming(Kind.SUBRESOURCE, about.subresource),
        }
    if status is not None:
        known = status.message in ("", audit.REFUSAL)
        made["responseStatus"] = {"code": status.code, "message": status.message if known else "(left out)"}
    waited = (event.annotations or {}).get(audit.QUEUE_WAIT, "")
    if _MEASURE.fullmatch(waited):
        made["annotations"] = {audit.QUEUE_WAIT: waited}
    if event.request_received_timestamp is not None:
        made["requestReceivedTimestamp"] = event.request_received_timestamp
    return made


def _access(line: str, naming: Naming) -> str:
    said = pairs(line)
    path = unquote(said["URI"].partition("?")[0])
    source = said["srcIP"].rpartition(":")[0].strip("[]")
    made = {
        "verb": words.verb(said["verb"], naming),
        "URI": quote(words.path(path, naming)),
        "userAgent": naming(Kind.AGENT, said.get("userAgent", "")),
        "srcIP": f"{naming(Kind.ADDRESS, source)}:0",
    }
    made |= {key: said[key] for key in _KEPT if _MEASURE.fullmatch(said.get(key, ""))}
    if "apf_fs" in said:
        made["apf_fs"] = naming(Kind.SCHEMA, said["apf_fs"])
    if "apf_pl" in said:
        made["apf_pl"] = naming(Kind.LEVEL, said["apf_pl"])
    return f'{_head(line)}"HTTP" ' + " ".join(f'{key}="{value}"' for key, value in made.items())
