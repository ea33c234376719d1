"""API objects and requests of the vectors, as the model takes them."""

from __future__ import annotations

import json
from typing import Any

from apftop.apf.attributes import Attributes
from apftop.apf.objects import FlowSchema, PriorityLevelConfiguration
from apftop.parse.objects import parse_objects


def schemas_of(given: list[dict[str, Any]]) -> tuple[FlowSchema, ...]:
    return parse_objects(_body("FlowSchema", given)).schemas if given else ()


def levels_of(given: list[dict[str, Any]]) -> tuple[PriorityLevelConfiguration, ...]:
    return parse_objects(_body("PriorityLevelConfiguration", given)).configs if given else ()


def attributes_of(request: dict[str, Any]) -> Attributes:
    info = request["ri"]
    return Attributes(
        user=request["user"],
        groups=tuple(request["groups"] or ()),
        verb=info["verb"],
        path=info["path"],
        resource_request=info["res"],
        api_group=info.get("group", ""),
        api_version=info.get("ver", ""),
        namespace=info.get("ns", ""),
        resource=info.get("rsc", ""),
        subresource=info.get("sub", ""),
        name=info.get("name", ""),
    )


def _body(kind: str, given: list[dict[str, Any]]) -> bytes:
    head = {"apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": kind}
    return json.dumps({"kind": "List", "items": [head | one for one in given]}).encode()
