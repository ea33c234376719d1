"""A request by its path: what a server makes of it."""

from __future__ import annotations

import re
from urllib.parse import unquote

from apftop.apf.attributes import Attributes, attributes
from apftop.records.parsed import ParseError

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE")
_METHOD_OF = {"list": "GET", "watch": "GET", "create": "POST", "update": "PUT", "deletecollection": "DELETE"}
_NEVER_SENT = re.compile(r"[\x00-\x20\x7f]|%(?![0-9a-fA-F]{2})")
_NO_KIND = re.compile(r"/*(api|apis/[^/]*)/[^/]*/(watch|proxy)/*")


def by_path(verb: str, path: str, query: str, user: str, groups: tuple[str, ...]) -> tuple[Attributes, str]:
    """The request and its query, by a path as it stands in a URL and an HTTP method or a verb such as `list`.

    A `watch` gets `watch=1` where the query lacks it. Raises ParseError where no request has that path and verb.
    """
    if not path.startswith("/"):
        raise ParseError(f"a path begins with /: {path!r} does not")
    name = verb.lower()
    method = _METHOD_OF.get(name, verb.upper())
    if method not in METHODS:
        raise ParseError(f"unknown verb {verb!r}: a path has an HTTP method, or a verb such as list or watch")
    decoded = _decoded(path)
    found = attributes(method, decoded, query, user, groups)
    if name == "watch" and found.verb == "list":
        query = "&".join(part for part in (query, "watch=1") if part)
        found = attributes(method, decoded, query, user, groups)
    if name in _METHOD_OF and not found.resource_request:
        raise ParseError(f"{path} is no resource: it has an HTTP method such as get, not the verb {name}")
    if name in _METHOD_OF and found.verb != name:
        raise ParseError(f"a {method} of {path} has the verb {found.verb}, never {name}")
    return found, query


def _decoded(path: str) -> str:
    """The path as servers match it. Raises ParseError for one that none of them takes."""
    if broken := _NEVER_SENT.search(path):
        raise ParseError(f"{path!r} is no path of a URL: servers refuse {broken[0]!r} there with status 400")
    try:
        decoded = unquote(path, errors="strict")
    except UnicodeDecodeError:
        raise ParseError(f"the escapes of {path!r} are no UTF-8, as no name has them") from None
    if _NO_KIND.fullmatch(decoded):
        raise ParseError(f"{path!r} names nothing to watch or proxy: servers refuse it with status 500")
    return decoded
