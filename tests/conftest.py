"""What all tests share: modules compiled once, and the order, with real control planes last on a quiet machine."""

from __future__ import annotations

import os
import sys

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Where Python may write no bytecode beside the sources, keep it with pytest's cache: each worker and each
    command that a test starts would else compile every module anew.
    """
    if sys.dont_write_bytecode and config.cache is not None:
        folder = str(config.cache.mkdir("bytecode"))
        sys.dont_write_bytecode, sys.pycache_prefix = False, folder
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = folder


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.get_closest_marker("realplane") is not None)
