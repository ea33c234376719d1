"""What lies behind the queues, and the services that are called from there, as parts of the report's JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apftop.records.backend import Backend, Callback, Timed
from apftop.report.numbers import number, window_json

Json = dict[str, Any]


def backend_json(backend: Backend | None) -> Json | None:
    """How requests ended over its window, and what storage, webhooks and admission plugins took; seconds."""
    if backend is None:
        return None
    return {
        "window": window_json(backend.window),
        "requests": _by_code(backend.requests),
        "terminations": _by_code(backend.terminations),
        "forbidden": _counted(backend.forbidden),
        "too_many": _counted(backend.too_many),
        "etcd": _timed(backend.etcd),
        "webhooks": _timed(backend.webhooks),
        "admission": _timed(backend.admission),
    }


def callbacks_json(callbacks: tuple[Callback, ...] | None) -> list[Json] | None:
    """The services that API servers call while they serve; null where nobody told of them."""
    return None if callbacks is None else [_callback(one) for one in callbacks]


def _by_code(counts: Mapping[int, float]) -> Json:
    return {str(code): number(count) for code, count in sorted(counts.items())}


def _counted(counts: Mapping[str, float]) -> Json:
    return {kind: number(count) for kind, count in sorted(counts.items(), key=lambda one: (-one[1], one[0]))}


def _timed(calls: Mapping[str, Timed]) -> Json:
    return {
        name: {"count": number(one.count), "mean_s": number(one.mean_s), "usual_s": number(one.usual_s)}
        for name, one in sorted(calls.items())
    }


def _callback(one: Callback) -> Json:
    return {
        "kind": one.kind,
        "config": one.config,
        "name": one.name,
        "namespace": one.namespace,
        "service": one.service,
        "timeout_s": number(one.timeout_s),
        "fails_closed": one.fails_closed,
        "rules": [
            {"operations": list(rule.operations), "groups": list(rule.groups), "resources": list(rule.resources)}
            for rule in one.rules
        ],
    }
