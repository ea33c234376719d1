"""The feature gates that change what a request costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from apftop.apf.release import Release, holds

Gate = Literal["APIListChunking", "ConsistentListFromCache", "SizeBasedListCostEstimate", "WatchList"]

ON_BY_DEFAULT: Mapping[Gate, tuple[str, ...]] = {
    "APIListChunking": (">=1.26",),
    "ConsistentListFromCache": (">=1.31",),
    "SizeBasedListCostEstimate": (">=1.34",),
    "WatchList": (">=1.32 <1.33", ">=1.34"),
}
"""Releases (1.26 to 1.37) in which a gate is on where nobody sets it, or was on for good when it was removed."""


def gate(name: Gate, enabled: Mapping[str, bool], release: Release) -> bool:
    """Whether a gate is on: as `kubernetes_feature_enabled` says, and by the release's default where it is absent."""
    return enabled.get(name, holds(release, ON_BY_DEFAULT[name]))
