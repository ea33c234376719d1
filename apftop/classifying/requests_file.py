"""Requests in a file: a list in JSON or YAML of who asks for what."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from apftop.classifying.by_path import by_path
from apftop.classifying.by_resource import by_resource
from apftop.classifying.identity import Who, identity
from apftop.parse.documents import decoded
from apftop.records.classified import Asked
from apftop.records.parsed import ParseError

_TEXTS = ("id", "user", "verb", "path", "apiGroup", "resource", "subresource", "namespace", "name", "query")
SHOULD = f"a request has user and verb, and path or resource; keys are {', '.join(_TEXTS)}, groups"


def read_requests(body: bytes) -> tuple[Asked, ...]:
    """The requests of a file; raises ParseError that names the one that is wrong.

    A request with a `path` is what a server makes of it, and one with a `resource` what it says; without `apiGroup` the
    group is that of Kubernetes' own resource. Without `groups` those are taken that its credentials have anyway; an
    empty list is taken as it is.
    """
    documents = [one for one in decoded(body) if one is not None]
    found = documents[0] if len(documents) == 1 else documents
    if isinstance(found, Mapping) and isinstance(found.get("requests"), list):
        found = found["requests"]
    if not isinstance(found, list):
        raise ParseError("no list of requests")
    asked = tuple(_asked(number, one) for number, one in enumerate(found, 1))
    names = [one.name for one in asked]
    for name in names:
        if names.count(name) > 1:
            raise ParseError(f"two requests have the id {name!r}")
    return asked


def _asked(number: int, one: object) -> Asked:
    if not isinstance(one, Mapping):
        raise ParseError(f"request {number} is no object: {SHOULD}")
    label = f"request {one.get('id', number)}"
    if unknown := sorted(str(key) for key in one if key not in (*_TEXTS, "groups")):
        raise ParseError(f"{label}: unknown key {unknown[0]!r}: {SHOULD}")
    texts = {key: _text(label, key, one.get(key)) for key in _TEXTS}
    groups = one.get("groups")
    if groups is not None and not (isinstance(groups, list) and all(isinstance(group, str) for group in groups)):
        raise ParseError(f"{label}: groups is no list of texts")
    if not texts["verb"] or not (texts["path"] or texts["resource"]):
        raise ParseError(f"{label}: {SHOULD}")
    user, its, notes = _who(one.get("user"), groups)
    more: tuple[str, ...] = ()
    try:
        if texts["resource"]:
            group = texts["apiGroup"] if one.get("apiGroup") is not None else None
            resource = "/".join(part for part in (texts["resource"], texts["subresource"]) if part)
            request, more = by_resource(texts["verb"], resource, group, texts["namespace"], texts["name"], user, its)
            query = texts["query"]
        else:
            path, _, query = texts["path"].partition("#")[0].partition("?")
            request, query = by_path(texts["verb"], path, texts["query"] or query, user, its)
    except ParseError as error:
        raise ParseError(f"{label}: {error}") from None
    return Asked(texts["id"] or str(number), request, query, (*notes, *more))


def _who(user: str | None, groups: list[str] | None) -> Who:
    """The one who asks: in exactly the groups that are given, where any list is."""
    return identity(user, None, ()) if groups is None else (user or "", tuple(groups), ())


def _text(label: str, key: str, value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ParseError(f"{label}: {key} is {msgspec.json.encode(str(value)).decode()[:60]}, not a text")
    return value
