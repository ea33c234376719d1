"""One metrics answer in the field's words: each measure with its series by level, schema and one more label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from apftop.apf.release import Release
from apftop.records.parsed import Histogram


class Key(NamedTuple):
    """What a series is about; `""` where the measure is not told apart by it."""

    level: str = ""
    schema: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """The measures of one replica at one moment.

    `torn` are series by measure whose value the answer leaves open, and `incomplete` says that there may be others.
    `sources` says which family a measure was read from. `start` is the process start in Unix seconds. `features` are
    the feature gates that the server reports. `unknown_families` are flow control families that the
    vocabulary lacks. A measure that is missing in `values` and `histograms` was not exposed.
    """

    release: Release | None
    version: str
    start: float | None
    features: Mapping[str, bool]
    values: Mapping[str, Mapping[Key, float]]
    histograms: Mapping[str, Mapping[Key, Histogram]]
    torn: Mapping[str, frozenset[Key]]
    incomplete: bool
    sources: Mapping[str, str]
    unknown_families: tuple[str, ...]
    problems: tuple[str, ...] = ()
