"""What is to be asked of servers, and how often: from the screen back to the network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from apftop.records.raw import Endpoint


@dataclass(frozen=True, slots=True)
class Demand:
    """What a reader wants of the polling; the latest one counts.

    `interval_s` is the pace of the dump lane. `needs` are dumps that the reader looks at. A larger `wake` than before
    asks everything at once, also of a replica that is left alone for a while.
    """

    interval_s: float = 2.0
    needs: frozenset[Endpoint] = frozenset()
    wake: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What to ask one replica: the seconds from one asking to the next for each endpoint, and what is left out.

    An endpoint that is not in `every_s` has no turns of its own. `with_metrics` are dumps that are asked for with the
    metrics only, at least so many seconds apart. `families` are those that metrics are asked for by name; every
    `whole_every_s` seconds, and the first time, all are asked for, to find new ones. `left_out` says in words why an
    endpoint is not asked now. `cost_share` is an estimate of the share of one core that this polling costs the server.
    `levels_at` is when the dump of priority levels came that tells how large the other dumps will be (Unix seconds), 0
    where none does, and None where no plan looks at that.
    """

    every_s: Mapping[Endpoint, float]
    with_metrics: Mapping[Endpoint, float] = field(default_factory=dict)
    families: tuple[str, ...] = ()
    whole_every_s: float = 600.0
    left_out: Mapping[Endpoint, str] = field(default_factory=dict)
    cost_share: float | None = None
    levels_at: float | None = None
