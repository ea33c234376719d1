"""A whole server against the upstream library: classification, all levels, borrowing rounds, in both versions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.apf.replica_run import ReplicaRun
from tests.apf.vectors import each_version, vectors


@each_version
@pytest.mark.parametrize("vector", vectors("sim"), ids=lambda one: one["scenario"]["name"])
def test_every_event_of_a_server_is_that_of_the_library(vector: dict[str, Any], version: str) -> None:
    run = ReplicaRun(vector["scenario"], version, vector["expected"][version]["events"])
    run.go()

    assert run.outcomes() == vector["expected"][version]["outcomes"]
