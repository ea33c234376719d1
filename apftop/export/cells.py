"""Text in cells of CSV: nothing in it is a formula, and nothing breaks its line."""

from __future__ import annotations

import re

from apftop.present import plain

_FORMULA = re.compile(r"""[\s"]*['=+\-@＝＋－＠−﹢﹣﹦﹫]""")
MARK = "'"


def cell(text: str) -> str:
    """Text for a cell: what a terminal or spreadsheet could act on is written as `\\x0a` or `\\u{202e}`.

    What a spreadsheet could take for a formula has a `'` in front, and so has what begins with a `'` itself: taking one
    `'` off the front of a cell that begins so gives back the text. Also behind blanks and quotes, and full-width.
    """
    shown = plain(text)
    return MARK + shown if _FORMULA.match(shown) else shown
