"""Answers of servers under other names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from apftop.apf.builtins import mandatory_schema
from apftop.apf.objects import CATCH_ALL, EXEMPT
from apftop.http_text import http_date
from apftop.parse.body import is_protobuf
from apftop.parse.metrics import parse_metrics
from apftop.parse.objects import parse_objects, schemas_of
from apftop.records.parsed import ParseError, RequestRow
from apftop.records.raw import (
    CALLBACKS,
    EXPOSITIONS,
    FLOW_SCHEMA_UID,
    LEVEL_UID,
    OBJECTS,
    PROCESS_START,
    Endpoint,
    Sample,
)
from apftop.redacting import dumps, words
from apftop.redacting.dumps import Told, Whose
from apftop.redacting.leases import leases
from apftop.redacting.metrics_proto import metrics_proto
from apftop.redacting.metrics_text import metrics_text
from apftop.redacting.objects import objects
from apftop.redacting.pseudonyms import Kind, Naming

UNREAD = "the answer cannot be read, and was left out when names were replaced"
UNTOLD = "no answer; why was left out when names were replaced"
_ERROR = re.compile(
    r"(?:proxy answered \d{3}|proxy: [a-z ]+|no connection in [\d.]+ s|name not found|TLS: [a-z ]+|"
    r"silent for [\d.]+ s after [\d.]+ \w+|no answer in [\d.]+ s|not complete in [\d.]+ s \([\d.]+ \w+ came\)|"
    r"connection (?:closed|reset|refused|timed out)[a-z ]*(?:[\d.]+ \w+)?|the answer is not HTTP|"
    r"network is unreachable|no route to host)(?=: |\Z)"
)
_TYPE = re.compile(
    r"(?:text/plain|text/html|application/(?:json|yaml|openmetrics-text|vnd\.google\.protobuf|vnd\.kubernetes\.protobuf))"
    r"(?:; ?(?:version=[0-9.]{1,12}|charset=(?i:utf-8)|proto=io\.prometheus\.client\.MetricFamily|"
    r"encoding=(?:delimited|text)|escaping=(?:allow-utf-8|underscores|dots|values)))*"
)
_FILE = re.compile(r"[a-z_]+(?:_t[0-9]+)?(?:\.[a-z]{1,5})?")


@dataclass(frozen=True, slots=True)
class Renamed:
    """Answers under other names, and a line for each answer of which something was left out."""

    samples: tuple[Sample, ...]
    left_out: tuple[str, ...]


def renamed(samples: Sequence[Sample], naming: Naming) -> Renamed:
    """All answers under other names; of refusals and errors only the status and what headers tell of flow control."""
    whose = distinguished(samples)
    made: list[Sample] = []
    left: list[str] = []
    for sample in samples:
        one, told = _sample(sample, naming, whose)
        made.append(one)
        left += [f"{one.replica}: {one.origin or one.endpoint}: {line}" for line in told]
    return Renamed(tuple(made), tuple(left))


def distinguished(samples: Sequence[Sample]) -> Whose:
    """By what the flows of a row's schema are told apart, as far as any objects tell."""
    known: dict[str, str] = {name: mandatory_schema(name).distinguisher or "" for name in (EXEMPT, CATCH_ALL)}
    for sample in samples:
        if sample.endpoint is Endpoint.SCHEMAS and sample.ok:
            try:
                known |= {one.name: one.distinguisher or "" for one in schemas_of(parse_objects(sample.body))}
            except ParseError:
                continue

    def whose(row: RequestRow) -> str:
        return known.get(row.schema, "")

    return whose


def _sample(sample: Sample, naming: Naming, whose: Whose) -> tuple[Sample, tuple[str, ...]]:
    bare = replace(
        sample,
        replica=naming(Kind.SERVER, sample.replica),
        body=b"",
        error=_error(sample.error),
        content_type=_type(sample.content_type),
        headers=tuple((name, told) for name, value in sample.headers if (told := _header(name, value, naming))),
        origin=_origin(sample.origin, naming),
        peer=naming(Kind.PEER, sample.peer),
        wire_bytes=len(sample.body) if sample.wire_bytes is None else sample.wire_bytes,
        whole_bytes=len(sample.body) if sample.whole_bytes is None else sample.whole_bytes,
    )
    if not sample.ok:
        return bare, ("what was answered in place of it",) if sample.body else ()
    if not sample.body or sample.endpoint is Endpoint.DISCOVERY:
        return bare, ()
    try:
        body, left = _body(sample, naming, whose)
    except ValueError:
        return replace(bare, error=UNREAD), ("it cannot be read",)
    return replace(bare, body=body), left


def _body(sample: Sample, naming: Naming, whose: Whose) -> Told:
    """The body under other names. Raises ValueError where it cannot be read."""
    if sample.endpoint in EXPOSITIONS:
        return _metrics(sample, naming)
    if sample.endpoint is Endpoint.REQUESTS:
        return dumps.requests(sample.body, naming, whose)
    if sample.endpoint is Endpoint.LEASES:
        return leases(sample.body, naming), ()
    return _BODIES[sample.endpoint](sample.body, naming)


_BODIES: Mapping[Endpoint, Callable[[bytes, Naming], Told]] = {
    Endpoint.LEVELS: dumps.levels,
    Endpoint.QUEUES: dumps.queues,
    **dict.fromkeys((*OBJECTS, *CALLBACKS, Endpoint.WEBHOOKS), objects),
}


def _metrics(sample: Sample, naming: Naming) -> Told:
    parse_metrics(sample.body, sample.content_type)
    if "protobuf" in sample.content_type or is_protobuf(sample.body):
        return metrics_proto(sample.body, naming), ()
    body, left = metrics_text(sample.body, naming)
    return body, (f"{left} lines that cannot be read",) if left else ()


def _header(name: str, value: str, naming: Naming) -> str:
    """The value of a header that is kept; empty for one that says nothing that it should."""
    match name:
        case "date":
            return value if http_date(value) is not None and len(value) < 40 else ""
        case "content-type":
            return _type(value)
        case "retry-after":
            return value if value.isdecimal() else ""
        case _ if name == PROCESS_START:
            return value if value.isdecimal() else ""
        case _ if name in (FLOW_SCHEMA_UID, LEVEL_UID):
            return naming(Kind.UID, value)
    return ""


def _type(text: str) -> str:
    found = _TYPE.match(text)
    return found[0] if found else ""


def _error(text: str) -> str:
    """What went wrong, without where; nothing of what is not known by heart."""
    if not text:
        return ""
    found = _ERROR.match(text)
    return found[0] if found else UNTOLD


def _origin(text: str, naming: Naming) -> str:
    """The file that an answer was read from, and of http.json the request."""
    if not text:
        return ""
    file, colon, request = text.partition(": ")
    parts = PurePosixPath(file).parts
    names = [one for one in parts[-2:] if one == "http" or _FILE.fullmatch(one)] or ["file"]
    inner = "/".join(names[-1:] if len(names) < 2 or names[0] != "http" else names)
    where = f"replicas/{naming(Kind.SERVER, parts[1])}/{inner}" if parts[0] == "replicas" and len(parts) > 2 else inner
    if not colon:
        return where
    method, _, path = request.partition(" ")
    verb = words.verb(method, naming) if path else "GET"
    return f"{where}: {verb} {words.path((path or method).partition('?')[0], naming)}"
