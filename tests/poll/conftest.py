"""The server of the tests of reaching, which these tests ask again and again."""

from __future__ import annotations

from tests.reach.conftest import _no_settings, access, ca, server

__all__ = ["_no_settings", "access", "ca", "server"]
