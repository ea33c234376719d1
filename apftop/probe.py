"""A harmless GET as somebody else, and which flow schema and priority level the server says that it got."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from apftop.access import Access, Headers
from apftop.apf.attributes import Attributes
from apftop.errors import Trouble
from apftop.fetch import ask
from apftop.records.raw import Endpoint
from apftop.report.looking import manner_of_looks
from apftop.session import open_session


@dataclass(frozen=True, slots=True)
class Said:
    """What a server said of a request that was sent to it: schema and level by name, as its headers tell."""

    status: int
    schema: str
    level: str


def probed(request: Attributes, at: Access, names: Mapping[str, str]) -> Said | None:
    """What a server says of a GET of the same kind; None where a GET cannot be that request.

    `names` are of schemas and levels by uid. Raises Trouble where the server does not say.
    """
    path = _harmless(request)
    if path is None:
        return None

    async def sent() -> Said:
        access = _as(at, request)
        async with open_session(access, manner_of_looks()) as session:
            sample, _ = await ask(session, access, Endpoint.DISCOVERY, manner_of_looks(), path)
        if sample.status is None:
            raise Trouble(f"the probe was not answered: {sample.error}", access.url)
        if sample.status == 403 and not sample.header("x-kubernetes-pf-flowschema-uid"):
            raise Trouble("the probe was refused before flow control saw it", access.url, "impersonating needs a right")
        schema = sample.header("x-kubernetes-pf-flowschema-uid") or ""
        level = sample.header("x-kubernetes-pf-prioritylevel-uid") or ""
        return Said(sample.status, names.get(schema, schema), names.get(level, level))

    return asyncio.run(sent())


def _harmless(request: Attributes) -> str | None:
    """The path of a GET that is classified as the request is, and costs next to nothing."""
    if not request.resource_request:
        return request.path if request.verb == "get" else None
    if request.verb not in ("get", "list"):
        return None
    path = request.path or _path(request)
    return f"{path}?limit=1" if request.verb == "list" else path


def _path(request: Attributes) -> str:
    version = request.api_version or "v1"
    root = f"/apis/{request.api_group}/{version}" if request.api_group else f"/api/{version}"
    scope = f"/namespaces/{request.namespace}" if request.namespace else ""
    name = request.name or ("none" if request.verb == "get" else "")
    return "/".join(part for part in (f"{root}{scope}/{request.resource}", name, request.subresource) if part)


def _as(access: Access, request: Attributes) -> Access:
    """The same way, as somebody else: the API server is asked to take the request as theirs."""
    auth = access.auth

    async def impersonated() -> Headers:
        groups = [("Impersonate-Group", group) for group in request.groups]
        return (*await auth(), ("Impersonate-User", request.user), *groups)

    return replace(access, auth=impersonated)
