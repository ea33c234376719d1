"""The page of each finding, read from `pages/`: the screen, reports and the alerts' runbooks share it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec

STEPS = (
    "Is it APF at all, or a server, its storage or a client that is slow?",
    "Which class of requests is it: schema and level, on which replica?",
    "Who is in it: clients and flows by the dumps",
    "Where is the time spent: waiting, executing, or refused?",
    "What do those that suffer share: an account, a namespace, a replica?",
    "Change one thing, and look again",
)
"""The order in which to debug, from 1 on."""


class Page(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What there is to say of one kind of finding, whatever the numbers.

    `means` is what happens and why, for somebody who has never heard of APF; `told` how it is recognised, with what;
    `do` what to do, the one change first; `not_if` when it is harmless or something else. `step` is where in the order
    of debugging it belongs, from 1 to 6, and `next` what to look at then. `alerts` are those of the query library that
    are about the same, `facts` the keys of its facts with what they mean.
    """

    title: str
    step: int
    means: str
    told: str
    do: str
    not_if: str
    next: str
    alerts: tuple[str, ...] = ()
    facts: dict[str, str] = {}


@cache
def book() -> dict[str, Page]:
    """All pages by their codes, in the order in which they are listed."""
    pages: dict[str, Page] = {}
    for file in sorted(files("apftop.findings").joinpath("pages").iterdir(), key=lambda one: one.name):
        pages |= msgspec.toml.decode(file.read_bytes(), type=dict[str, Page])
    return pages
