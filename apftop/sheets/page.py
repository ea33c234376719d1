"""A page about one thing, to be read rather than compared: entries of a name and a text under titles."""

from __future__ import annotations

from dataclasses import dataclass

Entry = tuple[str, str]
"""A name and what is said of it; safe for any terminal."""


@dataclass(frozen=True, slots=True)
class Section:
    """Some entries under a title; `lines` are to be shown as they are, such as commands."""

    title: str
    entries: tuple[Entry, ...]
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """What there is to say of one thing."""

    sections: tuple[Section, ...]
