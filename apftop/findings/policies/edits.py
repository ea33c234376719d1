"""Objects that were edited shortly before it hurt: which, when, and by whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apftop.apf.objects import MANDATORY, FlowSchema, PriorityLevelConfiguration
from apftop.check.in_force import unix_s
from apftop.findings.changes.patches import KEPT
from apftop.findings.saturation.pressure import hurts
from apftop.findings.scene import Finder, Place, Scene, levels, places, rows, schemas
from apftop.findings.words.told import listed
from apftop.present import percent, plain, span, utc
from apftop.records.findings import Finding
from apftop.records.measures import NANOSECONDS
from apftop.rules import rules

SERVERS = "api-priority-and-fairness-config-"
"""What the names begin with under which API servers write these objects themselves (1.26 to 1.37)."""


@dataclass(frozen=True, slots=True)
class _Edit:
    """One object as somebody last wrote it: Unix seconds by the server's clock, and under what name.

    `made` says that it was created then. `hit` are the levels in need that it is about.
    """

    config: FlowSchema | PriorityLevelConfiguration
    time: float
    by: str
    made: bool
    hit: tuple[str, ...]
    share: float | None

    @property
    def kind(self) -> str:
        return "flow schema" if isinstance(self.config, FlowSchema) else "level"

    @property
    def direct(self) -> bool:
        """Whether it is the level itself or a schema of it, and not a level that takes seats from all others."""
        return self.share is None


def edited_before_onset(scene: Scene) -> Iterator[Finding]:
    """Objects that were written in the hour before a level that hurts now began to: a coincidence worth a look."""
    needy = {place.level.name: place for place in places(scene) if hurts(place.level)}
    onset = min((time for place in places(scene) if hurts(place.level) if (time := _began(place))), default=None)
    if onset is None or not needy:
        return
    before = rules().findings.edits.before_s
    found = [one for one in _edits(scene, frozenset(needy)) if onset - before <= one.time <= onset]
    # A level that takes seats from all others is told of where no edit is nearer to what hurts.
    near = [one for one in found if one.direct] or found
    for group in _together(near):
        yield _finding(scene, group, onset)


def _finding(scene: Scene, group: Sequence[_Edit], onset: float) -> Finding:
    first = group[0]
    name, ago = plain(first.config.name), span(onset - first.time)
    hit = list(dict.fromkeys(level for one in group for level in one.hit))
    more = f" and {len(group) - 1} more" if len(group) > 1 else ""
    did = "made" if first.made else "edited"
    where = [place for place in places(scene) if place.level.name in hit and hurts(place.level)]
    return Finding(
        code="edited-before-onset",
        severity="warning",
        subject=name,
        title=f"{first.kind} {name}{more} was {did} {ago} before {listed(hit)} was seen in need, by {plain(first.by)}",
        replicas=tuple(dict.fromkeys(place.replica.name for place in where)),
        level=hit[0] if len(hit) == 1 else "",
        schema=first.config.name if isinstance(first.config, FlowSchema) else "",
        evidence=(
            *(_line(one) for one in group[:5]),
            *((f"and {len(group) - 5} more",) if len(group) > 5 else ()),
            f"{listed(hit)} hurts since {utc(onset)} at the latest: that is as far back as is known here",
            "an object that was deleted leaves no such trace",
        ),
        advice=(
            f"compare {first.kind} {name} with what it was before ({'nothing' if first.made else 'its last copy'}), "
            "and undo the edit if it explains what hurts",
            f"{plain(first.by)} is the program that wrote it; the audit log names the user",
        ),
        facts={
            "edited": [plain(one.config.name) for one in group],
            "kind": "FlowSchema" if isinstance(first.config, FlowSchema) else "PriorityLevelConfiguration",
            "manager": plain(first.by),
            "time": utc(first.time),
            "before_s": onset - first.time,
            "generation": first.config.meta.generation,
            "created": first.made,
            "direct": first.direct,
            "levels": [plain(one) for one in hit],
        },
        weight=rules().findings.edits.before_s - (onset - first.time),
    )


def _line(one: _Edit) -> str:
    name, generation = plain(one.config.name), one.config.meta.generation
    told = f"{one.kind} {name} was {'made' if one.made else 'last written'} at {utc(one.time)} by {plain(one.by)}"
    if generation is not None:
        told += f", generation {generation}"
    if isinstance(one.config, FlowSchema):
        told += f": precedence {one.config.precedence}, for level {plain(one.config.priority_level)}"
    elif one.share is not None:
        told += f": with {percent(one.share)} of all shares it sets the seats of all other levels"
    else:
        told += f": {one.config.shares} shares"
    return told


def _began(place: Place) -> float | None:
    """Since when a level hurts at the latest, by the server's clock: its oldest waiting request, or the window."""
    arrived = [row.arrive_ns / NANOSECONDS for row in rows(place) if not row.executing]
    window = place.level.window
    skew = place.replica.clock.skew_s or 0.0
    begun = [window.t0 - skew] if window is not None and window.t0 is not None else []
    return min([*arrived, *begun], default=None)


def _edits(scene: Scene, needy: frozenset[str]) -> list[_Edit]:
    """The edits of objects that have to do with levels in need, the latest first."""
    found = [
        one
        for schema in schemas(scene)
        if schema.priority_level in needy and (one := _edit(schema, (schema.priority_level,)))
    ]
    configs = levels(scene)
    total = sum(one.shares for one in configs.values())
    for config in configs.values():
        share = config.shares / total if total else 0.0
        direct = config.name in needy
        if not direct and share < rules().findings.edits.share:
            continue
        one = _edit(config, (config.name,)) if direct else _edit(config, tuple(sorted(needy)), share)
        if one is not None:
            found.append(one)
    return sorted(found, key=lambda one: (-one.time, one.config.name))


def _edit(
    config: FlowSchema | PriorityLevelConfiguration, hit: tuple[str, ...], share: float | None = None
) -> _Edit | None:
    """Who last wrote an object's spec; None where that was an API server, or is not told.

    The generation rises with each edit of the spec: with generation 1 nothing but its creation counts. An API server
    that leaves the spec alone still writes metadata, under the same name and so with the same time as what it once
    wrote of the spec.
    """
    written = [
        (time, one.manager)
        for one in config.meta.managers
        if one.subresource != "status" and one.spec is not False and (time := unix_s(one.time)) is not None
        if not (_left_alone(config) and one.manager.startswith(SERVERS))
    ]
    if not written:
        return None
    created = unix_s(config.meta.creation)
    never = config.meta.generation == 1
    time, by = min(written) if never else max(written)
    if never and created is not None:
        time = created
    if by.startswith(SERVERS):
        return None
    return _Edit(config, time, by or "an unnamed program", never or time == created, hit, share)


def _left_alone(config: FlowSchema | PriorityLevelConfiguration) -> bool:
    """Whether API servers leave the spec of an object as its operator set it (1.26 to 1.37): a mandatory one never."""
    return config.name not in MANDATORY and dict(config.meta.annotations).get(KEPT) == "false"


def _together(edits: Sequence[_Edit]) -> list[list[_Edit]]:
    """Edits that one program made at one time, those of the latest time first."""
    groups: list[list[_Edit]] = []
    for one in edits:
        for group in groups:
            if group[0].by == one.by and group[-1].time - one.time <= rules().findings.edits.together_s:
                group.append(one)
                break
        else:
            groups.append([one])
    return groups


FINDERS: tuple[Finder, ...] = (edited_before_onset,)
