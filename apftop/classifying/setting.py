"""What a request meets: the policy, one server's flags, and what is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from apftop.apf.classify import Classifier
from apftop.apf.release import Release
from apftop.records.parsed import KeptHands

SERVER_TIMEOUT_S = 60.0
"""--request-timeout of a server where nobody says otherwise."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The policy, one server's seats and flags, and what it knows of the stored objects.

    `nominal` are seats by level, and `gates` the feature gates that the server names. `objects`, `average_bytes` and
    `watchers` are of the resource that is asked for, None where nobody told. `kept` is set where the
    names of the policy are pseudonyms.
    """

    classifier: Classifier
    release: Release
    nominal: Mapping[str, float] = field(default_factory=dict)
    request_timeout_s: float = SERVER_TIMEOUT_S
    gates: Mapping[str, bool] = field(default_factory=dict)
    objects: int | None = None
    average_bytes: int | None = None
    watchers: int | None = None
    kept: KeptHands | None = None
