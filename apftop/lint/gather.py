"""A policy under question, put together from objects that were given and those that are there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from apftop.apf.builtins import builtin_levels, builtin_schemas
from apftop.apf.objects import MANDATORY, FlowSchema, Meta, PriorityLevelConfiguration
from apftop.apf.release import Release
from apftop.findings.changes.patches import KEPT
from apftop.lint.policy import Document, Objects, Policy

Made = TypeVar("Made", FlowSchema, PriorityLevelConfiguration)

CARED_FOR = ((KEPT, "true"),)


def untouched(target: Release) -> Objects:
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
    as_it_is: bool = False,
    refused_per_s: Mapping[str, float] | None = None,
) -> Policy:
    """The policy with the given objects in their places; `whole` takes them for all that there is.

    What is there without the mandatory objects, such as a file, is there beside what the release brings, but for a
    cluster (`as_it_is`). Of a kind that was not given, what is there stays.
    """
    own, built = objects_of(given), untouched(target)
    if not as_it_is:
        before = Objects(_there(before.schemas, built.schemas), _there(before.levels, built.levels))
    if whole:
        kinds = {one.kind for one in given}
        after = Objects(
            own.schemas if "FlowSchema" in kinds else before.schemas,
            own.levels if "PriorityLevelConfiguration" in kinds else before.levels,
        )
    else:
        after = Objects({**before.schemas, **own.schemas}, {**before.levels, **own.levels})
    return Policy(target, tuple(given), before, after, concurrency, whole, refused_per_s or {})


def _there(found: Mapping[str, Made], built: Mapping[str, Made]) -> dict[str, Made]:
    return dict(found) if found.keys() >= MANDATORY else {**built, **found}


def _meta(meta: Meta) -> Meta:
    return replace(meta, annotations=CARED_FOR, generation=1)
