"""One flow schema on one replica: its rates and waits, and the levels that its series name."""

from __future__ import annotations

from collections import Counter, defaultdict

from apftop.apf.objects import EXEMPT
from apftop.derive.counts import Tally, counts, schema_of, tally, waits_of
from apftop.derive.evidence import Evidence
from apftop.derive.levels import SCRAPE_COUNTS
from apftop.derive.membership import MOVING
from apftop.derive.own import less_own
from apftop.derive.readings import by_schema, known, zero_if_absent
from apftop.records.frame import Schema


def schemas(evidence: Evidence) -> dict[str, Schema]:
    """All schemas that the configuration or any series names."""
    seen = _levels_seen(evidence)
    names = set(seen) | set(evidence.schemas or {})
    rises = tally(evidence, schema_of)
    moving = _levels_moving(evidence)
    totals = {
        measure: by_schema(evidence.view, measure) if evidence.view else {}
        for measure in ("seats_in_use", "waiting", "executing")
    }
    flows = Counter(flow.schema for flow in evidence.flows) if evidence.requests is not None else None
    oldest: dict[str, float] = {}
    for row in evidence.requests or ():
        if not row.executing and row.age_s is not None:
            oldest[row.schema] = max(row.age_s, oldest.get(row.schema, row.age_s))
    return {
        name: _schema(name, evidence, rises, seen.get(name, set()), moving.get(name, set()), totals, oldest, flows)
        for name in sorted(names)
    }


def _schema(
    name: str,
    evidence: Evidence,
    rises: Tally | None,
    seen: set[str],
    moving: set[str],
    totals: dict[str, dict[str, float]],
    oldest: dict[str, float],
    flows: Counter[str] | None,
) -> Schema:
    config = evidence.schemas.get(name) if evidence.schemas else None
    level = config.priority_level if config else _only(moving) or _only(seen)

    def reading(measure: str) -> float | None:
        if evidence.view is None:
            return None
        # Whether a missing series is 0 depends on the level, exempt's being unknown up to 1.27.
        if name not in totals[measure] or (level == EXEMPT and not zero_if_absent(evidence.view, measure, EXEMPT)):
            return known(evidence.view, measure, {}, level or "")
        value = known(evidence.view, measure, totals[measure], name)
        return less_own(value, evidence.own.scrape, schema=name) if measure in SCRAPE_COUNTS else value

    return Schema(
        name=name,
        config=config,
        deleted=config is None and evidence.schemas is not None,
        level=level,
        past_levels=tuple(sorted(seen - {level})) if level else (),
        window=evidence.step.window if evidence.step else None,
        counts=counts(rises, name) if rises else None,
        waits=waits_of(rises, name, evidence) if rises else None,
        seats_in_use=reading("seats_in_use"),
        waiting=reading("waiting"),
        executing=reading("executing"),
        oldest_waiting_s=oldest.get(name),
        flows=flows[name] if flows is not None else None,
    )


def _levels_seen(evidence: Evidence) -> dict[str, set[str]]:
    seen: dict[str, set[str]] = defaultdict(set)
    if evidence.view is not None:
        for measure in evidence.view.values.values():
            for key in measure:
                if key.schema:
                    seen[key.schema].add(key.level)
    for row in evidence.requests or ():
        seen[row.schema].add(row.level)
    return seen


def _levels_moving(evidence: Evidence) -> dict[str, set[str]]:
    moving: dict[str, set[str]] = defaultdict(set)
    if evidence.step is not None:
        for measure in MOVING:
            for key, rise in evidence.step.counters(measure).items():
                if rise:
                    moving[key.schema].add(key.level)
    return moving


def _only(names: set[str]) -> str | None:
    return next(iter(names)) if len(names) == 1 else None
