"""Rows of dump_requests read by their structure, where a field moved the cells away from the header's offsets.

A tab in a field starts a new cell for the server's table writer, a newline ends the row and with it the alignment of
all rows below, and a byte 0xff stops the alignment altogether. A row counts only if exactly one reading agrees with
itself: what the path says about the resource, and the distinguisher being the user, the namespace or nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from apftop.apf.request_path import path_parts
from apftop.parse.table import Misaligned
from apftop.records.parsed import Details

LEFT = ("PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue")
DISTINGUISHERS = ("FlowDistingsher", "FlowDistinguisher")
DETAILS = ("UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource")

_RESOURCE_VERBS = (
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
    "proxy",
    "connect",
)
_VERBS = frozenset((*_RESOURCE_VERBS, "head", "post", "put", "options", "trace"))
_INTEGER = re.compile(r"-?[0-9]+")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(?:Z|[+-][0-9:]+)")
_CORE = {
    "ArriveTime": _TIME,
    "InitialSeats": _INTEGER,
    "FinalSeats": _INTEGER,
    "AdditionalLatency": re.compile(r"-?[0-9][0-9.hmsnuµμ]*s"),
    "StartTime": _TIME,
}
_START = re.compile(r"(?:[a-z0-9][a-z0-9.-]*,[ \t]+){2}-?[0-9]+,[ \t]+-?[0-9]+,")
_GAP = re.compile(r",(?:[ \t]+|(?=\n)|\Z)")
_BLANKS = re.compile(r"\s+")
_MOST_PIECES = 64
_UNALIGNED = "\udcff"
"""The byte 0xff as decoded: it switches the alignment off, or on again, so that its own line has both kinds."""

Span = tuple[int, int]


def starts_row(line: str) -> bool:
    """Whether a line begins with a level, a schema and two indexes."""
    return _START.match(line) is not None


def read_structure(text: str, columns: tuple[str, ...]) -> list[str]:
    """The cells of one row, which may span several lines; raises Misaligned unless exactly one reading fits.

    Where a tab stood in a field there are blanks, as the server wrote; leading blanks of a field are lost.
    """
    if _UNALIGNED not in text and text.count(",\t") == len(columns) - 1:
        return text.split(",\t")
    core, details = _layout(columns)
    text = text.rstrip(" \t\r")
    pieces = _pieces(text)
    if len(pieces) > _MOST_PIECES:
        raise Misaligned(f"{len(pieces) - 1} commas")
    cells = [text[start:end] for start, end in pieces]
    found: list[list[str]] = []
    for first in range(5, len(cells) - len(core) + 1):
        after = first + len(core)
        if not all(_CORE[name].fullmatch(cell) for name, cell in zip(core, cells[first:after], strict=True)):
            continue
        fixed = [*cells[:4], _between(text, pieces, 4, first), *cells[first:after]]
        if details:
            found += [fixed + rest for rest in _details(text, pieces, cells, after, fixed[4])]
        elif after == len(cells):
            found.append(fixed)
    if len(found) != 1:
        raise Misaligned("the cells do not start at the header's offsets, and " + _count(len(found)))
    return found[0]


def agrees(details: Details, distinguisher: str) -> bool:
    """Whether the path says the same as the other details, and the distinguisher is one of them or empty."""
    parts = path_parts(_plain(details.path))
    name = _plain(details.name)
    selected = parts.name == "" and parts.resource != "" and details.verb in ("list", "watch")
    return (
        _plain(parts.namespace) == _plain(details.namespace)
        and (_plain(parts.name) == name or selected)
        and parts.api_version == details.api_version
        and parts.resource == details.resource
        and _plain(parts.subresource) == _plain(details.subresource)
        and _plain(distinguisher) in ("", _plain(details.user), _plain(details.namespace))
    )


def _layout(columns: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    details = columns[-len(DETAILS) :] == DETAILS
    core = columns[5 : -len(DETAILS)] if details else columns[5:]
    known = tuple(name for name in _CORE if name in core)
    if columns[:4] != LEFT or columns[4] not in DISTINGUISHERS or core != known or "ArriveTime" not in core:
        raise Misaligned("the cells do not start at the header's offsets, and the columns are not known ones")
    return core, details


def _pieces(text: str) -> list[Span]:
    spans: list[Span] = []
    start = 0
    for gap in _GAP.finditer(text):
        spans.append((start, gap.start()))
        start = gap.end()
    spans.append((start, len(text)))
    return spans


def _between(text: str, pieces: list[Span], first: int, after: int) -> str:
    return text[pieces[first][0] : pieces[after - 1][1]]


def _details(text: str, pieces: list[Span], cells: list[str], first: int, distinguisher: str) -> Iterator[list[str]]:
    right = len(cells) - 3
    for verb in range(first + 1, right - 3):
        if cells[verb] not in _VERBS or not cells[verb + 1].startswith("/"):
            continue
        for namespace in range(verb + 2, right - 1):
            rest = [
                _between(text, pieces, first, verb),
                cells[verb],
                _between(text, pieces, verb + 1, namespace),
                cells[namespace],
                _between(text, pieces, namespace + 1, right),
                *cells[right:],
            ]
            if agrees(Details(*rest), distinguisher):
                yield rest


def _plain(text: str) -> str:
    return _BLANKS.sub(" ", text).strip()


def _count(readings: int) -> str:
    return f"{readings} readings fit" if readings else "no reading by structure fits"
