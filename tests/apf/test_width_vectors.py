"""Work estimates against the upstream library, in both versions."""

from __future__ import annotations

from typing import Any

from apftop.apf.attributes import Attributes
from apftop.apf.estimate import Estimator, Stored
from tests.apf.releases import release_of
from tests.apf.vectors import each_version, vectors

STATES: dict[str | None, Any] = {None: "known", "notfound": "unknown", "stale": "stale", "other": "stale"}


@each_version
def test_widths_are_those_of_the_library(version: str) -> None:
    for vector in vectors("width"):
        given = vector["in"]
        request = Attributes(
            user="",
            groups=(),
            verb=given["verb"],
            path="",
            resource_request=True,
            api_group=given["group"],
            resource=given["rsc"],
            subresource=given.get("sub", ""),
            name=given.get("name", ""),
        )
        found = Estimator(release_of(version), {}, given["consistent_read"]).estimate(
            request,
            given["query"],
            stored=Stored(given["count"], given["avg_size"], STATES[given.get("count_err")]),
            watchers=given["watches"],
            level_cap=given["max_seats"] or None,
        )

        assert [found.initial_seats, found.final_seats, found.additional_latency_ns] == vector["expected"][version], (
            given
        )
