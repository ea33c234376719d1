"""Fields that no API version has, and numbers and metadata that none takes (1.26 to 1.37)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from apftop.lint.policy import Document, Noun, Policy
from apftop.lint.raw_fields import mapping_at, values_in
from apftop.present import plain
from apftop.records.linting import Fault

LARGEST = (1 << 31) - 1
"""All numbers of a spec are 32 bits wide."""

_METADATA: dict[str, Any] = dict.fromkeys(
    (
        "name",
        "generateName",
        "namespace",
        "selfLink",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "labels",
        "annotations",
        "ownerReferences",
        "finalizers",
        "managedFields",
    )
)
_OBJECT = {"apiVersion": None, "kind": None, "metadata": _METADATA, "status": None}
_RESOURCES = dict.fromkeys(("verbs", "apiGroups", "resources", "namespaces", "clusterScope"))
_RULE = {
    "subjects": {
        "kind": None,
        "user": {"name": None},
        "group": {"name": None},
        "serviceAccount": {"namespace": None, "name": None},
    },
    "resourceRules": _RESOURCES,
    "nonResourceRules": dict.fromkeys(("verbs", "nonResourceURLs")),
}
# Shares have a name of their own in old versions, which the rules about versions know.
_SHARES = dict.fromkeys(("nominalConcurrencyShares", "assuredConcurrencyShares", "lendablePercent"))
FIELDS: Mapping[Noun, Mapping[str, Any]] = {
    "FlowSchema": {
        **_OBJECT,
        "spec": {
            "priorityLevelConfiguration": {"name": None},
            "matchingPrecedence": None,
            "distinguisherMethod": {"type": None},
            "rules": _RULE,
        },
    },
    "PriorityLevelConfiguration": {
        **_OBJECT,
        "spec": {
            "type": None,
            "limited": {
                **_SHARES,
                "borrowingLimitPercent": None,
                "limitResponse": {
                    "type": None,
                    "queuing": dict.fromkeys(("queues", "handSize", "queueLengthLimit")),
                },
            },
            "exempt": {"nominalConcurrencyShares": None, "lendablePercent": None},
        },
    },
}
"""The fields of each kind in any version; None where what is inside is not looked into."""

_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_PREFIX = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def fields(policy: Policy) -> Iterator[Fault]:
    """Fields that servers do not know, and values that they cannot take whatever else the object is.

    Of what a server gave out it knew each field.
    """
    if policy.whole:
        return
    for document in policy.given:
        yield from _unknown(document, document.fields, FIELDS[document.kind])
        yield from value_faults(document)


def value_faults(document: Document) -> Iterator[Fault]:
    """Values of one object that servers refuse: numbers that are too large, labels and annotations of a wrong form."""
    yield from _too_large(document)
    if metadata := mapping_at(document.fields, "metadata"):
        yield from _labels(document, metadata.get("labels"))
        yield from _annotations(document, metadata.get("annotations"))


def _unknown(document: Document, value: object, known: Mapping[str, Any], at: str = "") -> Iterator[Fault]:
    if isinstance(value, list):
        for number, one in enumerate(value):
            # A list in a list is nowhere, and the object broken.
            if isinstance(one, Mapping):
                yield from _unknown(document, one, known, f"{at}[{number}]")
        return
    if not isinstance(value, Mapping):
        return
    for key, inner in value.items():
        place = f"{at}.{key}" if at else str(key)
        if key not in known:
            meant = difflib.get_close_matches(str(key), known, 1)
            text = f"there is no field {plain(place)}: strict clients refuse it, others drop it in silence"
            advice = f"call it {meant[0]}" if meant else "take it away"
            yield document.fault("unknown-field", "error", text, advice, place)
        elif known[key] is not None:
            yield from _unknown(document, inner, known[key], place)


def _too_large(document: Document) -> Iterator[Fault]:
    for at, value in values_in("spec", document.fields.get("spec")):
        if isinstance(value, int) and not -LARGEST - 1 <= value <= LARGEST:
            text = f"{plain(at)} is {value}, more than the 32 bits of the field hold"
            yield document.fault("invalid-number", "error", text, "servers refuse it", at)


def _labels(document: Document, labels: object) -> Iterator[Fault]:
    if labels is not None and not isinstance(labels, Mapping):
        text = "the labels are no names with values"
        yield document.fault("invalid-label", "error", text, "servers refuse it", "metadata.labels")
        return
    for key, value in (labels or {}).items():
        at = f"metadata.labels.{key}"
        if value is None:
            # It is taken for an empty text.
            continue
        if not isinstance(value, str):
            text = f"the label {plain(str(key))} is {plain(str(value))}, which YAML takes for something else than text"
            yield document.fault("invalid-label", "error", text, "put it in quotes", at)
        elif not _is_qualified(str(key)) or (value and not _is_name(value)):
            text = f"the label {plain(str(key))}={plain(value)} is none that servers take"
            yield document.fault("invalid-label", "error", text, "servers refuse it", at)


def _annotations(document: Document, annotations: object) -> Iterator[Fault]:
    if not isinstance(annotations, Mapping):
        return
    for key in annotations:
        if not _is_qualified(str(key).lower()):
            text = f"{plain(str(key))} is no name of an annotation"
            yield document.fault("invalid-label", "error", text, "servers refuse it", f"metadata.annotations.{key}")


def _is_qualified(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    return _is_name(name) and (not slash or (len(prefix) <= 253 and _PREFIX.fullmatch(prefix) is not None))


def _is_name(text: str) -> bool:
    return len(text) <= 63 and _NAME.fullmatch(text) is not None
