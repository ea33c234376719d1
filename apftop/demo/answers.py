"""What a simulated server answers to a GET: paths to bodies, pure."""

from __future__ import annotations

import gzip
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

from apftop.apf.identity import impersonated_groups
from apftop.demo import documents, dumps, exposition, metrics
from apftop.demo.documents import CALLBACKS, LEASES, PLURALS, SLICES
from apftop.demo.objects import API_VERSION, Json, uid
from apftop.demo.plane import ControlPlane
from apftop.demo.request import Request
from apftop.demo.scenario import Reader
from apftop.demo.server import Server

DUMPS = "/debug/api_priority_and_fairness/"
HEALTH = ("/healthz", "/livez", "/readyz")
TEXT = "text/plain; charset=utf-8"
JSON = "application/json"
TOO_MANY = b"Too many requests, please try again later.\n"
HANDLER_S = {"/metrics": 0.024, f"{DUMPS}dump_queues": 0.005, f"{DUMPS}dump_requests": 0.001}
"""What the handlers of 1.37 take for a reader's questions, as the server's histograms show it; others take 1 ms."""


@dataclass(frozen=True, slots=True)
class Question:
    """A GET: its path, decoded, its query as it was sent and taken apart, and what of its headers counts.

    `who` is the one whom it impersonates, with all groups; None where it is the reader's own.
    """

    path: str
    query: str
    options: Mapping[str, list[str]]
    accept: str
    gzip: bool
    who: Reader | None = None

    @property
    def watches(self) -> bool:
        return self.flag("watch")

    def flag(self, name: str) -> bool:
        """Whether a parameter is set to what counts as true."""
        return self.options.get(name, [""])[0].lower() not in ("", "0", "false", "f")

    def seconds(self, name: str, default: float) -> float:
        """A parameter that is a number of seconds."""
        text = self.options.get(name, [""])[0]
        return float(text) if text.isdecimal() else default


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer. One with `bookmark` goes on: it is a watch, on which such a line may be sent from time to time."""

    status: int
    content_type: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    bookmark: bytes = b""


def question(target: str, headers: Mapping[str, str], groups: tuple[str, ...] = ()) -> Question:
    """The question of a request line's target, of headers by their lower-case names, and of impersonated groups."""
    parts = urlsplit(target)
    options = parse_qs(parts.query, keep_blank_values=True)
    packed = "gzip" in headers.get("accept-encoding", "")
    user = headers.get("impersonate-user")
    who = None if user is None else Reader(user, impersonated_groups(user, groups))
    return Question(unquote(parts.path), parts.query, options, headers.get("accept", ""), packed, who)


def reply(plane: ControlPlane, server: Server, request: Request, asked: Question) -> Reply:
    """The answer to a reader's question that executes or was refused."""
    told = (
        ("Audit-Id", uid("Audit", f"{asked.path}/{server.now}")),
        ("Cache-Control", "no-cache, private"),
        ("Date", time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(server.now // 1_000_000_000))),
        ("X-Kubernetes-Pf-Flowschema-Uid", uid("FlowSchema", request.schema)),
        ("X-Kubernetes-Pf-Prioritylevel-Uid", uid("PriorityLevelConfiguration", request.level)),
    )
    if request.refused:
        wait = ("Retry-After", str(server.retry_after_s(request.level)))
        return Reply(429, TEXT, TOO_MANY, (*told, wait, ("X-Content-Type-Options", "nosniff")))
    made = _body(plane, server, asked)
    return Reply(made.status, made.content_type, made.body, (*told, *made.headers), made.bookmark)


def handler_s(asked: Question) -> float:
    """How long the handler of a question is seen to take, seconds."""
    return HANDLER_S.get(asked.path, 0.001)


def _body(plane: ControlPlane, server: Server, asked: Question) -> Reply:
    match asked.path:
        case "/metrics":
            return _metrics(server, asked)
        case "/debug/api_priority_and_fairness/dump_priority_levels":
            return Reply(200, TEXT, dumps.priority_levels(server))
        case "/debug/api_priority_and_fairness/dump_queues":
            return Reply(200, TEXT, dumps.queues(server))
        case "/debug/api_priority_and_fairness/dump_requests":
            # Only emptiness is tested: `0` and `false` switch the details on as well.
            details = any(asked.options.get("includeRequestDetails", ()))
            return Reply(200, TEXT, dumps.requests(server, details))
        case "/version":
            return _json(documents.version())
        case path if path in HEALTH:
            return Reply(200, TEXT, b"ok")
        case "/apis/flowcontrol.apiserver.k8s.io":
            return _json(documents.group())
        case path if path == LEASES:
            return _json(documents.leases(plane, server.now))
        case path if path == SLICES:
            return _json(documents.endpoint_slices(plane))
        case path if path in CALLBACKS:
            return _json(documents.no_callbacks(path))
        case path if path.removeprefix(f"/apis/{API_VERSION}/") in PLURALS:
            return _objects(plane, path.rpartition("/")[2], asked)
    return Reply(404, TEXT, b"404 page not found\n")


def _metrics(server: Server, asked: Question) -> Reply:
    families = metrics.families(server, asked.options.get("name[]", ()))
    protobuf = "application/vnd.google.protobuf" in asked.accept
    body = exposition.protobuf(families) if protobuf else exposition.text(families)
    headers: tuple[tuple[str, str], ...] = (("Process-Start-Time-Unix", str(server.started_ns // 1_000_000_000)),)
    if asked.gzip:
        body, headers = gzip.compress(body, compresslevel=1, mtime=0), (*headers, ("Content-Encoding", "gzip"))
    return Reply(200, exposition.PROTOBUF if protobuf else exposition.TEXT, body, headers)


def _objects(plane: ControlPlane, plural: str, asked: Question) -> Reply:
    kind, items = PLURALS[plural], documents.configuration(plane, plural)
    if not asked.watches:
        return _json(documents.listed(kind, API_VERSION, items))
    body = b""
    initial = asked.flag("sendInitialEvents")
    if initial or asked.options.get("resourceVersion", [""])[0] in ("", "0"):
        body = b"".join(documents.event("ADDED", item) for item in items)
    if initial and asked.flag("allowWatchBookmarks"):
        body += documents.bookmark(kind, ends_initial=True)
    return Reply(200, JSON, body, bookmark=documents.bookmark(kind))


def _json(document: Json) -> Reply:
    return Reply(200, JSON, documents.encoded(document))
