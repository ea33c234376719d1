"""The four answers of real servers in every format: the same numbers, whichever way they come."""

from __future__ import annotations

import math

import pytest

from apftop.fetch import Form
from apftop.live import fold
from apftop.parse.metrics import parse_metrics
from apftop.records.parsed import Histogram, Labels, Metrics
from apftop.records.raw import Endpoint
from apftop.records.state import ReplicaState
from tests.planes.looks import look
from tests.planes.plane import Plane

TRIES = 5


def metrics(plane: Plane, form: Form, *, gzip: bool = False, named: bool = True) -> tuple[Metrics, int]:
    (sample,) = look(plane, Endpoint.METRICS, form=form, gzip=gzip, named=named)
    assert sample.ok, sample.error
    return parse_metrics(sample.body, sample.content_type), sample.wire_bytes or 0


def series(metrics: Metrics) -> dict[tuple[str, Labels, str], float]:
    """Every number of an exposition under its family, labels and part."""
    found: dict[tuple[str, Labels, str], float] = {}
    for name, family in metrics.families.items():
        found |= {(name, labels, ""): value for labels, value in family.values.items()}
        for labels, histogram in family.histograms.items():
            found |= {(name, labels, part): value for part, value in parts(histogram).items()}
    return found


def parts(histogram: Histogram) -> dict[str, float]:
    named = {f"le={bound}": float(count) for bound, count in zip(histogram.bounds, histogram.cumulative, strict=False)}
    return {**named, "count": histogram.count, "sum": histogram.sum}


@pytest.mark.parametrize("gzip", [False, True], ids=["identity", "gzip"])
@pytest.mark.parametrize("form", ["protobuf", "openmetrics", "text"])
def test_every_format_holds_the_same_series(plane: Plane, form: Form, gzip: bool) -> None:
    for _ in range(TRIES):
        before, (found, _), after = (
            series(metrics(plane, "text")[0]),
            metrics(plane, form, gzip=gzip),
            series(metrics(plane, "text")[0]),
        )
        middle = series(found)
        # A series born between two fetches belongs to the later ones.
        assert set(before) <= set(middle) <= set(after)
        off = {
            key: (value, middle[key], after[key])
            for key, value in before.items()
            if not (
                min(value, after[key]) * (1 - 1e-12) <= middle[key] <= max(value, after[key]) * (1 + 1e-12)
                # Ratios to a limit of 0 are no number, in every format.
                or all(map(math.isnan, (value, middle[key], after[key])))
            )
        }
        if not off:
            return
    raise AssertionError(f"after {TRIES} tries: {off}")


def test_picking_by_name_loses_no_family(plane: Plane) -> None:
    whole, _ = metrics(plane, "protobuf", named=False)
    named, _ = metrics(plane, "protobuf", named=True)

    assert set(whole.families) == set(named.families)


def test_name_is_honoured_since_1_37(plane: Plane) -> None:
    _, all_bytes = metrics(plane, "protobuf", named=False)
    _, named_bytes = metrics(plane, "protobuf", named=True)

    if plane.version.startswith("1.37"):
        assert named_bytes < all_bytes / 5
    else:
        assert named_bytes > all_bytes / 2


def state(plane: Plane, replica: int) -> ReplicaState:
    (found,) = fold(look(plane, replica=replica)).replicas.values()
    return found


@pytest.mark.parametrize("replica", [0, 1, 2])
def test_dumps_and_objects_are_read_whole(plane: Plane, replica: int) -> None:
    found = state(plane, replica)

    assert all(outcome.status == 200 and not outcome.error for outcome in found.outcomes.values())
    assert found.queues is not None
    assert found.requests is not None
    assert found.schemas is not None
    assert found.configs is not None
    assert not (*found.levels[-1].data.bad, *found.queues.data.bad, *found.requests.data.bad)
    configured = {config.name: config for config in found.configs.data}
    assert {row.name for row in found.levels[-1].data.rows} == set(configured)
    queues = {name: config.queuing.queues for name, config in configured.items() if config.queuing}
    assert {name: sum(row.level == name for row in found.queues.data.rows) for name in queues} == queues
    assert [row.details.path for row in found.requests.data.rows if row.details and row.details.user == "admin"]
    assert {schema.priority_level for schema in found.schemas.data} <= set(configured)
