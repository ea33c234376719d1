"""What is known of a sample beside its body, as bundles and tapes note it."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import msgspec

from apftop.records.raw import KEPT_HEADERS, Sample

_DEFAULTS = {field.name: field.default for field in fields(Sample)}


def known_fields(sample: Sample) -> dict[str, Any]:
    """The fields but the body that differ from a Sample's defaults, and of headers only those that it may keep."""
    kept = tuple((name, value) for name, value in sample.headers if name in KEPT_HEADERS)
    return {
        name: value
        for name, value in msgspec.to_builtins(replace(sample, body=b"", headers=kept)).items()
        if name != "body" and value != _DEFAULTS[name] and value != []
    }
