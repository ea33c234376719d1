"""The authority and the empty environment of the tests of reaching; and two looks that follow each other soon."""

from __future__ import annotations

import pytest

from apftop.doctor import command
from tests.reach.conftest import _no_settings, ca

__all__ = ["_no_settings", "ca"]


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "INTERVAL_S", 0.1)
