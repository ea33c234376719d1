"""The objects that a server makes for itself: suggested ones, and mandatory ones that it never does without."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec

from apftop.apf.objects import FlowSchema, PriorityLevelConfiguration
from apftop.apf.release import Release, holds


class _Schema(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    object: FlowSchema
    mandatory: bool = False
    releases: tuple[str, ...] = ()


class _Level(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    object: PriorityLevelConfiguration
    mandatory: bool = False


class _Builtin(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    levels: tuple[_Level, ...]
    schemas: tuple[_Schema, ...]


def builtin_schemas(release: Release) -> dict[str, FlowSchema]:
    """The flow schemas of a release (1.26 to 1.37) by name, mandatory and suggested, in matching order."""
    return {one.object.name: one.object for one in _data().schemas if not one.releases or holds(release, one.releases)}


def builtin_schema_names() -> frozenset[str]:
    """The names of the flow schemas of all releases (1.26 to 1.37), mandatory and suggested."""
    return frozenset(one.object.name for one in _data().schemas)


def builtin_levels() -> dict[str, PriorityLevelConfiguration]:
    """The priority levels of all releases (1.26 to 1.37) by name, mandatory and suggested."""
    return {one.object.name: one.object for one in _data().levels}


@cache
def mandatory_schema(name: str) -> FlowSchema:
    """The mandatory flow schema of a name, the same in 1.26 to 1.37; KeyError for any other name."""
    return {one.object.name: one.object for one in _data().schemas if one.mandatory}[name]


@cache
def mandatory_level(name: str) -> PriorityLevelConfiguration:
    """The mandatory priority level of a name, the same in 1.26 to 1.37; KeyError for any other name."""
    return {one.object.name: one.object for one in _data().levels if one.mandatory}[name]


@cache
def _data() -> _Builtin:
    text = files("apftop.apf").joinpath("builtin.toml").read_bytes()
    return msgspec.toml.decode(text, type=_Builtin)
