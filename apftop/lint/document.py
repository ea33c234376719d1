"""What lint found, as JSON."""

from __future__ import annotations

from typing import Any

from apftop.records.linting import Fault, Linted

SCHEMA = 1


def document(found: Linted) -> dict[str, Any]:
    """The keys of `apftop lint --output json`; seats are of one server."""
    objects: dict[str, list[str]] = {}
    for fault in found.faults:
        if fault.kind:
            objects.setdefault(fault.key, []).append(fault.code)
    return {
        "schema": SCHEMA,
        "target": found.target,
        "server_concurrency": found.concurrency,
        "objects": {key: list(dict.fromkeys(codes)) for key, codes in objects.items()},
        "missing": [fault.code for fault in found.faults if fault.code.startswith("missing-")],
        "dangling": list(found.dangling),
        "unreferenced": dict(found.unreferenced),
        "near_names": dict(found.near_names),
        "nominal_before": dict(found.nominal_before),
        "nominal_after": dict(found.nominal_after),
        "fate": {key: {"outcome": one.outcome, "text": one.text} for key, one in found.fates.items()},
        "faults": [_fault(fault) for fault in found.faults],
    }


def _fault(fault: Fault) -> dict[str, Any]:
    return {
        "code": fault.code,
        "gravity": fault.gravity,
        "object": fault.key or None,
        "text": fault.text,
        "advice": fault.advice or None,
        "place": fault.place or None,
        "file": fault.file or None,
        "line": fault.line,
    }
