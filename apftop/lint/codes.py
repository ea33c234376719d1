"""The codes of faults with what they mean, read from `codes/`: text, SARIF and the README share them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec


class Code(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What there is to say of one kind of fault.

    `title` is one line; `means` why it is a fault, for somebody new to APF; `do` what to do. `finding` is the code of
    the finding that a live cluster gives for the same, where there is one.
    """

    title: str
    means: str
    do: str
    finding: str = ""


@cache
def codes() -> dict[str, Code]:
    """All codes; each module of rules has a file of its name."""
    found: dict[str, Code] = {}
    for file in sorted(files("apftop.lint").joinpath("codes").iterdir(), key=lambda one: one.name):
        found |= msgspec.toml.decode(file.read_bytes(), type=dict[str, Code])
    return found
