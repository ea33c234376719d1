"""Two looks compared: all changes, in the order in which they matter, and what could not be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from apftop.apf.builtins import builtin_levels, builtin_schema_names
from apftop.diff.change import Change, ordered
from apftop.diff.clients import client_changes
from apftop.diff.config import config_changes
from apftop.diff.found import check_changes, finding_changes, verdict_changes
from apftop.diff.levels import level_changes
from apftop.diff.meaning import meaning
from apftop.diff.pairs import Pairs, paired
from apftop.diff.servers import server_changes
from apftop.report.look import Look

PSEUDONYMS = "names are pseudonyms on one side"
OTHERS = "names are pseudonyms on both sides, and not the same ones"


@dataclass(frozen=True, slots=True)
class Diff:
    """B against A: `summary` is what it most likely means, the first line first.

    `apart` are lines on what could not be compared, and why.
    """

    old: Look
    new: Look
    pairs: Pairs
    changes: tuple[Change, ...]
    summary: tuple[str, ...]
    apart: tuple[str, ...]

    @property
    def changed(self) -> bool:
        """Whether anything changed by more than noise."""
        return any(one.beyond for one in self.changes)


def compared(old: Look, new: Look) -> Diff:
    """All that both sides know, value by value."""
    veil = _veil(old, new)
    pairs = paired(old.frame, new.frame, by_name=veil != OTHERS)
    found = _changes(old, new, pairs)
    changes = ordered(_veiled(one, veil) for one in found) if veil else ordered(found)
    return Diff(old, new, pairs, changes, meaning(old, new, pairs, changes), tuple(_apart(old, new, pairs, veil)))


def _veil(old: Look, new: Look) -> str:
    """Why names do not tell what is the same; empty where they do. Each redaction gives its own pseudonyms."""
    was, now = old.frame.redacted, new.frame.redacted
    if was != now:
        return PSEUDONYMS
    return OTHERS if was and old.source != new.source else ""


def _changes(old: Look, new: Look, pairs: Pairs) -> Iterator[Change]:
    yield from verdict_changes(old.found, new.found)
    yield from finding_changes(old, new)
    yield from config_changes(old.frame, new.frame)
    yield from server_changes(old.frame, new.frame, pairs)
    for group in pairs.groups:
        yield from level_changes(group)
    yield from client_changes(pairs)
    yield from check_changes(old.checks, new.checks)


def _veiled(change: Change, veil: str) -> Change:
    """What only names tell, where the sides have other names for the same: it cannot be told."""
    words = isinstance(change.old, (str, tuple)) or isinstance(change.new, (str, tuple))
    by_name = change.section == "clients" or change.how in ("added", "removed")
    about_names = change.section == "config" and words
    only_facts = change.section == "findings" and change.old == change.new
    if not (by_name or about_names or only_facts or (veil == OTHERS and not _known(change))):
        return change
    return change if change.how == "equal" else replace(change, how="unknown", note=veil)


def _known(change: Change) -> bool:
    """Whether it is of something whose name every cluster has."""
    names = {change.level, change.name.rpartition("/")[2]} - {"", "cluster"}
    return names <= {*builtin_levels(), *builtin_schema_names()}


def _apart(old: Look, new: Look, pairs: Pairs, veil: str) -> Iterable[str]:
    if veil:
        yield f"{veil}: clients, and objects and rules of other names, cannot be compared"
    if pairs.by == "totals":
        was, now = len(old.frame.servers), len(new.frame.servers)
        why = "" if veil == OTHERS else "no server has the same name on both sides: "
        yield f"{why}sums of {was} and {now} servers are compared, waits are not"
    if pairs.by == "totals" and was != now:
        yield "the numbers of servers differ: sums of limits and rates do too"
    for side, look in (("A", old), ("B", new)):
        others = [one.name for one in look.frame.replicas.values() if one.kind == "extension"]
        if others:
            yield f"{side}: {', '.join(others)} is no kube-apiserver and is not compared"
        if not look.frame.servers:
            yield f"{side}: no kube-apiserver was read"
        elif all(one.window is None for one in look.frame.servers):
            yield f"{side}: only one answer of each server: no rates, waits and averages"
