"""Pieces of HTML in which all text is escaped: names of tags and attributes are ours, text may be anybody's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from apftop.present import plain
from apftop.sheets.findings import SIGN
from apftop.sheets.sheet import Sheet

MOST_TEXT = 2000
"""So many characters of one text are shown; an object's name has 253 at most."""

SHORT = 26
"""Text of so many characters is not folded in a cell."""

VOID = frozenset({"meta", "br"})


class Markup(str):
    """HTML that was made here; any other text is escaped."""

    __slots__ = ()


def element(tag: str, *children: str, **attributes: str | float) -> Markup:
    """One element with its children; an underscore at the end of an attribute's name is left out, others are `-`."""
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(plain(str(value)))}"' for name, value in attributes.items()
    )
    if tag in VOID:
        return Markup(f"<{tag}{given}>")
    return Markup(f"<{tag}{given}>{joined(children)}</{tag}>")


def joined(children: Iterable[str]) -> Markup:
    """Pieces one after another."""
    return Markup("".join(map(text, children)))


def text(said: str) -> Markup:
    """Text as HTML: without what could act or mislead, and not endless."""
    return said if isinstance(said, Markup) else Markup(escape(plain(said, MOST_TEXT)))


def listed(lines: Iterable[str], **attributes: str) -> Markup:
    """Lines as a list; nothing where there are none."""
    items = [element("li", line) for line in lines]
    return element("ul", *items, **attributes) if items else Markup()


def block(lines: Iterable[str]) -> Markup:
    """Lines that are to be copied as they are: all of them, however long."""
    return Markup(f"<pre>{escape(chr(10).join(map(plain, lines)))}</pre>")


def folded(summary: str, *children: str) -> Markup:
    """What is shown when somebody asks for it; without a script."""
    return element("details", element("summary", summary), *children)


def table(
    caption: str,
    titles: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    left: frozenset[int] = frozenset({0}),
    helps: Sequence[str] = (),
) -> Markup:
    """A table in a box of its own that scrolls; the first cell of a row is its heading.

    `left` are the columns of text; `helps` say what columns mean, and are listed below.
    """
    head = [element("th", title, scope="col", class_=_side(title, at in left)) for at, title in enumerate(titles)]
    body = [
        element(
            "tr",
            element("th", row[0], scope="row", class_=_side(row[0], True)),
            *(element("td", cell, class_=_side(cell, at in left)) for at, cell in enumerate(row[1:], 1)),
        )
        for row in rows
    ]
    made = element(
        "table", element("caption", caption), element("thead", element("tr", *head)), element("tbody", *body)
    )
    # It can be scrolled with the keyboard.
    box = element("div", made, class_="box", tabindex="0", role="group", aria_label="table")
    if not helps:
        return box
    meant = joined(
        joined((element("dt", title), element("dd", said))) for title, said in zip(titles, helps, strict=True) if said
    )
    return joined((box, folded("What the columns mean", element("dl", meant))))


def _side(cell: str, left: bool) -> str:
    """Text lies left, and is folded unless it is short; numbers lie right."""
    return ("l s" if len(cell) <= SHORT else "l") if left else "r"


def sheet_table(made: Sheet, caption: str, most: int) -> Markup:
    """A view of the screen as a table of so many rows at most, with what of it is not known."""
    columns = made.columns
    # Trends have charts, and findings a section of their own.
    kept = [at for at, column in enumerate(columns) if column.kind != "trend" and column.key != SIGN.key]
    shown = made.rows[:most]
    rows = [[row.cells[at].text for at in kept] for row in shown]
    titles = [columns[at].title for at in kept]
    helps = [f"{columns[at].help}. From: {columns[at].source}" for at in kept]
    left = frozenset(new for new, at in enumerate(kept) if not columns[at].right)
    found = [table(caption, titles, rows, left=left | {0}, helps=helps)] if rows else [element("p", made.empty)]
    if len(made.rows) > most:
        found.append(element("p", f"{len(made.rows) - most} more of {len(made.rows)} rows are left out.", class_="dim"))
    if made.facts:
        found.append(listed(made.facts))
    told = [line for line in made.notes if line != made.empty or rows]
    return joined((*found, listed(told, class_="dim")))
