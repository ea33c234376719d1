"""The codes of lint as Markdown: `python -m apftop.lint.runbook > queries/runbooks/lint.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from apftop.findings.runbook import anchor as anchor_of_finding
from apftop.lint.codes import Code, codes

FILE = "queries/runbooks/lint.md"


def anchor(code: str) -> str:
    """Where a code is, from the top of the project; in anchors of headings there are no dots."""
    return f"{FILE}#{code.replace('.', '')}"


def runbook() -> str:
    """All codes, one heading each."""
    return "\n".join([*_head(), *(line for code, its in sorted(codes().items()) for line in _page(code, its))])


def sections(its: Code) -> tuple[tuple[str, str], ...]:
    """What there is to say of a code, under the names that `apftop lint --explain` has too."""
    return (("What it means", its.means), ("What to do", its.do))


def _head() -> Iterator[str]:
    yield "# Codes of apftop lint"
    yield ""
    yield "Rendered from `apftop/lint/codes` by `python -m apftop.lint.runbook`: change it there."
    yield ""


def _page(code: str, its: Code) -> Iterator[str]:
    yield f"## {code}"
    yield ""
    yield f"**{its.title}**"
    for name, text in sections(its):
        yield ""
        yield f"**{name}.** {text}"
    if its.finding:
        yield ""
        link = anchor_of_finding(its.finding).rpartition("/")[2]
        yield f"**Seen live.** In a cluster it shows as the finding [{its.finding}]({link})."
    yield ""


if __name__ == "__main__":
    sys.stdout.write(runbook())
