"""The requests in question that lie with a bundle, under other names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from apftop.parse.documents import decoded
from apftop.records.parsed import ParseError
from apftop.redacting import words
from apftop.redacting.pseudonyms import Kind, Naming


def asked(body: bytes, naming: Naming) -> bytes:
    """The requests of a file. Raises ParseError where it is no list of them."""
    documents = [one for one in decoded(body) if one is not None]
    found = documents[0] if len(documents) == 1 else documents
    if isinstance(found, Mapping) and isinstance(found.get("requests"), list):
        found = found["requests"]
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        raise ParseError("no list of requests")
    return msgspec.json.format(msgspec.json.encode([_request(one, naming) for one in found]), indent=1) + b"\n"


def _request(one: Mapping[Any, Any], naming: Naming) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in one.items():
        if key == "groups" and isinstance(value, list):
            made[key] = [words.group(str(group), naming) for group in value]
        elif key == "id":
            made[key] = naming(Kind.REQUEST, str(value))
        elif value is None or isinstance(value, str):
            told = _field(key, value or "", one, naming)
            if told is not None:
                made[key] = told if value is not None else None
    return made


def _field(key: object, value: str, one: Mapping[Any, Any], naming: Naming) -> str | None:
    match key:
        case "user":
            return words.user(value, naming)
        case "verb":
            return words.verb(value, naming)
        case "path":
            path, mark, query = value.partition("#")[0].partition("?")
            return words.path(path, naming) + mark + words.query(query, naming)
        case "apiGroup":
            return naming(Kind.API_GROUP, value)
        case "resource":
            return words.resource(value, naming)
        case "subresource":
            return naming(Kind.SUBRESOURCE, value)
        case "namespace":
            return naming(Kind.NAMESPACE, value)
        case "name":
            return words.named(value, str(one.get("resource") or ""), naming)
        case "query":
            return words.query(value, naming)
    return None
