"""Lines of the access log of API servers (`-v=3` and above) to requests."""

from __future__ import annotations

from urllib.parse import unquote

from apftop.apf.request_path import path_parts
from apftop.logs.callers import Entry
from apftop.logs.words import clock, duration, pairs

_VERBS = {"post": "create", "put": "update", "apply": "patch"}
_NEEDED = {"verb", "URI", "srcIP"}


def is_access(raw: bytes) -> bool:
    """Whether a line is one of the access log."""
    return b'"HTTP"' in raw and b"verb" in raw


def entry(line: str) -> Entry | None:
    """One request; None for a line that is torn. The log does not tell users."""
    said = pairs(line)
    if not said.keys() >= _NEEDED or not said.keys() & {"resp", "hijacked"}:
        return None
    path = unquote(said["URI"].partition("?")[0])
    about = path_parts(path)
    return Entry(
        "",
        said.get("userAgent", ""),
        said["srcIP"].rpartition(":")[0].strip("[]"),
        _kind(said["verb"].lower(), path),
        # What was let through, such as an eviction that a disruption budget forbids, has an execution time.
        said.get("resp") == "429" and "apf_execution_time" not in said and about.subresource != "eviction",
        said.get("apf_fs", ""),
        said.get("apf_pl", ""),
        # Only told above 100 ms; the filter's time is that of the queue but for microseconds.
        duration(said.get("fl_priorityandfairness", "")),
        clock(line),
    )


def _kind(verb: str, path: str) -> str:
    """Verb and resource, where the log has the verbs of metrics: POST for create, DELETE for a whole collection too."""
    about = path_parts(path)
    if not about.resource:
        return f"{verb} {path}"
    verb = _VERBS.get(verb, verb)
    if verb == "delete" and not about.name:
        verb = "deletecollection"
    return f"{verb} {about.resource}/{about.subresource}" if about.subresource else f"{verb} {about.resource}"
