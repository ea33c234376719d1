"""Moments for the screen: those of a saved situation, on as many replicas as a test wants, with numbers that move."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from apftop.bundle import read_bundle
from apftop.derive.frame import frame
from apftop.live import fold
from apftop.parse.body import pick
from apftop.parse.vocabulary import wanted
from apftop.records.frame import Level, Replica
from apftop.records.moment import Moment
from apftop.records.raw import Sample
from tests.sheets.checked import ARRIVALS, BAND, CALM, CLOCK, IN_TIME, ORDER, WAITED, starts, with_checks

CASE = Path(__file__).parent.parent / "cases" / "C03"
REPLICAS = ("kas-1", "kas-2", "kas-3")


@cache
def saved() -> tuple[tuple[Sample, ...], Replica]:
    """The answers of the saved situation, and its one replica."""
    families = wanted()
    bundle = read_bundle(CASE, lambda chunks, kind, encoding: pick(chunks, kind, encoding, families))
    (replica,) = frame(fold(bundle.samples)).replicas.values()
    return tuple(bundle.samples), replica


def a_moment(
    number: int = 1,
    *,
    replicas: tuple[str, ...] = REPLICAS,
    waiting: Mapping[tuple[str, str], float] | None = None,
    source: str = "prod",
) -> Moment:
    """A moment; `waiting` replaces how many requests wait, by replica and level."""
    made = {name: _with_waiting(replace(saved()[1], name=name), waiting or {}) for name in replicas}
    samples = [age.time for age in saved()[1].samples.values() if age.time is not None]
    seen = replace(frame(fold(())), replicas=made, t1=max(samples))
    return Moment(seen, number, source, max(samples), samples=saved()[0])


def checked(number: int = 1) -> Moment:
    """The same with checks: on the first replica a hand is off, on the second its clock is, on the third nothing is."""
    moment = a_moment(number)
    begun = starts(moment, "workload-low", "kas-1")
    band = replace(BAND, at=moment.now - 1)
    moment = with_checks(
        moment, {"workload-low": replace(WAITED, prediction=band, starts=begun), "system": CALM}, IN_TIME
    )
    plain = replace(WAITED, checks=(ARRIVALS, ORDER), prediction=None, flows=(), followed=None)
    moment = with_checks(moment, {"workload-low": plain, "system": CALM}, CLOCK, replica="kas-2")
    outside = replace(plain, prediction=replace(band, observed=2.43))
    return with_checks(
        moment, {"workload-low": outside, "exempt": replace(CALM, checks=(ORDER,))}, IN_TIME, replica="kas-3"
    )


def _with_waiting(replica: Replica, waiting: Mapping[tuple[str, str], float]) -> Replica:
    levels = {name: _waiting(level, waiting.get((replica.name, name))) for name, level in replica.levels.items()}
    return replace(replica, levels=levels)


def _waiting(level: Level, number: float | None) -> Level:
    return level if number is None else replace(level, waiting=number)
