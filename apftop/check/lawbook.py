"""What each check is called, what it says, and what it usually means when it is off: read from `laws.toml`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec


class Law(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One law. `says` is the law in words, `off` what it usually means where numbers break it.

    `source` is where the numbers come from, and `tolerance` why and by how much they may differ.
    """

    title: str
    of: Literal["server", "level"]
    says: str
    source: str
    tolerance: str
    off: str


@cache
def lawbook() -> dict[str, Law]:
    """All laws by their codes, in the order in which they are shown."""
    text = files("apftop.check").joinpath("laws.toml").read_bytes()
    return msgspec.toml.decode(text, type=dict[str, Law])
