"""The answers that a frame stands on: what has to be kept of the samples so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from apftop.live import OWN_KEPT
from apftop.records.raw import LEVEL_UID, Endpoint, Sample

KEPT_OF = {Endpoint.METRICS: 2, Endpoint.LEVELS: 2, Endpoint.BACKEND: 2}
"""How many good answers of an endpoint a frame stands on; of the others it is one."""

COUNTED = (Endpoint.METRICS, Endpoint.LEVELS)
"""The answers between which this tool's own requests count."""

Kept = Mapping[tuple[str, Endpoint], tuple[Sample, ...]]
"""The answers that a frame stands on, by replica and endpoint."""


def keep(kept: Kept, sample: Sample) -> Kept:
    """The answers that a frame stands on after one more: the last good ones, and behind them the last that failed.

    Of those that make room only what APF did with them is kept, under DISCOVERY: they are counted in what came since.
    Room is also made for what came after this machine's clock was set back.
    """
    key = sample.replica, sample.endpoint
    if sample.endpoint is Endpoint.DISCOVERY:
        return _with_own(kept, sample.replica, (sample,))
    good = tuple(one for one in kept.get(key, ()) if one.ok and came(one) <= came(sample))
    stay = (*good, sample)[-KEPT_OF.get(sample.endpoint, 1) :] if sample.ok else (*good, sample)
    gone = (one for one in kept.get(key, ()) if all(one is not other for other in stay))
    return _with_own({**kept, key: stay}, sample.replica, map(bare, gone))


def bare(sample: Sample) -> Sample:
    """What APF did with a question, without what it was about."""
    return replace(sample, endpoint=Endpoint.DISCOVERY, body=b"")


def _with_own(kept: Kept, replica: str, more: Iterable[Sample]) -> Kept:
    """With further requests of ours that count since the first of the two answers that a frame compares.

    They are no more than a state keeps, however long an endpoint has failed to answer.
    """
    key = replica, Endpoint.DISCOVERY
    since = min((one.sent or 0.0 for two in COUNTED for one in kept.get((replica, two), ())), default=0.0)
    own = (*kept.get(key, ()), *(one for one in more if one.header(LEVEL_UID) is not None))
    return {**kept, key: tuple(one for one in own if (one.sent or 0.0) >= since)[-OWN_KEPT:]}


def came(sample: Sample) -> float:
    """When an answer came, as near as is known (Unix seconds)."""
    return sample.received or sample.sent or 0.0
