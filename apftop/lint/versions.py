"""API versions of the objects: which the target release serves, and what a default means in each (1.26 to 1.37)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from apftop.apf.release import Release, holds
from apftop.lint.policy import Document, Policy
from apftop.lint.raw_fields import mapping_at
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

ZERO_KEPT_SINCE = (">=1.29",)
"""Releases that know the annotation by which v1beta3 keeps a zero; up to 1.28 a zero is 30 in each version."""

EXEMPT_SINCE = (">=1.28",)
"""Releases whose levels have `spec.exempt`, in each version that they serve."""

ASSURED = ("v1alpha1", "v1beta1", "v1beta2")
"""Versions whose field of shares is `assuredConcurrencyShares`."""


def versions(policy: Policy) -> Iterator[Fault]:
    """What is wrong with the version of each given object, and with what it leaves out.

    The version of objects that a server gave out is the one that it was asked for in, and no fault of theirs: of a file
    with all of them it is noted once.
    """
    if policy.whole:
        yield from _of_dumps(policy)
    for document in policy.given:
        if not policy.whole:
            yield from version_faults(document, policy.target)
        if document.kind == "PriorityLevelConfiguration":
            yield from _shares(document, version_of(document), policy.target)


def _of_dumps(policy: Policy) -> Iterator[Fault]:
    """Files of a cluster's objects that could not be brought back into the target release as they are."""
    first = {(one.file, version_of(one)): one for one in reversed(policy.given) if one.file}
    for document in reversed(first.values()):
        for fault in version_faults(document, policy.target):
            if fault.code in ("version-gone", "version-not-yet"):
                text = f"{fault.text}: servers convert what is stored, but this file cannot be applied as it is"
                yield replace(fault, gravity="note", text=text, kind="", name="", advice=f"{fault.advice} to apply it")


def version_faults(document: Document, target: Release) -> Iterator[Fault]:
    """What is wrong with the version of an object by itself: an error is what servers of the release refuse."""
    version = version_of(document)
    annotations = mapping_at(document.fields, "metadata", "annotations") or {}
    if document.kind == "PriorityLevelConfiguration" and version == "v1" and PRESERVE_ZERO in annotations:
        text = f"the annotation {PRESERVE_ZERO} is refused in v1"
        yield document.fault("wrong-annotation", "error", text, "take it away: 0 is 0 in v1", "metadata.annotations")
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


def version_of(document: Document) -> str:
    """The version alone, such as `v1beta3`."""
    return document.api_version.removeprefix(f"{GROUP}/")


def _shares(document: Document, version: str, target: Release) -> Iterator[Fault]:
    limited = mapping_at(document.fields, "spec", "limited")
    exempt = mapping_at(document.fields, "spec", "exempt")
    annotations = mapping_at(document.fields, "metadata", "annotations") or {}
    ours, other = "nominalConcurrencyShares", "assuredConcurrencyShares"
    if version in ASSURED:
        ours, other = other, ours
    # In the version that has it and releases that know it, the annotation has a zero stay a zero.
    kept = version == "v1beta3" and PRESERVE_ZERO in annotations and holds(target, ZERO_KEPT_SINCE)
    if limited is not None:
        if limited.get(other) is not None:
            text = f"{other} is no field of {version}: it is {ours} there, so this is refused or dropped"
            yield document.fault("wrong-field", "error", text, f"call it {ours}", f"spec.limited.{other}")
        if limited.get(ours) == 0 and version != "v1" and not kept:
            text = f"0 shares mean the default of 30 in {version}"
            if version == "v1beta3" and PRESERVE_ZERO in annotations:
                text += f", whatever the annotation: {target.major}.{target.minor} does not know it"
            advice = "leave it out if 30 is meant; a level of 0 seats needs 1.30 and v1"
            yield document.fault("zero-is-default", "warning", text, advice, f"spec.limited.{ours}")
        elif limited.get(ours) is None and limited.get(other) is None and not kept:
            text = f"{ours} is not given: it will be 30"
            yield document.fault("default-shares", "note", text, "say what is meant", "spec.limited")
    if exempt is not None and not holds(target, EXEMPT_SINCE):
        text = (
            f"spec.exempt is no field of {target.major}.{target.minor}: it is there since 1.28, and refused or dropped"
        )
        yield document.fault("wrong-field", "error", text, "take it away until then", "spec.exempt")
