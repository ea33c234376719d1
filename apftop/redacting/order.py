"""Texts that stand between two others: a pseudonym sorts among names that are kept as the name it stands for does."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence

LETTERS = "-0123456789abcdefghijklmnopqrstuvwxyz"


def renamed(names: Iterable[str], stem: str, kept: Collection[str]) -> dict[str, str]:
    """A pseudonym `STEM-NUMBER` for each name, none of which is in `kept`: no two alike, in the order of the names.

    Where STEM would sort otherwise among `kept` than the name does, a few letters stand before it.
    """
    ordered, bounds = sorted(set(names)), sorted(set(kept))
    width = len(str(len(ordered)))
    fronts: dict[int, str] = {}
    made: dict[str, str] = {}
    for number, name in enumerate(ordered, 1):
        gap = bisect_right(bounds, name)
        if gap not in fronts:
            fronts[gap] = _front(bounds, gap, f"{stem}-")
        made[name] = f"{fronts[gap]}{number:0{width}}"
    return made


def _front(bounds: Sequence[str], gap: int, stem: str) -> str:
    low = bounds[gap - 1] if gap else ""
    high = bounds[gap] if gap < len(bounds) else None
    if low < stem and (high is None or (stem < high and not high.startswith(stem))):
        return stem
    return f"{between(low, high)}-{stem}"


def between(low: str, high: str | None) -> str:
    """The shortest text of LETTERS and what both begin with that sorts after `low`, and before `high` with any end.

    Raises ValueError where no text of these letters does.
    """
    made = ""
    while True:
        at = len(made)
        above = low[at] if at < len(low) and low.startswith(made) else ""
        below = high[at : at + 1] if high is not None and high.startswith(made) else None
        if below == "":
            raise ValueError(f"nothing of these letters between {low!r} and {high!r}")
        fit = [one for one in LETTERS if one > above and (below is None or one < below)]
        # Letters read best, and hyphens are for where nothing else fits.
        best = [one for one in fit if one.isalpha()] or [one for one in fit if one != "-"]
        if best or (fit and below is None):
            return made + (best or fit)[0]
        if not above and not below:
            raise ValueError(f"nothing of these letters between {low!r} and {high!r}")
        made += above or below or ""


def stem_apart(stem: str, names: Collection[str]) -> str:
    """A stem that is in no name already, so that no pseudonym is somebody's name."""
    while any(f"{stem}-" in name for name in names):
        stem += "x"
    return stem
