"""A policy under question, put together from objects that were given and those that are there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from apftop.apf.builtins import builtin_levels, builtin_schemas
from apftop.apf.objects import FlowSchema, Meta, PriorityLevelConfiguration
from apftop.apf.release import Release
from apftop.findings.changes.patches import KEPT
from apftop.lint.policy import Document, Objects, Policy

CARED_FOR = ((KEPT, "true"),)


def as_built(target: Release) -> Objects:
    """The objects of a cluster that nobody changed."""
    return Objects(
        {name: replace(one, meta=_meta(one.meta)) for name, one in builtin_schemas(target).items()},
        {name: replace(one, meta=_meta(one.meta)) for name, one in builtin_levels().items()},
    )


def objects_of(documents: Iterable[Document]) -> Objects:
    """The objects of documents that are not broken; of two with one name the later one."""
    made = [one.object for one in documents]
    return Objects(
        {one.name: one for one in made if isinstance(one, FlowSchema)},
        {one.name: one for one in made if isinstance(one, PriorityLevelConfiguration)},
    )


def policy_of(
    given: Sequence[Document],
    before: Objects,
    target: Release,
    concurrency: int,
    *,
    whole: bool = False,
    refused_per_s: Mapping[str, float] | None = None,
) -> Policy:
    """The policy with the given objects in their places; `whole` takes them for all that there is.

    Of a kind that is not among the objects that are there, those are taken that the release brings.
    """
    own, built = objects_of(given), as_built(target)
    before = Objects(before.schemas or built.schemas, before.levels or built.levels)
    if whole:
        own = Objects(own.schemas or before.schemas, own.levels or before.levels)
    after = own if whole else Objects({**before.schemas, **own.schemas}, {**before.levels, **own.levels})
    return Policy(target, tuple(given), before, after, concurrency, whole, refused_per_s or {})


def _meta(meta: Meta) -> Meta:
    return replace(meta, annotations=CARED_FOR, generation=1)
