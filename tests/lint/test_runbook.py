"""The page of lint's codes is what they say, one anchor a code."""

from __future__ import annotations

from pathlib import Path

from apftop.lint.codes import codes
from apftop.lint.runbook import FILE, anchor, runbook

ROOT = Path(__file__).parent.parent.parent


def test_the_page_that_is_kept_is_fresh() -> None:
    """`python -m apftop.lint.runbook > queries/runbooks/lint.md` renews it."""
    assert (ROOT / FILE).read_text() == runbook()


def test_each_code_has_one_heading_that_its_anchor_leads_to() -> None:
    headings = [line.removeprefix("## ") for line in runbook().splitlines() if line.startswith("## ")]

    assert headings == sorted(codes())
    assert anchor("kept-since-1.28") == "queries/runbooks/lint.md#kept-since-128"
