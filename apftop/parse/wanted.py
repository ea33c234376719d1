"""Which metric families are worth keeping."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wanted:
    """Families by their full name, or by the beginning of it."""

    names: frozenset[str]
    prefixes: tuple[str, ...] = ()

    def takes(self, name: str | bytes) -> bool:
        """Whether the family of exactly this name is wanted."""
        text = name.decode("utf-8", "replace") if isinstance(name, bytes) else name
        return text in self.names or text.startswith(self.prefixes)
