"""Kubernetes releases: order, and ranges in which a rule holds."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

_RELEASE = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?")
_BOUND = re.compile(r"(>=|<)(\d+)\.(\d+)(?:\.(\d+))?")


class Release(NamedTuple):
    """A Kubernetes release; vendor suffixes (`-eks-1`, `+k3s1`) are left out. `LAST_PATCH` is the last of its minor."""

    major: int
    minor: int
    patch: int = 0

    def __str__(self) -> str:
        minor = f"{self.major}.{self.minor}"
        return minor if self.patch == LAST_PATCH else f"{minor}.{self.patch}"


LAST_PATCH = 1 << 16

LATEST = Release(1, 37, LAST_PATCH)
"""The newest release whose rules are known here."""


def parse_release(text: str) -> Release | None:
    """Read `v1.30.4`, `1.30.4-gke.1348000` or `1.34`; None where the text starts with no release."""
    match = _RELEASE.match(text.strip())
    if match is None:
        return None
    return Release(int(match[1]), int(match[2]), int(match[3] or 0))


@cache
def holds(release: Release, ranges: tuple[str, ...]) -> bool:
    """Whether a release lies in any of the ranges, each like `>=1.26.8 <1.27` (all bounds of one must hold)."""
    return any(_within(release, one) for one in ranges)


def _within(release: Release, text: str) -> bool:
    bounds = _BOUND.findall(text)
    if not bounds:
        raise ValueError(f"not a release range: {text!r}")
    for sign, major, minor, patch in bounds:
        bound = Release(int(major), int(minor), int(patch or 0))
        if (sign == ">=" and release < bound) or (sign == "<" and release >= bound):
            return False
    return True
