"""News: lines about what happened, the latest ones once each."""

from __future__ import annotations

from apftop.errors import one_line

NEWS_KEPT = 20


def with_line(news: tuple[str, ...], line: str) -> tuple[str, ...]:
    """The news with one more line, as its last."""
    line = one_line(line)
    return (*(one for one in news if one != line), line)[-NEWS_KEPT:]
