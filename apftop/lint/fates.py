"""What API servers make of the given objects within about a minute: kept, set back, deleted, refused (1.26 to 1.37).

Each server looks after the objects that its release brings, at its start and then each minute. Mandatory ones (schemas
and levels `exempt` and `catch-all`) keep their spec; of the level `exempt` `spec.exempt` may be changed since 1.28.
Suggested ones keep it while the annotation `apf.kubernetes.io/autoupdate-spec` is true; without it, or with anything
that is no boolean, an object of generation 1 counts as true and any other as false. An object that the release does not
bring and whose annotation is true is deleted. Any of the release's objects that is missing is made again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from apftop.apf.builtins import builtin_levels, builtin_schemas, mandatory_level
from apftop.apf.objects import EXEMPT, MANDATORY, FlowSchema, Meta, PriorityLevelConfiguration
from apftop.apf.release import Release, holds
from apftop.findings.changes.patches import KEPT
from apftop.lint.policy import Document, Policy
from apftop.records.linting import Fate, Fault

EXEMPT_IS_YOURS_SINCE = (">=1.28",)
OFF = f"set the annotation {KEPT} to false first, then change the spec"

_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})
Made = FlowSchema | PriorityLevelConfiguration


def fate_of(document: Document, policy: Policy) -> Fate | None:
    """What becomes of one given object; None where it is too broken to say more than that."""
    made = document.object
    if made is None:
        return None
    builtin = _builtin(made, policy.target)
    if made.name in MANDATORY:
        return _mandatory(made, policy.target)
    if builtin is None:
        if _said(made.meta):
            text = f"{policy.target.major}.{policy.target.minor} does not bring it, and {KEPT} is true: it is deleted"
            return Fate("deleted", text)
        return Fate("kept", "it is your own")
    if same_spec(made, builtin):
        return Fate("kept", "its spec is the built-in one")
    if _looked_after(made, policy):
        return Fate("reverted", f"servers look after it ({KEPT}): within a minute its spec is the built-in one again")
    return Fate("kept", f"it is a built-in object that was taken out of the servers' care ({KEPT})")


def autoupdates(meta: Meta, generation: int | None) -> bool:
    """Whether servers set the spec of a suggested object back, by its annotation or else its generation."""
    said = _said(meta)
    return generation in (None, 1) if said is None else said


def fates(policy: Policy) -> Iterator[Fault]:
    """Faults that come of what servers do with the given objects."""
    for document in policy.given:
        fate, made = fate_of(document, policy), document.object
        if fate is None or made is None:
            continue
        match fate.outcome:
            case "refused":
                advice = "leave it as it is, and make an object of your own"
                yield document.fault("refused-fixed-value", "error", fate.text, advice, "spec")
            case "reverted":
                yield document.fault("will-be-reverted", "error", fate.text, OFF, "spec")
            case "deleted":
                advice = f"take the annotation {KEPT} away: it is for built-in objects"
                yield document.fault("will-be-deleted", "error", fate.text, advice, "metadata.annotations")
            case _:
                yield from _notes(document, made, policy)


def _notes(document: Document, made: Made, policy: Policy) -> Iterator[Fault]:
    if isinstance(made, PriorityLevelConfiguration) and made.name == EXEMPT:
        fixed = mandatory_level(EXEMPT)
        if (made.shares, made.lendable_percent) != (fixed.shares, fixed.lendable_percent):
            text = "a change of shares and lendablePercent of `exempt` is kept since 1.28"
            yield document.fault("kept-since-1.28", "note", text, "", "spec.exempt")
        return
    builtin = _builtin(made, policy.target)
    if builtin is None or made.name in MANDATORY or same_spec(made, builtin):
        return
    if _said(made.meta) is None:
        text = f"it has no {KEPT}: it is kept only because its generation is above 1, and servers then write false"
        yield document.fault("unsaid-autoupdate", "warning", text, f"write {KEPT}: 'false'", "metadata.annotations")


def _mandatory(made: Made, target: Release) -> Fate:
    builtin = _builtin(made, target)
    if builtin is None or same_spec(made, builtin):
        return Fate("kept", "its spec is the fixed one")
    if isinstance(made, PriorityLevelConfiguration) and made.name == EXEMPT and isinstance(builtin, type(made)):
        ours = replace(made, shares=builtin.shares, lendable_percent=builtin.lendable_percent)
        if same_spec(ours, builtin):
            if holds(target, EXEMPT_IS_YOURS_SINCE):
                return Fate("kept", "its shares and lendablePercent are yours since 1.28")
            return Fate("ignored", "the field spec.exempt is there since 1.28 only")
    return Fate("refused", "the server refuses this edit: the spec must equal the fixed value")


def _builtin(made: Made, target: Release) -> Made | None:
    if isinstance(made, FlowSchema):
        return builtin_schemas(target).get(made.name)
    return builtin_levels().get(made.name)


def same_spec(one: Made, other: Made) -> bool:
    """Whether two objects of one kind have the same spec, whatever their metadata and status."""
    nobody = Meta("")
    return replace(one, meta=nobody, conditions=()) == replace(other, meta=nobody, conditions=())


def _before(made: Made, policy: Policy) -> Made | None:
    return (policy.before.schemas if isinstance(made, FlowSchema) else policy.before.levels).get(made.name)


def _looked_after(made: Made, policy: Policy) -> bool:
    """Whether servers set the object back, once it is as given.

    An annotation that the file leaves out stays as it is in the cluster, as `kubectl apply` has it; where the given
    objects are all that there is, it is not there.
    """
    if _said(made.meta) is not None or policy.whole:
        return autoupdates(made.meta, made.meta.generation)
    before = _before(made, policy)
    if before is None:
        return autoupdates(made.meta, 1)
    raised = 0 if same_spec(made, before) else 1
    generation = None if before.meta.generation is None else before.meta.generation + raised
    return autoupdates(before.meta, generation)


def _said(meta: Meta) -> bool | None:
    said = dict(meta.annotations).get(KEPT)
    return True if said in _TRUE else False if said in _FALSE else None
