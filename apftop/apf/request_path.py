"""What the path of a request says about its resource, by the server's own rules (1.26 to 1.37)."""

from __future__ import annotations

from dataclasses import dataclass

_NAMESPACE_SUBRESOURCES = ("status", "finalize")


@dataclass(frozen=True, slots=True)
class PathParts:
    """Namespace, name, `group/version`, resource and subresource of a path; all empty for a non-resource path.

    `verb` is `watch` or `proxy` where the path itself says so, by the old form `/api/v1/watch/pods`. The resource of a
    `resource_request` may be empty too: that of `/api/v1//pods` is, and `pods` is a name there.
    """

    namespace: str = ""
    name: str = ""
    api_version: str = ""
    resource: str = ""
    subresource: str = ""
    verb: str = ""
    resource_request: bool = False


def path_parts(path: str) -> PathParts:
    """Take a URL path (decoded) apart; the name may be missing where a field selector gave it."""
    parts = path.strip("/").split("/")
    groups = {"api": 0, "apis": 1}.get(parts[0])
    if groups is None or len(parts) < 3 + groups:
        return PathParts()
    api_version = "/".join(parts[1 : 2 + groups])
    rest = parts[2 + groups :]
    verb = rest[0] if rest[0] in ("watch", "proxy") else ""
    if verb:
        rest = rest[1:]
    if not rest:
        return PathParts()
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in _NAMESPACE_SUBRESOURCES:
            rest = rest[2:]
    return PathParts(
        namespace=namespace,
        name=rest[1] if len(rest) > 1 else "",
        api_version=api_version,
        resource=rest[0],
        subresource=rest[2] if len(rest) > 2 and verb != "proxy" else "",
        verb=verb,
        resource_request=True,
    )
