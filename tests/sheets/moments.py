"""Moments for tests: of the cases that ship with the tests, of recordings, and made of small answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

from apftop.bundle import read_bundle
from apftop.derive.frame import frame
from apftop.live import fold
from apftop.parse.body import pick
from apftop.parse.vocabulary import wanted
from apftop.records.frame import Frame, Level, Replica, Request
from apftop.records.moment import Moment
from apftop.records.raw import Endpoint, Sample
from apftop.sheets.look import Look
from apftop.sheets.sheet import Cell, Row, Sheet
from apftop.sheets.views import sheet
from tests.derive.build import a_sample, dispatched, exposition, histogram, rejected, series

CASES = Path(__file__).parent.parent / "cases"
NO_BUNDLES = ("C09", "C17")
"""Folders of bundles, and of objects alone."""

BUNDLES = sorted(folder.name for folder in CASES.iterdir() if folder.name not in NO_BUNDLES)


@cache
def case(name: str) -> Moment:
    """A case as it would look on the screen, a second after its last answer."""
    families = wanted()
    bundle = read_bundle(CASES / name, lambda chunks, kind, encoding: pick(chunks, kind, encoding, families))
    found = frame(fold(bundle.samples))
    return Moment(found, 1, "prod", now=(found.t1 or 0.0) + 1)


def moment_of(*samples: Sample, now: float = 1010.0) -> Moment:
    """What samples give, `now` seconds after the epoch."""
    return Moment(frame(fold(samples)), 1, "prod", now)


def with_replicas(moment: Moment, replicas: Iterable[Replica]) -> Moment:
    """The same moment with other replicas and no totals of them."""
    return replace(moment, frame=replace(moment.frame, replicas={one.name: one for one in replicas}))


def with_level(moment: Moment, level: Level, replica: str = "kas") -> Moment:
    """The same moment with one level instead of the one of its name."""
    old = moment.frame.replicas[replica]
    found = [one for name, one in moment.frame.replicas.items() if name != replica]
    return with_replicas(moment, [*found, replace(old, levels={**old.levels, level.name: level})])


def with_requests(moment: Moment, requests: Iterable[Request], replica: str = "kas") -> Moment:
    """The same moment with these requests on one replica."""
    old = moment.frame.replicas[replica]
    found = [one for name, one in moment.frame.replicas.items() if name != replica]
    return with_replicas(moment, [*found, replace(old, requests=tuple(requests), lists_executing=True)])


def metrics(replica: str, t: float, *, load: float = 0.0, refused: float = 0.0, waiting: float = 0.0) -> Sample:
    """A metrics answer of a server with one level `load` of 10 seats, which has dispatched and refused so many."""
    lines = [
        series("nominal_limit_seats", 8, priority_level="load"),
        series("current_limit_seats", 10, priority_level="load"),
        series("current_executing_seats", 9, priority_level="load", flow_schema="load"),
        series("current_inqueue_requests", waiting, priority_level="load", flow_schema="load"),
        dispatched(load),
        rejected(refused, "queue-full"),
        *histogram("request_wait_duration_seconds", [0.7] * int(load), priority_level="load", execute="true"),
    ]
    return a_sample(exposition(*lines), t, replica=replica)


def failed(replica: str, endpoint: Endpoint, t: float, error: str = "no answer within 5 s") -> Sample:
    """A question that was not answered."""
    return Sample(replica, endpoint, error=error, sent=t, received=t)


def denied(replica: str, endpoint: Endpoint, t: float) -> Sample:
    """A question that RBAC refused."""
    return Sample(replica, endpoint, b"", 403, sent=t, received=t)


def busy(replica: str = "kas") -> tuple[Sample, Sample]:
    """Two answers, ten seconds apart."""
    return metrics(replica, 1000.0), metrics(replica, 1010.0, load=100, refused=20, waiting=3)


def a_request(**changes: object) -> Request:
    """A request that waits."""
    made = Request(
        level="load",
        schema="load",
        queue=2,
        index=0,
        distinguisher="bob",
        user="bob",
        verb="list",
        path="/api/v1/nodes",
        namespace="",
        name="",
        api_version="v1",
        resource="nodes",
        subresource="",
        initial_seats=1,
        final_seats=0,
        additional_latency="0s",
        executing=False,
        arrive_ns=1_009_000_000_000,
        age_s=1.5,
        wait_s=None,
        executing_s=None,
        own=False,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def seen(moment: Moment, **look: object) -> Sheet:
    return sheet(moment, Look(**look))  # type: ignore[arg-type]


def cell(found: Sheet, column: str, row: Row | int = 0) -> Cell:
    """One cell, by the key of its column and the place of its row."""
    at = next(at for at, one in enumerate(found.columns) if one.key == column)
    return (found.rows[row] if isinstance(row, int) else row).cells[at]


def texts(found: Sheet, column: str) -> list[str]:
    return [cell(found, column, row).text for row in found.rows]


def replicas(moment: Moment) -> dict[str, Replica]:
    return dict(moment.frame.replicas)


def no_frame() -> Frame:
    return frame(fold([]))
