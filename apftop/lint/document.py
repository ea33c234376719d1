"""What lint found, as JSON."""

from __future__ import annotations

from typing import Any

from apftop.records.linting import Fault, Linted

SCHEMA = "apftop.lint/1"


def document(found: Linted) -> dict[str, Any]:
    """The keys of `apftop lint --output json`, as `schema.json` has them; seats are of one server."""
    objects: dict[str, list[str]] = {}
    for fault in found.faults:
        if fault.kind:
            objects.setdefault(fault.key, []).append(fault.code)
    return {
        "schema": SCHEMA,
        "target": found.target,
        "target_by": found.target_by,
        "server_concurrency": found.concurrency,
        "server_concurrency_by": found.concurrency_by,
        "objects": {key: list(dict.fromkeys(codes)) for key, codes in objects.items()},
        "missing": [fault.code for fault in found.faults if fault.code.startswith("missing-")],
        "dangling": list(found.dangling),
        "unreferenced": dict(found.unreferenced),
        "near_names": dict(found.near_names),
        "nominal_before": dict(found.nominal_before),
        "nominal_after": dict(found.nominal_after),
        "fate": {key: f"{one.outcome}: {one.text}" for key, one in found.fates.items()},
        "outcomes": {key: one.outcome for key, one in found.fates.items()},
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
