"""What the server knows of a request when it classifies it."""

from __future__ import annotations

from dataclasses import dataclass

from apftop.apf.list_options import list_options, truth
from apftop.apf.query import query_values
from apftop.apf.request_path import path_parts

_VERBS = {"POST": "create", "GET": "get", "HEAD": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_LONG_RUNNING_VERBS = ("watch", "proxy")
_LONG_RUNNING_SUBRESOURCES = ("attach", "exec", "proxy", "log", "portforward")
_PROFILING_PREFIX = "/debug/pprof/"


@dataclass(frozen=True, slots=True)
class Attributes:
    """One request: who asks (the impersonated user), and for what.

    `verb` is the request verb in lower case. `api_group` to `name` are empty for a non-resource request; the core group
    is empty too.
    """

    user: str
    groups: tuple[str, ...]
    verb: str
    path: str
    resource_request: bool
    api_group: str = ""
    api_version: str = ""
    namespace: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""

    @property
    def target(self) -> str:
        """The resource as rules name it: `pods`, `pods/log`."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


def attributes(method: str, path: str, query: str = "", user: str = "", groups: tuple[str, ...] = ()) -> Attributes:
    """What the server makes of an HTTP method, a decoded path and a query string (1.26 to 1.37)."""
    parts = path_parts(path)
    if not parts.resource_request:
        return Attributes(user, groups, method.lower(), path, resource_request=False)
    group, _, version = parts.api_version.rpartition("/")
    verb = parts.verb or _VERBS.get(method.upper(), "")
    name = parts.name
    if not name and verb == "get":
        asked = query_values(query)
        verb = "watch" if truth(asked.get("watch", ["false"])[0]) else "list"
        # Of options that it cannot read the server takes nothing but `watch`.
        name = selected_name(asked.get("fieldSelector", [""])[0]) if list_options(query) else ""
    if not name and verb == "delete":
        verb = "deletecollection"
    return Attributes(
        user=user,
        groups=groups,
        verb=verb,
        path=path,
        resource_request=True,
        api_group=group,
        api_version=version,
        namespace=parts.namespace,
        resource=parts.resource,
        subresource=parts.subresource,
        name=name,
    )


def bypasses(request: Attributes) -> bool:
    """Whether flow control lets the request pass unseen: it is long-running and not a watch (1.26 to 1.37).

    Every read of `pods/log` counts as long-running, also one that does not follow.
    """
    if request.verb == "watch":
        return False
    return (
        request.verb in _LONG_RUNNING_VERBS
        or request.subresource in _LONG_RUNNING_SUBRESOURCES
        or (not request.resource_request and request.path.startswith(_PROFILING_PREFIX))
    )


def selected_name(field_selector: str) -> str:
    """The one object that a field selector names by `metadata.name=`; empty where it names none."""
    for term in field_selector.split(","):
        key, sign, value = term.partition("=")
        if key == "metadata.name" and sign:
            name = value.removeprefix("=")
            return "" if name in (".", "..") or "/" in name or "%" in name else name
    return ""
