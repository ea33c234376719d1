"""The authority and the empty environment of the tests of reaching."""

from __future__ import annotations

from tests.reach.conftest import _no_settings, ca

__all__ = ["_no_settings", "ca"]
