"""Schemas that capture what others are for, that dangle, and levels that nothing refers to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from apftop.apf.builtins import builtin_levels
from apftop.apf.containment import covers
from apftop.apf.objects import MANDATORY, FlowSchema, Meta
from apftop.check.in_force import unix_s
from apftop.findings.changes.patches import LEVEL, deleted, in_version, level_change, schema_change
from apftop.findings.policies.capturing import captured, captured_builtins
from apftop.findings.policies.order import dangling, tried
from apftop.findings.policies.owners import guard, provider
from apftop.findings.policies.shadowing import partly_shadowed, shadowed_schemas, traffic
from apftop.findings.saturation.pressure import hurts
from apftop.findings.scene import Finder, Place, Scene, by_level, levels, schemas, servers
from apftop.findings.words.listing import doing, few, hurt
from apftop.findings.words.told import counted, listed
from apftop.present import percent, plain, whole
from apftop.records.findings import Finding
from apftop.rules import rules


def dangling_schemas(scene: Scene) -> Iterator[Finding]:
    """Schemas whose level does not exist: servers skip them, and their requests go to the next that matches."""
    order = tried(scene)
    for schema in dangling(scene):
        if not _newborn(scene, schema.meta):
            yield _dangling(scene, order, schema)


def _dangling(scene: Scene, order: Sequence[FlowSchema], schema: FlowSchema) -> Finding:
    name, missing = plain(schema.name), plain(schema.priority_level)
    instead = _instead(order, schema)
    near = None if schema.priority_level in MANDATORY else near_name(schema.priority_level, sorted(levels(scene)))
    goes = f"{plain(instead.name)} in {plain(instead.priority_level)}" if instead else "the next schemas that match"
    change = None
    if schema.priority_level in MANDATORY:
        advice = [f"wait a minute: each server makes level {missing} again; if it does not, look at the servers' logs"]
    elif near is None:
        advice = [
            f"make level {missing} again, or point {name} to a level that exists, or delete {name}: it does nothing"
        ]
    else:
        text = f"priorityLevelConfiguration of {name} from {missing} to {plain(near)}, which exists"
        change = schema_change(schema, text, priority_level=near)
        advice = [f"set {text}: the name looks like a slip"]
    return Finding(
        code="dangling-schema",
        severity="warning",
        subject=name,
        title=f"flow schema {name} is ignored: its level {missing} does not exist; its requests go to {goes}",
        replicas=tuple(one.name for one in servers(scene)),
        level=schema.priority_level,
        schema=schema.name,
        evidence=(
            f"{name} (precedence {schema.precedence}) refers to level {missing}; there is no such object",
            f"the servers' own condition Dangling of {name} is {_condition(schema)}",
            f"its requests go to {goes}",
            *traffic(scene, (schema, *((instead,) if instead else ()))),
        ),
        advice=tuple(advice),
        change=change,
        facts={
            "missing_level": missing,
            "near": None if near is None else plain(near),
            "goes_to_schema": plain(instead.name) if instead else None,
            "goes_to_level": plain(instead.priority_level) if instead else None,
        },
    )


def near_name(name: str, names: Sequence[str]) -> str | None:
    """The one of the names that this one is a slip of, by all that is likely."""
    found = get_close_matches(name.lower(), names, n=1, cutoff=rules().findings.policy.near)
    return found[0] if found else None


def unreferenced_levels(scene: Scene) -> Iterator[Finding]:
    """Levels that no schema refers to: their seats are guaranteed to nobody."""
    known = schemas(scene)
    if not {one.name for one in known} >= MANDATORY:
        return
    referred = {one.priority_level for one in known}
    for name, config in sorted(levels(scene).items()):
        found = by_level(scene).get(name, [])
        in_use = any(place.level.seats_in_use or place.level.waiting or place.level.quiescing for place in found)
        if name in referred or name in MANDATORY or not config.shares or in_use or _newborn(scene, config.meta):
            continue
        yield _unreferenced(scene, name, found)


def _unreferenced(scene: Scene, name: str, found: Sequence[Place]) -> Finding:
    configs = levels(scene)
    config, total = configs[name], sum(one.shares for one in configs.values())
    slips = [one for one in dangling(scene) if near_name(one.priority_level, [name])]
    seats = {place.replica.name: place.level.nominal for place in found if place.level.nominal is not None}
    most = max(seats.values(), default=None)
    held = counted(most, "seat") if most is not None else f"{percent(config.shares / total)} of the seats"
    kept = 100 - config.lendable_percent
    change = None if slips else deleted(f"delete level {plain(name)}", in_version(LEVEL, config.meta.api_version), name)
    advice = f"if nothing is to use it, delete it: its {held} then go to the other levels"
    if slips:
        advice = f"mend {listed(one.name for one in slips)}, which seems to be meant for it"
    elif name in builtin_levels():
        # Servers make it again within a minute.
        text = f"lendablePercent of {plain(name)} {config.lendable_percent} -> 100"
        change = level_change(config, text, lendable_percent=100) if kept else None
        lends = f"let it lend all its seats: {text}" if kept else "leave it: it lends all its seats"
        advice = f"{lends}; it is built in, and servers make it again when it is deleted"
    return Finding(
        code="unreferenced-level",
        severity="info",
        subject=plain(name),
        title=f"level {plain(name)} holds {held} of each server, and no flow schema refers to it",
        replicas=tuple(dict.fromkeys(place.replica.name for place in found)),
        level=name,
        evidence=(
            f"{config.shares} of {total} shares; {kept}% of its seats are never lent to other levels",
            *few([f"nominal seats on {plain(one)}: {whole(number)}" for one, number in seats.items()]),
            *(f"{plain(one.name)} refers to {plain(one.priority_level)}, which does not exist" for one in slips),
        ),
        advice=(advice,),
        change=change,
        facts={
            "nominal": dict(seats),
            "share": config.shares / total,
            "lendable_percent": config.lendable_percent,
            "meant_by": [plain(one.name) for one in slips],
        },
    )


def provider_guards(scene: Scene) -> Iterator[Finding]:
    """Schemas that the provider of a managed cluster put there to throttle it."""
    order = tried(scene)
    for schema in order:
        if guard(schema):
            yield _guard(scene, order, schema)


def _guard(scene: Scene, order: Sequence[FlowSchema], schema: FlowSchema) -> Finding:
    name, owner = plain(schema.name), provider(schema)
    found = by_level(scene).get(schema.priority_level, [])
    needy = [place for place in found if hurts(place.level)]
    behind = captured(order, schema)
    worst = sorted(found, key=hurt, reverse=True)
    lines = [f"{plain(one.level.name)} on {plain(one.replica.name)}: {doing(one)}" for one in worst if doing(one)]
    return Finding(
        code="provider-guard",
        severity="warning" if needy else "info",
        subject=name,
        title=f"{owner} has put its guard {name} there"
        + (f": it is what throttles clients, in level {plain(schema.priority_level)}" if needy else ""),
        replicas=tuple(place.replica.name for place in needy or found),
        level=schema.priority_level,
        schema=schema.name,
        evidence=(
            f"{name} (precedence {schema.precedence}) sends what it matches to {plain(schema.priority_level)}",
            *((f"no request gets behind it to {listed((one.name for one in behind), 6)}",) if behind else ()),
            *few(lines),
            "the provider adds it after API servers ran out of memory again and again, as its last resort",
        ),
        advice=(
            "do not edit it: it is the provider's, who sets it back; find the clients whose LISTs make servers run out "
            "of memory, and mend or stop them",
            f"what the provider says of it: {rules().findings.policy.guards[schema.name]}",
            "once the clients are mended, take it away as the provider says; it comes back if memory runs out again",
        ),
        facts={
            "provider": owner,
            "throttles": bool(needy),
            "refused_per_s": {place.replica.name: place.level.rejected_per_s for place in found},
            "takes_from": [plain(one.name) for one in behind],
        },
        weight=sum(map(hurt, needy)),
    )


def _instead(order: Sequence[FlowSchema], schema: FlowSchema) -> FlowSchema | None:
    """The first schema behind that matches all its requests: they end there, but for what others before it take."""
    behind = [one for one in order if (one.precedence, one.name) > (schema.precedence, schema.name)]
    return next((one for one in behind if covers(one.rules, schema.rules)), None)


def _condition(schema: FlowSchema) -> str:
    found = schema.dangling
    return "not set" if found is None else str(found)


def _newborn(scene: Scene, meta: Meta) -> bool:
    """Whether an object was made a moment ago: what belongs to it may be on its way."""
    made = unix_s(meta.creation)
    # By the servers' clocks: this machine's may be off by more than that.
    ahead = next((one.clock.skew_s for one in servers(scene) if one.clock.skew_s is not None), 0.0)
    return made is not None and scene.now is not None and scene.now - ahead - made < rules().findings.policy.settled_s


FINDERS: tuple[Finder, ...] = (
    captured_builtins,
    shadowed_schemas,
    partly_shadowed,
    dangling_schemas,
    unreferenced_levels,
    provider_guards,
)
