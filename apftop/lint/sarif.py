"""What lint found, as SARIF 2.1.0: the form that code hosts show beside the changed lines."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote_from_bytes

from apftop import __version__
from apftop.lint.codes import codes
from apftop.lint.folders import STDIN
from apftop.records.linting import Fault, Linted

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "%SRCROOT%"
"""The usual name of the top of the sources, which whoever takes the results knows."""


def sarif(found: Linted, base: Path, files: Sequence[str] = (), problems: Sequence[str] = ()) -> dict[str, Any]:
    """One run; files below `base` are named from there.

    `files` are those that were given: what is about all of them is shown at the first one, since code hosts refuse
    results without a file. Objects of servers have a name for their place. `problems` are what could not be read.
    """
    used = list(dict.fromkeys(fault.code for fault in found.faults))
    home = next((file for file in files if file not in ("", str(STDIN))), "")
    results = [_result(fault, used.index(fault.code), base, home) for fault in found.faults]
    for result, mark in zip(results, _marks(found.faults, base), strict=True):
        # Code hosts go by the first name; it follows from no line, so that a finding stays itself when lines move.
        result["partialFingerprints"] = {"primaryLocationLineHash": mark, "object/v1": mark}
    driver = {"name": "apftop lint", "version": __version__, "rules": [_rule(code) for code in used]}
    told = [{"level": "error", "message": {"text": problem}} for problem in problems]
    invocation = {"executionSuccessful": not problems, "toolExecutionNotifications": told}
    run = {"tool": {"driver": driver}, "invocations": [invocation], "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def uri_of(path: PurePath, base: PurePath) -> tuple[str, bool]:
    """The URI of a file, and whether it is relative to `base`; both of one system's kind, `base` absolute."""
    whole = base / path
    if not whole.is_relative_to(base):
        return whole.as_uri(), False
    inner = whole.relative_to(base).as_posix()
    return quote_from_bytes(inner.encode("utf-8", "surrogateescape"), safe="/"), True


def _rule(code: str) -> dict[str, Any]:
    its = codes()[code]
    return {
        "id": code,
        "shortDescription": {"text": its.title},
        "fullDescription": {"text": its.means},
        "help": {"text": its.do},
    }


def _result(fault: Fault, index: int, base: Path, home: str) -> dict[str, Any]:
    advice = f" {fault.advice[:1].upper()}{fault.advice[1:]}." if fault.advice else ""
    about = f"{fault.kind} {fault.name}: " if fault.kind else ""
    location: dict[str, Any] = {}
    if file := _file(fault) or home:
        location["physicalLocation"] = {"artifactLocation": _artifact(file, base)}
        if fault.line is not None and _file(fault):
            location["physicalLocation"]["region"] = {"startLine": fault.line}
    if fault.kind:
        name = f"{fault.key}#{fault.place}" if fault.place else fault.key
        location["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "object"}]
    return {
        "ruleId": fault.code,
        "ruleIndex": index,
        "level": fault.gravity,
        "message": {"text": f"{about}{fault.text}.{advice}"},
        "locations": [location] if location else [],
    }


def _file(fault: Fault) -> str:
    return "" if fault.file == str(STDIN) else fault.file


def _artifact(file: str, base: Path) -> dict[str, str]:
    path = Path(file)
    # What `..` leads to is for the file system to say: there may be links on the way.
    path = path.parent.resolve() / path.name if ".." in path.parts else path
    uri, below = uri_of(path, base)
    return {"uri": uri, "uriBaseId": ROOT} if below else {"uri": uri}


def _marks(faults: Sequence[Fault], base: Path) -> list[str]:
    """What makes each fault itself: the code, the file, the object and the place, and which of the same it is."""
    seen: Counter[str] = Counter()
    marks = []
    for fault in faults:
        file = _artifact(fault.file, base)["uri"] if _file(fault) else ""
        known = "\n".join((fault.code, file, fault.key, fault.place))
        digest = hashlib.sha256(known.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        seen[digest] += 1
        marks.append(f"{digest}:{seen[digest]}")
    return marks
