"""Why a rule does not match a request, in words."""

from __future__ import annotations

from apftop.apf.matching import Miss
from apftop.present import plain

SHOWN = 6


def why_not(miss: Miss) -> str:
    """One line: the first part of the rule that failed, what it asks for, and what the request has."""
    where = f"rule {miss.rule + 1}" + ("" if miss.target is None else f", target {miss.target + 1}")
    wanted, got = _listed(miss.wanted), plain(miss.got)
    match miss.part:
        case "subjects":
            return f"{where}: the user {got} is none of {wanted}, nor in such a group"
        case "resourceRules":
            return f"{where}: it has no resource rules, and the request is for the resource {got}"
        case "nonResourceRules":
            return f"{where}: it has no non-resource rules, and the request is for the path {got}"
        case "clusterScope":
            return f"{where}: the request has no namespace, and the rule has no clusterScope: true"
        case "namespaces":
            return f"{where}: namespace {got} is not among {wanted}"
        case "verbs":
            return f"{where}: verb {got} is not among {wanted}"
        case "resources":
            return f"{where}: resource {got} is not among {wanted}"
        case "apiGroups":
            return f"{where}: API group {got or _CORE} is not among {wanted}"
        case "nonResourceURLs":
            return f"{where}: path {got} is not among {wanted}"


_CORE = '"" (core)'


def _listed(values: tuple[str, ...]) -> str:
    if not values:
        return "none"
    shown = [plain(one) or _CORE for one in values[:SHOWN]]
    more = f" and {len(values) - SHOWN} more" if len(values) > SHOWN else ""
    return ", ".join(shown) + more
