"""What API servers make of the given objects within about a minute: kept, set back, deleted, refused (1.26 to 1.37).

Each server looks after the objects that its release brings, at its start and then each minute. Mandatory ones (schemas
and levels `exempt` and `catch-all`) keep their spec; of the level `exempt` `spec.exempt` may be changed since 1.28.
Suggested ones keep it while the annotation `apf.kubernetes.io/autoupdate-spec` is true; without it, or with anything
that is no boolean, an object of generation 1 counts as true and any other as false, which is then written. An object
that the release does not bring and whose annotation is true is deleted. Any of the release's objects that is missing is
made again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain

from apftop.apf.builtins import builtin_levels, builtin_schemas, mandatory_level
from apftop.apf.objects import EXEMPT, MANDATORY, FlowSchema, PriorityLevelConfiguration
from apftop.apf.release import Release, holds
from apftop.findings.changes.patches import KEPT
from apftop.lint.fields import value_faults
from apftop.lint.policy import Document, Noun, Policy
from apftop.lint.unchanged import Made, same_spec
from apftop.lint.validity import spec_faults
from apftop.lint.versions import EXEMPT_SINCE, version_faults
from apftop.records.linting import Fate, Fault, Gravity

RELEASES = tuple(Release(1, minor) for minor in range(37, 25, -1))
"""The releases whose built-in objects are known, newest first."""

OFF = f"set the annotation {KEPT} to false first, then change the spec"

_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})


def fates_of(policy: Policy) -> Mapping[str, Fate]:
    """What becomes of each given object by `KIND/NAME`, and of built-in ones that are missing among all there are."""
    found = {f"{one.kind}/{one.name}": fate for one in policy.given if (fate := fate_of(one, policy)) is not None}
    if policy.whole:
        text = "it is missing: servers make it again within a minute"
        there: tuple[tuple[Noun, Mapping[str, Made], Mapping[str, Made]], ...] = (
            ("FlowSchema", policy.after.schemas, builtin_schemas(policy.target)),
            ("PriorityLevelConfiguration", policy.after.levels, builtin_levels()),
        )
        for kind, after, built in there:
            gone = (name for name in built if name not in after and policy.document(kind, name) is None)
            found |= {f"{kind}/{name}": Fate("recreated", text) for name in gone}
    return found


def fate_of(document: Document, policy: Policy) -> Fate | None:
    """What becomes of one given object; None where it is too broken to say more than that."""
    made = document.object
    if made is None:
        return None
    if not policy.whole and (why := _refusal(document, policy)):
        return Fate("refused", f"the server refuses it: {why}")
    builtin = _builtin(made, policy.target)
    if made.name in MANDATORY:
        return _mandatory(made, policy.target)
    if builtin is None:
        if _said(made, policy):
            text = f"{policy.target.major}.{policy.target.minor} does not bring it, and {KEPT} is true: it is deleted"
            return Fate("deleted", text)
        return Fate("kept", "it is your own")
    if same_spec(made, builtin):
        return Fate("kept", "its spec is the built-in one")
    if autoupdates(made, policy):
        return Fate("reverted", f"servers look after it ({KEPT}): within a minute its spec is the built-in one again")
    return Fate("kept", f"it is a built-in object that was taken out of the servers' care ({KEPT})")


def autoupdates(made: Made, policy: Policy) -> bool:
    """Whether servers look after the spec of a suggested object, by its annotation or else its generation.

    They write the same to the annotation where it says nothing or no boolean.
    """
    said = _said(made, policy)
    return _generation(made, policy) in (None, 1) if said is None else said


def fates(policy: Policy) -> Iterator[Fault]:
    """Faults that come of what servers do with the given objects."""
    for document in policy.given:
        fate, made = fate_of(document, policy), document.object
        if fate is None or made is None:
            continue
        match fate.outcome:
            case "refused":
                fixed = _mandatory(made, policy.target) if made.name in MANDATORY else None
                if fixed is not None and fixed.outcome == "refused":
                    advice = "leave it as it is, and make an object of your own"
                    yield document.fault("refused-fixed-value", "error", fixed.text, advice, "spec")
            case "reverted":
                yield document.fault("will-be-reverted", "error", fate.text, OFF, "spec")
            case "deleted":
                yield _deleted(document, made, fate, policy.target)
            case _:
                yield from _notes(document, made, policy)


def _deleted(document: Document, made: Made, fate: Fate, target: Release) -> Fault:
    place = "metadata.annotations"
    older = next((one for release in RELEASES if (one := _builtin(made, release)) is not None), None)
    if older is None:
        advice = f"take the annotation {KEPT} away: it is for built-in objects"
        return document.fault("will-be-deleted", "error", fate.text, advice, place)
    text = f"{target.major}.{target.minor} no longer brings it: servers delete it after the upgrade, as meant"
    gravity: Gravity = "note"
    advice = ""
    if not same_spec(made, older):
        gravity, text = "warning", f"{text}, and its spec, which was changed, with it"
        advice = f"write {KEPT}: 'false' to keep it"
    return document.fault("builtin-of-other-release", gravity, text, advice, place)


def _notes(document: Document, made: Made, policy: Policy) -> Iterator[Fault]:
    if isinstance(made, PriorityLevelConfiguration) and made.name == EXEMPT:
        fixed = mandatory_level(EXEMPT)
        changed = (made.shares, made.lendable_percent) != (fixed.shares, fixed.lendable_percent)
        if changed and holds(policy.target, EXEMPT_SINCE):
            text = "a change of shares and lendablePercent of `exempt` is kept since 1.28"
            yield document.fault("kept-since-1.28", "note", text, "", "spec.exempt")
        return
    builtin = _builtin(made, policy.target)
    if builtin is None or made.name in MANDATORY or same_spec(made, builtin):
        return
    if _said(made, policy) is None:
        text = f"no {KEPT} says so: it is kept only because its generation is above 1, and servers then write false"
        yield document.fault("unsaid-autoupdate", "warning", text, f"write {KEPT}: 'false'", "metadata.annotations")


def _refusal(document: Document, policy: Policy) -> str:
    """Why the API refuses the object whatever is there, empty if it does not."""
    faults = chain(version_faults(document, policy.target), value_faults(document), spec_faults(document, policy))
    return next((fault.text for fault in faults if fault.gravity == "error"), "")


def _mandatory(made: Made, target: Release) -> Fate:
    builtin = _builtin(made, target)
    if builtin is None or same_spec(made, builtin):
        return Fate("kept", "its spec is the fixed one")
    if isinstance(made, PriorityLevelConfiguration) and made.name == EXEMPT and isinstance(builtin, type(made)):
        ours = replace(made, shares=builtin.shares, lendable_percent=builtin.lendable_percent)
        if same_spec(ours, builtin):
            if holds(target, EXEMPT_SINCE):
                return Fate("kept", "its shares and lendablePercent are yours since 1.28")
            return Fate("ignored", "the field spec.exempt is there since 1.28 only")
    return Fate("refused", "the server refuses this edit: the spec must equal the fixed value")


def _builtin(made: Made, target: Release) -> Made | None:
    if isinstance(made, FlowSchema):
        return builtin_schemas(target).get(made.name)
    return builtin_levels().get(made.name)


def _before(made: Made, policy: Policy) -> Made | None:
    return (policy.before.schemas if isinstance(made, FlowSchema) else policy.before.levels).get(made.name)


def _said(made: Made, policy: Policy) -> bool | None:
    """What the annotation will say; None where it is missing or no boolean.

    One that the file leaves out stays as it is in the cluster, as `kubectl apply` has it; where the given objects are
    all that there is, it is not there.
    """
    value = dict(made.meta.annotations).get(KEPT)
    before = _before(made, policy)
    if value is None and before is not None and not policy.whole:
        value = dict(before.meta.annotations).get(KEPT)
    return True if value in _TRUE else False if value in _FALSE else None


def _generation(made: Made, policy: Policy) -> int | None:
    """The generation that the object will have: each change of its spec raises it."""
    if policy.whole:
        return made.meta.generation
    before = _before(made, policy)
    if before is None:
        return 1
    return before.meta.generation if same_spec(made, before) else (before.meta.generation or 1) + 1
