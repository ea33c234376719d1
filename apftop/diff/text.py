"""A comparison as text and as Markdown: what it means, then the changes, those that matter first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from apftop.diff.change import Change
from apftop.diff.compared import Diff
from apftop.diff.values import difference, sets, shown
from apftop.present import cells, cut, plain
from apftop.report.look import Look
from apftop.report.markdown import escaped
from apftop.report.text import taken

TITLES = {
    "verdict": "Verdict",
    "findings": "Findings",
    "config": "Config",
    "servers": "Servers",
    "limits": "Limits (seats)",
    "load": "Load",
    "waits": "Waits",
    "clients": "Clients",
    "checks": "Checks",
}
HEAD = ("WHERE", "WHAT", "A", "B", "CHANGE", "")
WIDEST = (80, 60, 48, 48, 32)
"""Cells of each column but the last."""
SIGNS = {"changed": "", "added": "added", "removed": "removed", "within": "noise", "unknown": "unknown", "equal": "="}


def text(diff: Diff, *, every: bool) -> str:
    """The whole comparison; `every` shows also what is equal, within noise, or unknown on one side."""
    lines = [*_sides(diff), "", *diff.summary]
    lines += [f"  ! {plain(line)}" for line in diff.apart]
    for section, some in groupby(_shown(diff, every), key=lambda one: one.section):
        lines += ["", TITLES[section], *_table(list(some))]
    return "\n".join(line.rstrip() for line in [*lines, *_rest(diff, every)]) + "\n"


def markdown(diff: Diff, *, every: bool) -> str:
    """The same for a ticket, a table for each section."""
    lines = ["# apftop diff", "", *(f"- {escaped(line)}" for line in _sides(diff)), ""]
    lines += [*(f"- **{escaped(line)}**" for line in diff.summary), *(f"- {escaped(line)}" for line in diff.apart)]
    for section, some in groupby(_shown(diff, every), key=lambda one: one.section):
        lines += ["", f"## {TITLES[section]}", "", "| Where | What | A | B | Change | |", "|---|---|---|---|---|---|"]
        for one in some:
            note = "; ".join([*sets(one), _note(one)]).strip("; ")
            lines.append("| " + " | ".join(escaped(cell) for cell in (*_cells(one)[:5], note)) + " |")
    return "\n".join([*lines, *map(escaped, _rest(diff, every))]) + "\n"


def _sides(diff: Diff) -> Iterator[str]:
    for side, look in (("A", diff.old), ("B", diff.new)):
        yield f"{side}  {plain(look.source)}  {_when(look)}"


def _when(look: Look) -> str:
    return taken(look.t0, look.t1, look.interval_s)


def _shown(diff: Diff, every: bool) -> Sequence[Change]:
    return [one for one in diff.changes if every or one.beyond or (one.how == "unknown" and _whole(one))]


def _whole(change: Change) -> bool:
    """Whether it is about a whole part, an object or a finding, not about one number of many."""
    return change.section in ("config", "findings") or (change.old is None and change.new is None)


def _rest(diff: Diff, every: bool) -> list[str]:
    if every:
        return []
    hows = [one.how for one in diff.changes]
    within, equal = hows.count("within"), hows.count("equal")
    unknown = sum(one.how == "unknown" and not _whole(one) for one in diff.changes)
    return ["", f"{within} within noise, {unknown} unknown on one side, {equal} equal: --all shows them"]


def _table(changes: Sequence[Change]) -> Iterator[str]:
    rows = [HEAD, *(_cells(one) for one in changes)]
    widths = [max(cells(cut(row[at], WIDEST[at])) for row in rows) for at in range(5)]
    for row, one in zip(rows, (None, *changes), strict=True):
        shorts = [cut(cell, most) for cell, most in zip(row[:5], WIDEST, strict=True)]
        padded = [short + " " * (width - cells(short)) for short, width in zip(shorts, widths, strict=True)]
        yield "  " + "  ".join([*padded, row[5]])
        if one is not None:
            yield from (f"      {line}" for line in sets(one))


def _cells(change: Change) -> tuple[str, str, str, str, str, str]:
    return (
        plain(change.where) or "-",
        plain(change.field),
        shown(change, change.old),
        shown(change, change.new),
        " ".join(filter(None, (SIGNS[change.how], difference(change)))),
        _note(change),
    )


def _note(change: Change) -> str:
    return plain(change.note)
