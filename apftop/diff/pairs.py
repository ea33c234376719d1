"""Which server of one side is which one of the other."""

from __future__ import annotations

from dataclasses import dataclass

from apftop.records.frame import Frame, Replica

ALL = "all servers"


@dataclass(frozen=True, slots=True)
class Group:
    """What is compared as one: a server, or all servers of a side, by the name that is shown."""

    name: str
    old: tuple[Replica, ...]
    new: tuple[Replica, ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Servers by name where any name is on both sides, else all of one side against all of the other.

    `gone` and `come` are servers that only one side has, where others match.
    """

    groups: tuple[Group, ...]
    by: str
    gone: tuple[str, ...] = ()
    come: tuple[str, ...] = ()


def paired(old: Frame, new: Frame, *, by_name: bool = True) -> Pairs:
    """The servers that are compared. Extension servers are left out, as they are of all totals."""
    was, now = ({one.name: one for one in frame.servers} for frame in (old, new))
    both = sorted(set(was) & set(now))
    if not both or not by_name:
        return Pairs((Group(ALL, tuple(was.values()), tuple(now.values())),), "totals")
    groups = tuple(Group(name, (was[name],), (now[name],)) for name in both)
    return Pairs(groups, "name", tuple(sorted(set(was) - set(now))), tuple(sorted(set(now) - set(was))))
