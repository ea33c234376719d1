"""A harmless GET as somebody else, and which flow schema and priority level the server says that it got."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from urllib.parse import quote

from apftop.access import Access, Headers
from apftop.apf.attributes import Attributes, attributes, bypasses
from apftop.apf.identity import ANONYMOUS, AUTHENTICATED, NODE_PREFIX, UNAUTHENTICATED, impersonated_groups
from apftop.classifying.resources import Resource
from apftop.errors import Trouble
from apftop.fetch import Turn, ask, run
from apftop.parse.objects import parse_objects
from apftop.records.parsed import ParseError
from apftop.records.probed import Heard, Said, Unasked
from apftop.records.raw import FLOW_SCHEMA_UID, LEVEL_UID, OBJECTS, Endpoint, Sample
from apftop.report.looking import manner_of_looks
from apftop.session import open_session

Send = Callable[[Access, str], Awaitable[Sample]]

NONE = "none"
"""The name that is asked for where a request has none."""

QUERIES = {
    "get": "",
    "list": "limit=1",
    # From the server's memory, of one object at most, and over after a second.
    "watch": f"watch=1&timeoutSeconds=1&resourceVersion=0&fieldSelector=metadata.name%3D{NONE}",
}
"""What makes a GET of a resource that verb, at next to no cost."""

NEEDED = "the verb impersonate is needed, on users, groups or serviceaccounts"


def probed(requests: Iterable[Attributes], at: Access) -> list[Heard]:
    """What one server says of GETs of the same kinds, one after another.

    Blocks. Raises Trouble where the server does not answer or does not say, and Unreachable.
    """
    names = _names(at)

    async def all_of_them() -> list[Heard]:
        async with open_session(at, manner_of_looks()) as session:

            async def send(access: Access, path: str) -> Sample:
                sample, _ = await ask(session, access, Endpoint.DISCOVERY, manner_of_looks(), path)
                return sample

            return [await _heard(send, at, request, names) for request in requests]

    return asyncio.run(all_of_them())


def _names(at: Access) -> dict[str, str]:
    """The names of schemas and levels by uid, from the server that is asked."""
    found: dict[str, str] = {}
    for sample in run([at], [Turn(OBJECTS)], manner_of_looks()):
        if sample.endpoint not in OBJECTS:
            continue
        try:
            if not sample.ok:
                raise ParseError(sample.error or f"status {sample.status}")
            objects = parse_objects(sample.body)
        except ParseError as error:
            what = f"the {sample.endpoint} cannot be read, so the probe cannot tell names: {error}"
            raise Trouble(what, at.url) from None
        metas = (*(one.meta for one in objects.schemas), *(one.meta for one in objects.configs))
        found |= {meta.uid: meta.name for meta in metas if meta.uid}
    return found


async def _heard(send: Send, at: Access, request: Attributes, names: Mapping[str, str]) -> Heard:
    if bypasses(request):
        return Unasked("flow control does not see it, so no server would say")
    path, groups = harmless(request), groups_to_ask_for(request.user, request.groups)
    if path is None:
        return Unasked("no harmless GET is classified as this is")
    if groups is None:
        return Unasked("nobody can be impersonated with this name and exactly these groups")
    sample = await send(_as(at, request.user, groups), path)
    if sample.status is None:
        raise Trouble(f"the probe was not answered: {sample.error}")
    uids = sample.header(FLOW_SCHEMA_UID), sample.header(LEVEL_UID)
    if None in uids:
        raise _unclassified(sample, at)
    schema, level = (names.get(uid or "") for uid in uids)
    if schema is None or level is None:
        # Made or deleted this moment; the uid of a mandatory object that is missing is empty.
        raise Trouble("the server names an object that was not among those that it gave before", at.url, "ask again")
    return Said(at.name, sample.status, schema, level)


def _unclassified(sample: Sample, at: Access) -> Trouble:
    """Why an answer does not say where its request went."""
    if sample.status == 403:
        # What comes before flow control forbids nothing but to impersonate.
        return Trouble(f"the probe was refused: {_message(sample)}", at.url, NEEDED)
    what = f"the answer to the probe does not tell its flow schema (status {sample.status})"
    return Trouble(what, at.url, "flow control is off there, or something else answered")


def _message(sample: Sample) -> str:
    try:
        return str(json.loads(sample.body)["message"])
    except (ValueError, KeyError, TypeError):
        return "status 403"


def harmless(request: Attributes) -> str | None:
    """The encoded path of a GET that servers take for the same kind of request; None where there is none."""
    path = request.path or _path(request)
    query = QUERIES.get(request.verb, "") if request.resource_request else ""
    if not path.startswith("/") or _kind(attributes("GET", path, query)) != _kind(request):
        return None
    return quote(path) + (f"?{query}" if query else "")


def _path(request: Attributes) -> str:
    version = request.api_version or "v1"
    its = f"{request.api_group}/{version}" if request.api_group else version
    # The namespace of a namespace is its own name.
    resource = Resource(request.resource, its, namespaced=request.resource != "namespaces")
    name = (request.name or NONE) if request.verb == "get" else ""
    return resource.path(request.namespace, name, request.subresource)


def _kind(request: Attributes) -> tuple[object, ...]:
    """All of a request that rules look at, but for who asks."""
    if not request.resource_request:
        return False, request.verb, request.path
    return True, request.verb, request.api_group, request.namespace, request.resource, request.subresource


def groups_to_ask_for(user: str, groups: tuple[str, ...]) -> tuple[str, ...] | None:
    """The fewest groups to impersonate a user with, so that it is in exactly those; None where nothing can do that.

    Each group that is asked for takes a right of its own, those that servers add by themselves do not.
    """
    if not all(_carried(text) for text in (user, *groups)):
        return None
    added = UNAUTHENTICATED if user == ANONYMOUS else AUTHENTICATED
    for given in ((), tuple(group for group in groups if group != added), groups):
        # 1.37 adds their group to some requests of nodes that are impersonated without any group.
        certain = given or not user.startswith(NODE_PREFIX)
        if certain and set(impersonated_groups(user, given)) == set(groups):
            return given
    return None


def _carried(text: str) -> bool:
    """Whether a header can carry a text."""
    return bool(text) and text.isprintable() and text == text.strip()


def _as(access: Access, user: str, groups: tuple[str, ...]) -> Access:
    """The same way, as somebody else, also where the kubeconfig already asks as a third."""
    auth = access.auth

    async def acting() -> Headers:
        own = [pair for pair in await auth() if not pair[0].lower().startswith("impersonate-")]
        return (*own, ("Impersonate-User", user), *(("Impersonate-Group", group) for group in groups))

    return replace(access, auth=acting)
