"""Values of changes as people read them."""

from __future__ import annotations

from apftop.diff.change import Change, Interval, Value
from apftop.present import UNKNOWN, percent, plain, rate, seconds, whole

NOT_SET = "not set"
WIDTH = 60


def shown(change: Change, value: Value) -> str:
    """One side of a change, safe for a terminal; a long set of words in short."""
    if value is None:
        return NOT_SET if change.section == "config" and change.how == "changed" else UNKNOWN
    if isinstance(value, str):
        return plain(value, WIDTH)
    if isinstance(value, tuple):
        return _several(value)
    if change.unit == "1/s":
        return f"{rate(value)}/s"
    if change.unit.startswith("share"):
        return percent(value)
    return whole(value)


def _several(value: tuple[str, ...] | Interval) -> str:
    match value:
        case (float() | int() as low, None):
            return f">{seconds(low)}"
        case (float() | int() as low, float() | int() as high):
            return f"<={seconds(high)}" if low == 0 else f"{seconds(low)}-{seconds(high)}"
    return f"{len(value)} of them" if len(value) != 1 else plain(str(value[0]), WIDTH)


def difference(change: Change) -> str:
    """B minus A with its sign, and the factor where that says more."""
    if change.difference is None or change.how in ("equal", "unknown"):
        return ""
    sign = "+" if change.difference > 0 else "-" if change.difference < 0 else ""
    size = abs(change.difference)
    if change.unit == "1/s":
        return f"{sign}{rate(size)}/s"
    if change.unit.startswith("share"):
        return f"{sign}{size * 100:.1f} points"
    return f"{sign}{whole(size)}"


def sets(change: Change) -> list[str]:
    """What a set of words gained and lost, a line each; none where it is no such change."""
    if change.unit or not (isinstance(change.old, tuple) or isinstance(change.new, tuple)):
        return []
    old = {str(one) for one in change.old} if isinstance(change.old, tuple) else set()
    new = {str(one) for one in change.new} if isinstance(change.new, tuple) else set()
    return [*(f"- {plain(one)}" for one in sorted(old - new)), *(f"+ {plain(one)}" for one in sorted(new - old))]
