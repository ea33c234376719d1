"""What a code of lint means, for whoever met it: one code, or a list of all."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Iterator

import click

from apftop.findings.runbook import anchor as anchor_of_finding
from apftop.lint.codes import codes
from apftop.lint.runbook import anchor, sections

WIDTH = 80


def explained(code: str) -> Iterator[str]:
    """The lines of one code; raises UsageError with names that are near for one that there is not."""
    its = codes().get(code)
    if its is None:
        asked = code.lower()
        near = sorted(one for one in codes() if asked in one)[:3] or difflib.get_close_matches(asked, codes(), n=3)
        todo = f"did you mean {' or '.join(near)}?" if near else "`apftop lint --codes` lists all"
        raise click.UsageError(f"there is no code {code!r}: {todo}")
    yield f"{code}: {its.title}"
    for name, text in sections(its):
        yield ""
        yield from textwrap.wrap(f"{name}: {text}", WIDTH, break_on_hyphens=False, break_long_words=False)
    yield ""
    yield f"Page: {anchor(code)}"
    if its.finding:
        yield f"Seen live as a finding: {anchor_of_finding(its.finding)}"


def listed() -> Iterator[str]:
    """All codes with their titles, a line each."""
    width = max(map(len, codes()))
    yield from (f"{code:<{width}}  {its.title}" for code, its in sorted(codes().items()))
