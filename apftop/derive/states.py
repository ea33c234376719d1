"""What a level is doing, in one word."""

from __future__ import annotations

from dataclasses import replace

from apftop.records.frame import Level, LevelState
from apftop.rules import rules


def level_state(level: Level, *, stale: bool) -> Level:
    """The level with its state.

    `blocked` is a Queue level that can never dispatch (limit 0, cannot borrow); `leaking` a Reject level with limit 0
    that serves all the same, since an idle level lets one request in (1.26 to 1.37).
    """
    return replace(level, state=_state(level, stale))


def _state(level: Level, stale: bool) -> LevelState:
    if stale:
        return "stale"
    if level.exempt:
        return "exempt"
    if level.quiescing:
        return "quiescing"
    jailed = level.current == 0 and level.upper == 0
    if jailed and level.config is not None:
        if level.config.queuing is not None:
            return "blocked"
        if _serves(level):
            return "leaking"
    if _saturated(level):
        return "saturated"
    if level.seats_in_use or level.executing or (level.pace is not None and level.pace.counts.dispatched):
        return "busy"
    if level.seats_in_use is None and level.executing is None and level.pace is None:
        return "unknown"
    return "idle"


def _serves(level: Level) -> bool:
    return bool(level.executing) or (level.pace is not None and level.pace.counts.dispatched > 0)


def _saturated(level: Level) -> bool:
    """Requests wait or were refused, the seats are all taken now, or were for much of the window."""
    if level.waiting or (level.pace is not None and level.pace.counts.rejected_total > 0):
        return True
    if level.current and level.seats_in_use is not None and level.seats_in_use >= level.current:
        return True
    full = level.utilization
    share = rules().state.saturated_share_of_time
    return full is not None and not full.lifetime and full.gt_99 is not None and full.gt_99 >= share
