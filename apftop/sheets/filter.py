"""The reader's filter: terms apart by spaces, of which a row must fulfil all.

`word` is in any cell's text, `!word` in none; `waiting>5`, `wait_p95>=200ms`, `full<50%`, `level=exempt`, `user!=bob`
compare one column, by its key, its title or how only that one begins; `user~kube` and `!user~kube` look for text in it.
Text is compared without case, and text with spaces or signs is put in double quotes. What is unknown fulfils no
comparison. An interval is above or below a number if all of it is, and equal to one that lies in it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from apftop.present import plain
from apftop.sheets.sheet import Column, Kind, Row, Value

_WORDS = re.compile(r'(?:"[^"]*"?|[^\s"])+')
_TERM = re.compile(r"(!?)([^\s<>=!~\"]+)(>=|<=|!=|>|<|=|~)(.*)", re.DOTALL)
_NUMBER = re.compile(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(\S*)")
_SECONDS = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SHARES = {"": 0.01, "%": 0.01}
_UNITS: dict[Kind, dict[str, float]] = {"number": {"": 1.0}, "seconds": _SECONDS, "share": _SHARES}

Test = Callable[[Row], bool | None]
"""Whether a row fulfils a term; None where that is unknown."""


class FilterError(ValueError):
    """A filter that cannot be understood: the message is for its reader."""


@dataclass(frozen=True, slots=True)
class Term:
    """One term; what is unknown does not fulfil it, and neither does it fulfil its opposite."""

    test: Test
    negated: bool

    def holds(self, row: Row) -> bool:
        """Whether a row fulfils it."""
        found = self.test(row)
        return found is not None and found is not self.negated


def parse(text: str, columns: Sequence[Column]) -> tuple[Term, ...]:
    """The terms of a filter. Raises FilterError where one is not understood."""
    return tuple(_term(word, columns) for word in _WORDS.findall(text))


def matching(rows: Sequence[Row], terms: Sequence[Term]) -> tuple[Row, ...]:
    """The rows that fulfil all terms."""
    return tuple(row for row in rows if all(term.holds(row) for term in terms))


def _term(word: str, columns: Sequence[Column]) -> Term:
    if (found := _TERM.fullmatch(word)) is not None:
        sign, name, operator, operand = found.groups()
        return Term(_comparison(name, operator, operand.replace('"', ""), columns), bool(sign))
    sought = word.removeprefix("!").replace('"', "").casefold()
    if not sought:
        raise FilterError(f"`{plain(word)}`: a word is missing")
    return Term(lambda row: any(sought in cell.text.casefold() for cell in row.cells), word.startswith("!"))


def _comparison(name: str, operator: str, operand: str, columns: Sequence[Column]) -> Test:
    at = _column(name, columns)
    column = columns[at]
    if not operand:
        raise FilterError(f"`{column.key}{operator}`: what to compare with is missing")
    sought = operand.casefold()
    if operator == "~":
        return lambda row: sought in row.cells[at].text.casefold()
    if column.kind in ("text", "trend"):
        if operator not in ("=", "!="):
            raise FilterError(f"{column.key} holds text: compare it by =, != or ~")
        return lambda row: _equal_text(row, at, sought, wanted=operator == "=")
    number = _number(operand, column)
    return lambda row: _compared(row.cells[at].value, operator, number)


def _column(name: str, columns: Sequence[Column]) -> int:
    """The column of this key or title, or else the only one whose key or title begins so."""
    sought = _plain_name(name)
    exact = [at for at, column in enumerate(columns) if sought in _names(column)]
    begun = [at for at, column in enumerate(columns) if any(one.startswith(sought) for one in _names(column))]
    found = exact[:1] or begun * bool(sought)
    if len(found) == 1:
        return found[0]
    known = ", ".join(columns[at].key for at in found or range(len(columns)))
    if found:
        raise FilterError(f"which column is `{plain(name)}`: {known}?")
    raise FilterError(f"no column `{plain(name)}` here, but {known}; put text with signs in double quotes")


def _plain_name(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


def _names(column: Column) -> tuple[str, str]:
    return _plain_name(column.key), _plain_name(column.title)


def _equal_text(row: Row, at: int, sought: str, *, wanted: bool) -> bool | None:
    cell = row.cells[at]
    known = {cell.text.casefold(), str(cell.value).casefold()}
    return None if cell.value is None else (sought in known) is wanted


def _number(operand: str, column: Column) -> float:
    """The operand in the unit of the column's values: seconds, or a share of one."""
    units = _UNITS[column.kind]
    found = _NUMBER.fullmatch(operand)
    if found is None:
        raise FilterError(f"{column.key} holds numbers, and `{plain(operand)}` is none")
    factor = units.get(found[2])
    if factor is None:
        meant = ", ".join(unit for unit in units if unit)
        units_text = f"its units are {meant}" if meant else "it takes a number without a unit"
        raise FilterError(f"{column.key}: `{plain(found[2])}` is not its unit; {units_text}")
    return float(found[1]) * factor


def _compared(value: Value, operator: str, number: float) -> bool | None:
    if value is None or isinstance(value, str):
        return None
    low, high = value if isinstance(value, tuple) else (value, value)
    # A bucket leaves its lower bound out, but for the first one, which holds 0.
    above = low > number or (low == number and 0 < low < high)
    if low == high:
        inside = math.isclose(low, number, rel_tol=1e-9, abs_tol=1e-12)
    else:
        inside = (low < number or number == low == 0) and number <= high
    match operator:
        case ">":
            return above
        case ">=":
            return above or low >= number
        case "<":
            return high < number
        case "<=":
            return high <= number
        case "=":
            return inside
        case _:
            return not inside
