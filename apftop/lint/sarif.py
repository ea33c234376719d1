"""What lint found, as SARIF 2.1.0: the form that code hosts show beside the changed lines."""

from __future__ import annotations

from typing import Any

from apftop import __version__
from apftop.lint.codes import codes
from apftop.records.linting import Fault, Gravity, Linted

LEVELS: dict[Gravity, str] = {"error": "error", "warning": "warning", "note": "note"}
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(found: Linted) -> dict[str, Any]:
    """One run; objects that came from no file have no location but their name."""
    used = list(dict.fromkeys(fault.code for fault in found.faults))
    book = codes()
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "apftop lint",
                        "version": __version__,
                        "rules": [
                            {
                                "id": code,
                                "shortDescription": {"text": book[code].title},
                                "fullDescription": {"text": book[code].means},
                                "help": {"text": book[code].do},
                            }
                            for code in used
                        ],
                    }
                },
                "results": [_result(fault, used.index(fault.code)) for fault in found.faults],
            }
        ],
    }


def _result(fault: Fault, index: int) -> dict[str, Any]:
    advice = f" {fault.advice[:1].upper()}{fault.advice[1:]}." if fault.advice else ""
    about = f"{fault.kind} {fault.name}: " if fault.kind else ""
    result: dict[str, Any] = {
        "ruleId": fault.code,
        "ruleIndex": index,
        "level": LEVELS[fault.gravity],
        "message": {"text": f"{about}{fault.text}.{advice}"},
    }
    location: dict[str, Any] = {}
    if fault.file:
        location["physicalLocation"] = {"artifactLocation": {"uri": fault.file.replace("\\", "/")}}
        if fault.line is not None:
            location["physicalLocation"]["region"] = {"startLine": fault.line}
    if fault.kind:
        name = f"{fault.key}#{fault.place}" if fault.place else fault.key
        location["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "object"}]
    return {**result, "locations": [location]} if location else result
