"""The leases by which API servers say that they exist, under other names."""

from __future__ import annotations

import re

import msgspec

from apftop.parse.leases import parse_leases
from apftop.redacting.pseudonyms import Kind, Naming
from apftop.rules import rules

_TIME = re.compile(r"(?:[0-9]{4}-[-0-9:.TZ+]{0,36})?")


def leases(body: bytes, naming: Naming) -> bytes:
    """A LeaseList of names and renewals. Raises ParseError where it cannot be read."""
    parse_leases(body)
    items = []
    for item in msgspec.json.decode(body)["items"]:
        renewed = item.get("spec", {}).get("renewTime")
        spec = {"renewTime": renewed} if renewed is not None and _TIME.fullmatch(renewed) else {}
        items.append({"metadata": {"name": _name(item["metadata"]["name"], naming)}, "spec": spec})
    return msgspec.json.encode({"kind": "LeaseList", "items": items})


def _name(name: str, naming: Naming) -> str:
    """Only those of API servers begin as theirs do."""
    for prefix in sorted(rules().alive.lease_prefixes, key=len, reverse=True):
        if name.startswith(prefix):
            return prefix + naming(Kind.OBJECT, name.removeprefix(prefix))
    return naming(Kind.OBJECT, name)
