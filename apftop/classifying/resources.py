"""The resources of Kubernetes itself by all of their names, and where their requests go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import msgspec


@dataclass(frozen=True, slots=True)
class Resource:
    """`api_version` is `v1` or `group/version`."""

    name: str
    api_version: str
    namespaced: bool

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The path of its requests; without a namespace, of all namespaces."""
        root = f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        scope = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        return "/".join(part for part in (f"{root}{scope}/{self.name}", name, subresource) if part)


class _Group(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: str
    namespaced: dict[str, tuple[str, ...]] = {}
    cluster: dict[str, tuple[str, ...]] = {}


class _Groups(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    group: tuple[_Group, ...]


def resource(name: str, *, namespaced: bool = True) -> Resource | None:
    """The resource of a name as kubectl takes it: plural, singular, short, `PLURAL.GROUP` or `PLURAL.VERSION.GROUP`.

    One of a group that is not Kubernetes' own is taken as `namespaced` says; None for a bare name that nobody knows.
    """
    name = name.lower()
    if name in _names():
        return _names()[name]
    plural, _, group = name.partition(".")
    if not group:
        return None
    known = _names().get(plural)
    if known is not None and known.api_version.partition("/")[0] == group:
        return known
    version, _, rest = group.partition(".")
    if version[:1] == "v" and version[1:2].isdigit() and rest:
        return Resource(plural, f"{rest}/{version}", namespaced)
    return Resource(plural, f"{group}/v1", namespaced)


def of_plural(plural: str) -> Mapping[str, bool]:
    """The API groups that have a resource of this name, and whether it is namespaced there; empty if none is known."""
    return _groups_of().get(plural, {})


@cache
def own_groups() -> frozenset[str]:
    """The API groups of Kubernetes itself, which no custom resource is in."""
    return frozenset(group.version.rpartition("/")[0] for group in _all())


@cache
def _groups_of() -> dict[str, dict[str, bool]]:
    found: dict[str, dict[str, bool]] = {}
    for group in _all():
        name = group.version.rpartition("/")[0]
        for its, namespaced in ((group.namespaced, True), (group.cluster, False)):
            for plural in its:
                found.setdefault(plural, {})[name] = namespaced
    return found


def _all() -> tuple[_Group, ...]:
    text = files("apftop.classifying").joinpath("resources.toml").read_bytes()
    return msgspec.toml.decode(text, type=_Groups).group


@cache
def _names() -> dict[str, Resource]:
    """All names; where two groups have one, the first counts, as it does for kubectl."""
    found: dict[str, Resource] = {}
    for group in _all():
        for its, namespaced in ((group.namespaced, True), (group.cluster, False)):
            for plural, short in its.items():
                one = Resource(plural, group.version, namespaced)
                for name in (plural, _singular(plural), *short):
                    found.setdefault(name, one)
    return found


def _singular(plural: str) -> str:
    if plural == "endpoints":
        return plural
    if plural.endswith("ies"):
        return plural[:-3] + "y"
    return plural[:-2] if plural.endswith(("sses", "ches")) else plural[:-1]
