"""The order of tests: those of real control planes last, when nothing else keeps the machine busy."""

from __future__ import annotations

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.get_closest_marker("realplane") is not None)
