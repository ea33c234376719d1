"""Every finding has a page, a test that fires it, and a near miss that does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from apftop.findings.book import STEPS, book
from tests.marked import marked

HERE = Path(__file__).parent


@pytest.mark.parametrize("code", book())
def test_a_page_says_all_that_a_reader_needs(code: str) -> None:
    page = book()[code]

    assert 1 <= page.step <= len(STEPS)
    for text in (page.title, page.means, page.told, page.do, page.not_if, page.next):
        assert text.strip() == text and text


@pytest.mark.parametrize("code", book())
def test_each_finding_is_fired_by_a_test_and_spared_by_another(code: str) -> None:
    assert code in marked(HERE, "fires")
    assert code in marked(HERE, "spares")


def test_no_test_is_about_a_finding_that_does_not_exist() -> None:
    assert marked(HERE, "fires") | marked(HERE, "spares") == set(book())
