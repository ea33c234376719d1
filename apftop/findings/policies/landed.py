"""Requests that are seen now, held against other schemas than the one that they matched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from apftop.apf.attributes import Attributes
from apftop.apf.identity import groups_by_name
from apftop.apf.matching import subject_matches, target_matches
from apftop.apf.objects import FlowSchema
from apftop.apf.request_path import path_parts
from apftop.findings.scene import Scene, servers
from apftop.present import plain
from apftop.records.frame import Replica, Request

Landed = tuple[Replica, Request]


def landed(scene: Scene, schema: FlowSchema, into: Collection[str]) -> tuple[Landed, ...]:
    """The requests in other schemas that this one matches too, as far as users' names tell their groups."""
    return tuple(
        (replica, row)
        for replica in servers(scene)
        for row in replica.requests or ()
        if row.schema in into and not row.own and (asked := _asked(row)) is not None and _matches(schema, asked)
    )


def told(found: Sequence[Landed]) -> str:
    """Who asks for what: the two most frequent, and how many more."""
    kinds = Counter(f"{row.user} ({row.kind})" for _, row in found)
    first = ", ".join(f"{count} of {plain(kind)}" for kind, count in kinds.most_common(2))
    more = len(kinds) - 2
    return f"{first} and {more} more" if more > 0 else first


def _asked(row: Request) -> Attributes | None:
    """What the server knew of it; the dump has all but the groups. None without details."""
    if row.user is None or row.verb is None or row.path is None:
        return None
    parts = path_parts(row.path)
    return Attributes(
        user=row.user,
        groups=groups_by_name(row.user),
        verb=row.verb,
        path=row.path,
        resource_request=bool(parts.resource),
        api_group=parts.api_version.rpartition("/")[0],
        namespace=parts.namespace,
        resource=parts.resource,
        subresource=parts.subresource,
        name=parts.name,
    )


def _matches(schema: FlowSchema, asked: Attributes) -> bool:
    return any(
        any(subject_matches(one, asked) for one in rule.subjects) and target_matches(rule, asked)
        for rule in schema.rules
    )
