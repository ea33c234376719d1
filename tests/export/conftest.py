"""The authority of the servers that are asked live, and an empty environment."""

from __future__ import annotations

from tests.reach.conftest import _no_settings, ca

__all__ = ["_no_settings", "ca"]
