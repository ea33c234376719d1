"""What would help a full level, where its server tells what it asks for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.findings.cluster import a_cluster, a_level, busier, quiet
from tests.findings.test_load import FULL, crowd, saturated


@pytest.mark.parametrize(("smoothed", "cause"), [(60.0, "borrowing-limit"), (40.0, "load")])
def test_a_smoothed_demand_as_high_as_its_limit_of_borrowing_tells_that_a_level_will_stand_there(
    smoothed: float, cause: str
) -> None:
    mine = a_level("mine", 10, borrowing=100)
    did = replace(FULL.did[0], schema="mine", executing=24)
    kinds = ("pods", "secrets", "services", "nodes")
    inside = [row for kind in kinds for row in crowd(1, 1, resource=kind, schema="mine", level="mine")]
    of = replace(FULL, did=(did,), current=24.0, demand=(smoothed,) * 5)
    scene = a_cluster(busier(quiet("kas-a")[0], "mine", of, *inside), levels=[mine])

    level = scene.frame.replicas["kas-a"].levels["mine"]
    assert level.load is not None and level.load.demand is not None and level.upper is not None
    assert level.load.demand < level.upper / 2
    assert saturated(scene).facts["cause"] == cause
