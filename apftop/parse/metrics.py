"""Metric families out of a body in any of the formats that servers send."""

from __future__ import annotations

from apftop.parse.body import is_protobuf
from apftop.parse.exposition_proto import parse_proto
from apftop.parse.exposition_text import parse_text
from apftop.records.parsed import Metrics, ParseError


def parse_metrics(body: bytes, content_type: str) -> Metrics:
    """Read a body in the format that `content_type` names, else as what it looks like; an empty body has no families.

    Raises ParseError when the body cannot be read or is truncated.
    """
    kind = content_type.lower()
    if "protobuf" in kind or is_protobuf(body):
        return parse_proto(body)
    if "openmetrics" not in kind:
        return parse_text(body)
    if not body:
        return Metrics({}, "openmetrics")
    metrics = parse_text(body)
    if metrics.format != "openmetrics":
        raise ParseError(f"truncated: no `# EOF` line at the end of {len(body)} bytes of OpenMetrics")
    return metrics
