"""A comparison as JSON: fixed names, versioned by `schema`; `schema.json` beside this file describes it."""

from __future__ import annotations

from typing import Any

from apftop import __version__
from apftop.diff.change import Change, Value
from apftop.diff.compared import Diff
from apftop.report.document import taken_of
from apftop.report.look import Look
from apftop.report.numbers import number

SCHEMA = "apftop.diff/1"

Json = dict[str, Any]


def document(diff: Diff, *, every: bool) -> Json:
    """The whole comparison; without `every` values that are equal are left out."""
    return {
        "schema": SCHEMA,
        "apftop": __version__,
        "a": _side(diff.old),
        "b": _side(diff.new),
        "changed": diff.changed,
        "summary": list(diff.summary),
        "not_compared": list(diff.apart),
        "matched": {"by": diff.pairs.by, "servers": [one.name for one in diff.pairs.groups]},
        "changes": [_change(one) for one in diff.changes if every or one.how != "equal"],
    }


def _side(look: Look) -> Json:
    problems = [f"{name}: {line}" for name, one in look.frame.replicas.items() for line in one.problems]
    return {
        "source": look.source,
        "taken": taken_of(look.t0, look.t1, look.interval_s),
        "servers": [one.name for one in look.frame.servers],
        "problems": [*look.problems, *look.notes, *problems],
    }


def _change(change: Change) -> Json:
    return {
        "section": change.section,
        "how": change.how,
        "replica": change.replica or None,
        "level": change.level or None,
        "name": change.name or None,
        "field": change.field,
        "old": _value(change.old),
        "new": _value(change.new),
        "difference": number(change.difference),
        "bound": number(change.bound),
        "unit": change.unit or None,
        "note": change.note or None,
    }


def _value(value: Value) -> Any:
    if isinstance(value, tuple):
        return [one if isinstance(one, str) else number(one) for one in value]
    return value if isinstance(value, str) else number(value)
