"""The pages of all findings as Markdown: `python -m apftop.findings.runbook > queries/runbooks/findings.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from apftop.findings.book import STEPS, Page, book

FILE = "queries/runbooks/findings.md"


def anchor(code: str) -> str:
    """Where the page of a finding is, from the top of the project."""
    return f"{FILE}#{code}"


def runbook() -> str:
    """All pages, one heading a code, after the order in which to debug."""
    return "\n".join([*_head(), *(line for code, page in sorted(book().items()) for line in _page(code, page))])


def _head() -> Iterator[str]:
    yield "# Findings of apftop"
    yield ""
    yield "Rendered from `apftop/findings/pages` by `python -m apftop.findings.runbook`: change it there."
    yield ""
    yield "The order in which to debug:"
    yield ""
    yield from (f"{number}. {step}" for number, step in enumerate(STEPS, 1))
    yield ""


def _page(code: str, page: Page) -> Iterator[str]:
    yield f"## {code}"
    yield ""
    yield f"**{page.title}**"
    for name, text in sections(page):
        yield ""
        yield f"**{name}.** {text}"
    if page.alerts:
        yield ""
        yield f"**Alerts.** {', '.join(f'`{one}`' for one in page.alerts)}"
    if page.facts:
        yield ""
        yield "**Facts.**"
        yield ""
        yield from (f"- `{key}`: {meaning}" for key, meaning in page.facts.items())
    yield ""


def sections(page: Page) -> tuple[tuple[str, str], ...]:
    """What a page says, under the names that the screen has too."""
    return (
        ("What it means", page.means),
        ("How it is told", page.told),
        ("What to do", page.do),
        ("Not if", page.not_if),
        (f"Next, step {page.step} of {len(STEPS)}", f"{STEPS[page.step - 1]} {page.next}"),
    )


if __name__ == "__main__":
    sys.stdout.write(runbook())
