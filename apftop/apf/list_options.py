"""The options of a LIST or WATCH, from its query string."""

from __future__ import annotations

import re
from dataclasses import dataclass

from apftop.apf.query import query_values

_NUMBER = re.compile(r"[+-]?[0-9]+")
_MOST = 2**63


@dataclass(frozen=True, slots=True)
class ListOptions:
    """What decides the cost of a LIST. `send_initial_events` is None where the query does not say."""

    limit: int
    continues: bool
    resource_version: str
    resource_version_match: str
    selects: bool
    send_initial_events: bool | None


def list_options(query: str) -> ListOptions | None:
    """Read a query string as the server does; None where it refuses it, because a number is none."""
    given = {key: values[0] for key, values in query_values(query).items()}
    limit = _number(given.get("limit", "0"))
    if limit is None or _number(given.get("timeoutSeconds", "0")) is None:
        return None
    initial = given.get("sendInitialEvents")
    return ListOptions(
        limit=limit,
        continues=given.get("continue", "") != "",
        resource_version=given.get("resourceVersion", ""),
        resource_version_match=given.get("resourceVersionMatch", ""),
        selects=given.get("labelSelector", "") != "" or given.get("fieldSelector", "") != "",
        send_initial_events=None if initial is None else truth(initial),
    )


def truth(text: str) -> bool:
    """A boolean of a query: everything but `0` and `false` is true, also nothing at all."""
    return text != "0" and text.lower() != "false"


def _number(text: str) -> int | None:
    if not _NUMBER.fullmatch(text):
        return None
    number = int(text)
    return number if -_MOST <= number < _MOST else None
