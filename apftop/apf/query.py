"""Query strings, as servers read them (1.26 to 1.37)."""

from __future__ import annotations

import re
from urllib.parse import unquote_plus

_BROKEN = re.compile(r";|%(?![0-9a-fA-F]{2})")


def query_values(query: str) -> dict[str, list[str]]:
    """The decoded values of each key in their order, empty ones too.

    A pair with a semicolon or with a broken escape is left out, as if it were not there.
    """
    found: dict[str, list[str]] = {}
    for pair in query.split("&"):
        if pair and not _BROKEN.search(pair):
            key, _, value = pair.partition("=")
            found.setdefault(unquote_plus(key), []).append(unquote_plus(value))
    return found
