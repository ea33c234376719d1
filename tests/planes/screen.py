"""A screen as its reader sees it: what a program draws in a terminal, as lines and as cells under their titles."""

from __future__ import annotations

import codecs
import re
import time
from collections.abc import Callable
from itertools import pairwise

from tests.ui.terminal import Pty

LONG_S = 40.0
STILL_S = 0.3
"""What has not changed for so long is painted to its end."""
PAGE_DOWN = "\x1b[6~"
_UNDER_THE_TABLE = re.compile(r"1 levels 2 schemas|! \S")
"""The line of keys, and notes on what goes wrong; the sign of a row has two blanks behind it."""

_SEQUENCE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[ -/]*[0-Z\\^-~])")
_PLACE = re.compile(r"\x1b\[(\d+);(\d+)H")
# Styles, and modes of the terminal: they move nothing.
_STILL = re.compile(r"\x1b(\[[\d;]*m|\[[?<>][\d;$]*[a-z]|\].*)", re.DOTALL)
_TITLE = re.compile(r"WAIT p95|STARTS IN|WORST LEVEL|OWN SCHEMA / LEVEL|LEFT OUT|\S+")
_TEXTS = {"LEVEL", "REPLICA", "STATE", "REASON", "MODEL", "SCHEMA", "DISTINGUISHER", "REMARKS", "FLOW", "USER", "WHAT"}
_TEXTS |= {"OBJECT", "VERSION", "ANSWERS", "APF", "WORST LEVEL", "AGES", "OWN SCHEMA / LEVEL", "IDENTITY", "LEFT OUT"}
_TEXTS |= {"CHECKS", "F"}
"""The cells of these columns begin under their title; those of all others end under its end."""
_REFUSED = re.compile(r"\d+ of \d+$")
_WORD = re.compile(r"\S+$")

Row = dict[str, str]


class Screen:
    """The screen of a program."""

    def __init__(self, terminal: Pty, size: tuple[int, int]) -> None:
        self._terminal = terminal
        self._decoded = codecs.getincrementaldecoder("utf-8")()
        self._taken = 0
        self._left = ""
        self._resized(*size)

    def _resized(self, columns: int, rows: int) -> None:
        self._size = columns, rows
        self._cells = [[" "] * columns for _ in range(rows)]
        self._x = self._y = 0

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size; what is drawn from now on is for that."""
        self.read(0.0)
        self._resized(columns, rows)
        self._terminal.resize(columns, rows)

    def send(self, keys: str) -> None:
        self._terminal.send(keys.encode())

    def read(self, seconds: float) -> None:
        """Take in what is drawn, waiting so long for it."""
        self._terminal.read(seconds)
        new = self._terminal.output[self._taken :]
        self._taken += len(new)
        text = self._left + self._decoded.decode(new)
        at = 0
        while at < len(text):
            if text[at] != "\x1b":
                self._put(text[at])
                at += 1
            elif found := _SEQUENCE.match(text, at):
                self._act(found[0])
                at = found.end()
            else:
                break
        self._left = text[at:]

    def _put(self, character: str) -> None:
        if character == "\r":
            self._x = 0
        elif character == "\n":
            self._y += 1
        else:
            # What is drawn for the size before may lie outside.
            if self._y < self._size[1] and self._x < self._size[0]:
                self._cells[self._y][self._x] = character
            self._x += 1

    def _act(self, sequence: str) -> None:
        if place := _PLACE.fullmatch(sequence):
            self._y, self._x = int(place[1]) - 1, int(place[2]) - 1
        elif not _STILL.fullmatch(sequence):
            raise AssertionError(f"a sequence that this reader does not know: {sequence!r}")

    @property
    def lines(self) -> list[str]:
        return ["".join(line).rstrip() for line in self._cells]

    def until(self, holds: Callable[[list[str]], object], seconds: float = LONG_S) -> list[str]:
        """The lines once it holds for them and all but the first, in which time goes by, are painted to their end."""
        ends = time.monotonic() + seconds
        still = time.monotonic()
        before: list[str] = []
        while True:
            self.read(0.05)
            if (lines := self.lines)[1:] != before:
                before, still = lines[1:], time.monotonic()
            if holds(lines) and time.monotonic() - still >= STILL_S:
                return lines
            if time.monotonic() > ends:
                raise AssertionError("not so in time:\n" + "\n".join(lines))

    def view(self, key: str, caption: str) -> list[Row]:
        """All rows of a view of a frozen screen, paged through."""
        self.send(key)
        lines = self.until(lambda lines: any(line.startswith(caption) for line in lines))
        at = next(at for at, line in enumerate(lines) if line.startswith(caption))
        found = re.search(r"  (\d+) rows?", lines[at])
        assert found, lines[at]
        number, head, first = int(found[1]), lines[at + 1], at + 2
        room = next(at for at, line in enumerate(lines[first:]) if _UNDER_THE_TABLE.match(line))
        # Beside rows that are not all in sight there is a scroll bar.
        area = first, room, self._size[0] - (number > room)
        rows = _page(lines, area)[:number]
        cursor = 0
        while len(rows) < number:
            self.send(PAGE_DOWN)
            cursor = min(cursor + room - 1, number - 1)
            if new := cursor + 1 - len(rows):
                rows += self._scrolled(area, new)[-new:]
        return [cells(head, line) for line in rows]

    def _scrolled(self, area: tuple[int, int, int], rows: int) -> list[str]:
        """The lines of an area once they have moved up by so many rows."""
        before = _page(self.lines, area)

        def moved(lines: list[str]) -> bool:
            page = _page(lines, area)
            return page != before and page[:-rows] == before[rows:]

        return _page(self.until(moved), area)


def _page(lines: list[str], area: tuple[int, int, int]) -> list[str]:
    """An area of the screen: from which line on, how many lines, and how many cells of each."""
    first, number, width = area
    return [line[:width].rstrip() for line in lines[first : first + number]]


def cells(head: str, line: str) -> Row:
    """The cells of a line under their titles."""
    titles = list(_TITLE.finditer(head))
    row: Row = {}
    start = 0
    for title, after in pairwise([*titles, None]):
        assert title is not None
        end = title.end()
        if title[0] in _TEXTS:
            # It goes on up to the next column, and beyond its title's beginning if that lies to the right.
            end = len(line) if after is None else after.start() if after[0] in _TEXTS else _begin(after, line)
        row[title[0]] = line[start:end].strip()
        start = end
    return row


def _begin(title: re.Match[str], line: str) -> int:
    """Where a cell begins that ends under the end of its title, with text before it."""
    upto = line[: title.end()]
    found = (_REFUSED if title[0] == "REFUSED" else _WORD).search(upto)
    return found.start() if found else title.end()
