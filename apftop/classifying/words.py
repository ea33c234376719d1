"""Why a rule does not match a request, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from apftop.apf.attributes import Attributes
from apftop.apf.matching import Miss
from apftop.present import plain

SHOWN = 6
"""Values of a list that are named before the others are counted."""


def field_of(miss: Miss, request: Attributes) -> str:
    """The field of the schema's spec that a request fails on, such as `rules[0].resourceRules[1].verbs`."""
    rule = f"rules[{miss.rule}]"
    if miss.target is None:
        return f"{rule}.{miss.part}"
    of = "resourceRules" if request.resource_request else "nonResourceRules"
    return f"{rule}.{of}[{miss.target}].{miss.part}"


def why_not(miss: Miss, request: Attributes) -> str:
    """One line: the first field of the rule that fails, what it asks for, and what the request has."""
    return f"{field_of(miss, request)}: {_words(miss, request)}"


def _words(miss: Miss, request: Attributes) -> str:
    got = plain(miss.got)
    match miss.part:
        case "subjects":
            return f"only {_listed(miss.wanted)}; not user {got} or a group of it"
        case "resourceRules" | "nonResourceRules":
            return f"none, and the request is for {got}"
        case "clusterScope":
            return "not true, and the request has no namespace"
        case _:
            return f"only {_listed(miss.wanted)}; not {got or _CORE}{_hint(miss, request)}"


def _hint(miss: Miss, request: Attributes) -> str:
    """What people think that a rule says, and it does not."""
    if "*" in miss.wanted and len(miss.wanted) > 1:
        return ' ("*" stands for all only where it is alone)'
    if miss.part == "resources" and request.subresource:
        if request.resource in miss.wanted:
            return f" (which {plain(request.resource)} does not cover)"
        if f"{request.resource}/*" in miss.wanted:
            return " (no pattern holds here but * alone)"
    return ""


_CORE = '"" (core)'


def _listed(values: tuple[str, ...]) -> str:
    if not values:
        return "nothing"
    return listed(plain(one) or _CORE for one in values)


def listed(values: Iterable[str], most: int | None = SHOWN) -> str:
    """Texts in a row: so many of them, and how many more there are."""
    every = list(values)
    shown = every if most is None or len(every) <= most + 1 else every[:most]
    return ", ".join(shown) + (f" and {len(every) - len(shown)} more" if len(shown) < len(every) else "")


def reasons(misses: Iterable[Miss], request: Attributes) -> Iterator[str]:
    """A line for each miss."""
    return (why_not(miss, request) for miss in misses)
