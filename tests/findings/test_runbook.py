"""The runbook is what the pages say, one anchor a code."""

from __future__ import annotations

from pathlib import Path

from apftop.findings.book import book
from apftop.findings.runbook import FILE, anchor, runbook

ROOT = Path(__file__).parent.parent.parent


def test_the_runbook_that_is_kept_is_fresh() -> None:
    """`python -m apftop.findings.runbook > queries/runbooks/findings.md` renews it."""
    assert (ROOT / FILE).read_text() == runbook()


def test_each_code_has_one_heading_that_its_anchor_leads_to() -> None:
    headings = [line.removeprefix("## ") for line in runbook().splitlines() if line.startswith("## ")]

    assert headings == sorted(book())
    assert anchor("level-saturated") == "queries/runbooks/findings.md#level-saturated"
