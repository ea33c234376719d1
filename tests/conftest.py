"""What all tests share: modules compiled once, how many examples a property is tried with, and the order."""

from __future__ import annotations

import os
import sys

import pytest
from hypothesis import settings

# `--hypothesis-profile thorough` searches wider than what a person waits for.
settings.register_profile("quick", max_examples=40, deadline=None)
settings.register_profile("thorough", max_examples=150, deadline=None)
settings.load_profile("quick")


def pytest_configure(config: pytest.Config) -> None:
    """Where Python may write no bytecode beside the sources, keep it with pytest's cache.

    Each worker, and each command that a test starts, would else compile every module anew.
    """
    if sys.dont_write_bytecode and config.cache is not None:
        folder = str(config.cache.mkdir("bytecode"))
        sys.dont_write_bytecode, sys.pycache_prefix = False, folder
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = folder


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Real control planes last, when nothing else keeps the machine busy."""
    items.sort(key=lambda item: item.get_closest_marker("realplane") is not None)
