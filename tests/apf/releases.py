"""Releases of the vectors."""

from __future__ import annotations

from apftop.apf.release import Release, parse_release


def release_of(version: str) -> Release:
    """The release whose library has this version: v0.30.4 is that of 1.30.4."""
    release = parse_release(version.replace("v0.", "v1."))
    assert release is not None
    return release
