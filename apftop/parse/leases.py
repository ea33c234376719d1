"""The leases of a namespace: a LeaseList in JSON, as every release serves it."""

from __future__ import annotations

import msgspec

from apftop.other_body import describe
from apftop.parse.cells import NANOSECONDS, unix_ns
from apftop.records.parsed import Lease, ParseError


class _Meta(msgspec.Struct):
    name: str


class _Spec(msgspec.Struct, rename="camel"):
    renew_time: str | None = None


class _Lease(msgspec.Struct):
    metadata: _Meta
    spec: _Spec


class _LeaseList(msgspec.Struct, tag_field="kind", tag="LeaseList"):
    items: list[_Lease]


def parse_leases(body: bytes) -> tuple[Lease, ...]:
    """Name and last renewal of each lease. Raises ParseError where the body is another thing."""
    try:
        items = msgspec.json.decode(body, type=_LeaseList).items
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ParseError(f"this is {describe(body)}, not a LeaseList that can be read") from None
    return tuple(Lease(item.metadata.name, _renewed(item)) for item in items)


def _renewed(item: _Lease) -> float | None:
    """Unix seconds, None for never."""
    if item.spec.renew_time is None:
        return None
    try:
        return unix_ns(item.spec.renew_time) / NANOSECONDS
    except ValueError as error:
        raise ParseError(f"lease {item.metadata.name}: renewTime: {error}") from None
