"""The order in which flow schemas are tried, and places in it that are free."""

from __future__ import annotations

from collections.abc import Sequence

from apftop.apf.containment import overlap
from apftop.apf.objects import MANDATORY, FlowSchema
from apftop.findings.scene import Scene, levels, schemas
from apftop.present import plain

LEAST, MOST = 2, 9999
"""Precedences that schemas other than `exempt` and `catch-all` can usefully have (1.26 to 1.37)."""


def tried(scene: Scene) -> tuple[FlowSchema, ...]:
    """The schemas in the order in which servers try them, without those that they skip."""
    skipped = {one.name for one in dangling(scene)}
    return tuple(one for one in schemas(scene) if one.name not in skipped)


def dangling(scene: Scene) -> tuple[FlowSchema, ...]:
    """The schemas whose level does not exist: servers skip them.

    The objects say so where all levels could be read, for then the mandatory ones are among them; else the condition
    of each schema does.
    """
    there = levels(scene)
    whole = there.keys() >= MANDATORY
    return tuple(
        one
        for one in schemas(scene)
        if one.name not in MANDATORY
        and one.priority_level not in there
        and (one.dangling or (whole and one.priority_level not in MANDATORY))
    )


def free_before(order: Sequence[FlowSchema], schema: FlowSchema) -> int | None:
    """The highest free precedence before that of a schema; None where there is none."""
    taken = {one.precedence for one in order}
    return next((one for one in range(schema.precedence - 1, LEAST - 1, -1) if one not in taken), None)


def free_behind(order: Sequence[FlowSchema], schema: FlowSchema) -> int | None:
    """The lowest free precedence behind that of a schema; None where there is none."""
    taken = {one.precedence for one in order}
    return next((one for one in range(schema.precedence + 1, MOST + 1) if one not in taken), None)


def passed(order: Sequence[FlowSchema], schema: FlowSchema, precedence: int) -> tuple[str, ...]:
    """The other schemas with common requests that it stands on the other side of once it has this precedence."""
    low, high = sorted((schema.precedence, precedence))
    return tuple(
        plain(one.name)
        for one in order
        if one.name != schema.name and low <= one.precedence <= high and overlap(one.rules, schema.rules)
    )
