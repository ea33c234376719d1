"""The help of one view: keys and signs, what its columns mean and where they come from, and how to filter."""

from __future__ import annotations

from collections.abc import Iterable

from textual.binding import Binding

from apftop.sheets.page import Entry, Page, Section
from apftop.sheets.sheet import Sheet
from apftop.ui.keys import KEYS, keys_of
from apftop.ui.scrolled import Scrolled
from apftop.ui.table import Table

FILTER = (
    ("word", "rows in any cell of which the word is"),
    ("!word", "rows in none of which it is"),
    ("{numbers}", "rows of which all of this holds; columns go by their titles, or by how these begin"),
    ("{name}=this {name}!=that", "the whole text of a cell, without case"),
    ("{name}~part !{name}~part", "part of the text of a cell"),
    ('"two words"', "text with spaces or signs"),
)
SIGNS = (
    ("-", "unknown, which is never 0"),
    ("~", "old: not renewed when it should have been; of a sum or a worst one: not known of all replicas"),
    ("1s-2s, <=5ms, >60s", "the bounds between which a wait lies; > is beyond the last one"),
    ("dumps 1s, over 2s", "the oldest of the newest answers, and what time rates are of; stale: asked again in vain"),
    ("!!, !, i", "of what is found: critical, warning, worth knowing; all of it in view 7"),
    ("! …", "what is wrong, and what to do; all of it in view 6, and by `apftop doctor`"),
    ("▁ ▄ █ of the past", "how many requests waited at most, of the number that follows `w to`; empty: nothing noted"),
    ("# ! . of the past", "the worst finding of that time: critical, warning, worth knowing; ^ is where the screen is"),
    ("C R V G K | + -", "objects changed, restart, version, silence, a clock set, recorder, servers come and left"),
    ("REC", "all of it is recorded; BACK and REPLAY show what was: L brings back now, or the end"),
    ("click", "on a row, a title or a key; twice on a row to go into it"),
)
EXAMPLES = (("number", ">5"), ("seconds", ">=200ms"), ("share", "<50%"))


def help_page(sheet: Sheet) -> Page:
    """All of the help."""
    table_keys = [one for one in Table.BINDINGS if isinstance(one, Binding)]
    keys = tuple((keys_of(one), one.description) for one in (*table_keys, *KEYS))
    columns = tuple((one.title, f"{one.help} (from {one.source})" if one.source else one.help) for one in sheet.columns)
    return Page(
        (
            Section("Keys", keys),
            Section("Signs", SIGNS),
            Section(f"Columns of {sheet.title}", columns),
            Section("Filter", tuple(filter_help(sheet))),
        )
    )


def filter_help(sheet: Sheet) -> Iterable[Entry]:
    """How to filter, by examples that this view understands."""
    first = {column.kind: column.key for column in reversed(sheet.columns)}
    numbers = " ".join(f"{first[kind]}{condition}" for kind, condition in EXAMPLES if kind in first)
    given = {"numbers": numbers, "name": first.get("text", "level")}
    return [(example.format_map(given), meaning) for example, meaning in FILTER if example.format_map(given)]


class Help(Scrolled):
    """The help over the whole screen."""

    def __init__(self, sheet: Sheet) -> None:
        super().__init__(help_page(sheet))
