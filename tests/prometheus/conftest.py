"""A store that has kept a recording of three real servers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.prometheus.api import Api, serving
from tests.prometheus.kept import kept, recorded


@pytest.fixture
def api() -> Iterator[Api]:
    with serving(Api(kept(recorded()))) as running:
        yield running
