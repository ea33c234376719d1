"""API versions of the objects: which the target release serves, and what a default means in each (1.26 to 1.37)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from apftop.apf.release import Release
from apftop.lint.policy import Document, Policy
from apftop.parse.objects import GROUP, PRESERVE_ZERO
from apftop.records.linting import Fault

SERVED: Mapping[str, tuple[int, int | None, int | None]] = {
    "v1alpha1": (18, 20, 21),
    "v1beta1": (20, 23, 26),
    "v1beta2": (23, 26, 29),
    "v1beta3": (26, 29, 32),
    "v1": (29, None, None),
}
"""By version: served since which minor release, deprecated since, and gone since."""

ASSURED = ("v1alpha1", "v1beta1", "v1beta2")
"""Versions whose field of shares is `assuredConcurrencyShares`."""


def versions(policy: Policy) -> Iterator[Fault]:
    """What is wrong with the version of each given object, and with what it leaves out."""
    for document in policy.given:
        if not document.api_version.startswith(f"{GROUP}/"):
            continue
        version = document.api_version.removeprefix(f"{GROUP}/")
        yield from _served(document, version, policy.target)
        if document.kind == "PriorityLevelConfiguration":
            yield from _shares(document, version)


def _served(document: Document, version: str, target: Release) -> Iterator[Fault]:
    best = "v1" if target.minor >= 29 else "v1beta3"
    use = f"write it as {GROUP}/{best}"
    its = SERVED.get(version)
    if its is None:
        yield document.fault("unknown-version", "error", f"there is no version {version} of {GROUP}", use, "apiVersion")
        return
    since, deprecated, gone = its
    if gone is not None and target.minor >= gone:
        text = f"{version} is not served since 1.{gone}: {target.major}.{target.minor} refuses it"
        yield document.fault("version-gone", "error", text, use, "apiVersion")
    elif target.minor < since:
        text = f"{version} is served since 1.{since}: {target.major}.{target.minor} refuses it"
        yield document.fault("version-not-yet", "error", text, use, "apiVersion")
    elif deprecated is not None and target.minor >= deprecated:
        text = f"{version} is deprecated since 1.{deprecated} and not served from 1.{gone} on"
        yield document.fault("version-deprecated", "warning", text, use, "apiVersion")


def _shares(document: Document, version: str) -> Iterator[Fault]:
    limited = _inner(document.fields, "spec", "limited")
    exempt = _inner(document.fields, "spec", "exempt")
    annotations = _inner(document.fields, "metadata", "annotations") or {}
    ours, other = "nominalConcurrencyShares", "assuredConcurrencyShares"
    if version in ASSURED:
        ours, other = other, ours
    if limited is not None:
        if limited.get(other) is not None:
            text = f"{other} is no field of {version}: it is {ours} there, so this is refused or dropped"
            yield document.fault("wrong-field", "error", text, f"call it {ours}", f"spec.limited.{other}")
        if limited.get(ours) == 0 and version != "v1" and not (version == "v1beta3" and PRESERVE_ZERO in annotations):
            text = f"0 shares mean the default of 30 in {version}"
            advice = f"leave it out if 30 is meant; 0 seats need v1, or in v1beta3 the annotation {PRESERVE_ZERO}"
            yield document.fault("zero-is-default", "warning", text, advice, f"spec.limited.{ours}")
        elif limited.get(ours) is None and limited.get(other) is None:
            text = f"{ours} is not given: it will be 30"
            yield document.fault("default-shares", "note", text, "say what is meant", "spec.limited")
    if version == "v1" and PRESERVE_ZERO in annotations:
        text = f"the annotation {PRESERVE_ZERO} is refused in v1"
        yield document.fault("wrong-annotation", "error", text, "take it away: 0 is 0 in v1", "metadata.annotations")
    if exempt is not None and version in ASSURED:
        text = f"spec.exempt is no field of {version}: it is refused or dropped"
        yield document.fault("wrong-field", "error", text, "use v1 (since 1.29) or v1beta3 (since 1.28)", "spec.exempt")


def _inner(fields: Mapping[Any, Any], *path: str) -> Mapping[Any, Any] | None:
    found: Any = fields
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else None
