"""What a probe heard, beside what the model says."""

from __future__ import annotations

from typing import Any

from apftop.present import plain
from apftop.records.classified import Classified
from apftop.records.probed import Heard, Said


def differs(one: Classified, heard: Heard | None) -> bool:
    """Whether a server said something else than the model."""
    return isinstance(heard, Said) and (heard.schema, heard.level) != (one.schema, one.level)


def probed_text(one: Classified, heard: Heard) -> str:
    """One line: which server says what, or why none was asked."""
    if not isinstance(heard, Said):
        return f"not probed: {plain(heard.why)}"
    agrees = "NOT what the model makes of these objects" if differs(one, heard) else "the same"
    said = f"{plain(heard.schema)} -> {plain(heard.level)} (status {heard.status})"
    return f"the server {plain(heard.server)} says: {said}, {agrees}"


def probed_document(one: Classified, heard: Heard | None) -> dict[str, Any] | None:
    """The same as JSON; None where no probe was asked for."""
    match heard:
        case None:
            return None
        case Said(server, status, schema, level):
            said = {"server": server, "status": status, "flow_schema": schema, "priority_level": level}
            return {**said, "agrees": not differs(one, heard), "why_not": None}
        case _:
            unknown = dict.fromkeys(("server", "status", "flow_schema", "priority_level", "agrees"))
            return {**unknown, "why_not": heard.why}
