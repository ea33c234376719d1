"""Queue waits of the requests that were served, out of a histogram that also holds those that were not.

`execute="true"` counts every request that was accepted, also those that left their queue unserved (all releases from
1.26 to 1.37). How many did is exact; where they lie is not. So each quantile is taken twice: once with the unserved in
the highest buckets, once with them in the lowest ones in which they can be, and the interval holds both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from apftop.apf.release import Release, holds
from apftop.records.measures import Bucket, Quantile, WaitLimit, Waits
from apftop.records.parsed import Histogram
from apftop.rules import rules

ASSUMED = "nobody gave up within {:g} s of queueing, but as far as the counts say so"


def buckets(histogram: Histogram) -> tuple[Bucket, ...]:
    """The samples of each bucket, lowest first; the last is open."""
    lows = (0.0, *histogram.bounds)
    highs: tuple[float | None, ...] = (*histogram.bounds, None)
    counts = [b - a for a, b in zip((0, *histogram.cumulative), histogram.cumulative, strict=False)]
    return tuple(Bucket(low, high, count) for low, high, count in zip(lows, highs, counts, strict=True))


def quantile(parts: Sequence[Bucket], share: float) -> Quantile | None:
    """The quantile of plain bucket counts: the bounds of its bucket, and a linear estimate within it."""
    total = sum(part.count for part in parts)
    if total <= 0:
        return None
    rank = share * total
    below = 0
    for part in parts:
        if part.count and below + part.count >= rank:
            if part.high is None:
                return Quantile(part.low, None, None)
            return Quantile(
                part.low, part.high, part.low + (part.high - part.low) * max(0.0, rank - below) / part.count
            )
        below += part.count
    raise AssertionError("the rank lies within the total")


def waits(accepted: Histogram, unserved: int, refused: int, own: int, limit: WaitLimit) -> Waits:
    """Waits over a window out of the rise of execute="true".

    `unserved` is the rise of the rejections that lie in it (time-out, and cancelled up to 1.28.4), `refused` the rise
    of those that do not, `own` the requests of this tool that may be among the served.
    """
    parts = buckets(accepted)
    timed_out, unserved = unserved, min(unserved, accepted.count)
    served = accepted.count - unserved
    candidates = _candidates(parts, unserved)
    doubtful = [parts[index] for index in candidates] if unserved else []
    lowest = _without(parts, unserved, reversed(range(len(parts))))
    highest = _without(parts, unserved, candidates)
    anywhere = _without(parts, unserved, range(len(parts)))
    p50, p95, p99 = (_between((lowest, highest, anywhere), doubtful, own, share) for share in (0.5, 0.95, 0.99))
    exact = bool(served) and not unserved and math.isfinite(accepted.sum)
    return Waits(
        executed=served,
        mean_s=accepted.sum / served if exact else None,
        mean_bounds_s=_mean_bounds(accepted, lowest, highest, parts, served),
        p50=p50,
        p95=p95,
        p99=p99,
        over_last_bound=_over(parts, served, unserved),
        overflow_mean_bounds_s=_overflow_mean(accepted, parts, unserved),
        naive_p99_s=_naive(parts, 0.99),
        timed_out=timed_out,
        refused=refused,
        own=own,
        time_outs_within_s=_hull(doubtful) if doubtful else None,
        assumes=ASSUMED.format(rules().wait.least_time_out_s) if unserved else None,
        limit=limit,
        buckets=parts,
    )


def default_limit_s() -> float:
    """How long a request without a timeout may wait where --request-timeout is the default, in seconds."""
    terms = rules().wait
    return terms.default_request_timeout_s * terms.limit_fraction


def wait_limit(
    release: Release | None, request_timeout_s: float | None, accepted: Histogram | None, unserved: int
) -> WaitLimit:
    """How long a request may wait: the given --request-timeout's quarter, else where the time-outs lie, else 15 s."""
    terms = rules().wait
    capped = release is None or holds(release, terms.limit_cap_holds)
    if request_timeout_s is not None:
        quarter = request_timeout_s * terms.limit_fraction
        return WaitLimit(min(quarter, terms.limit_cap_s) if capped else quarter, "--request-timeout as given")
    default = default_limit_s()
    seen = _time_outs_at(buckets(accepted), unserved) if accepted is not None and unserved else None
    if seen is None or seen[0] <= default <= (math.inf if seen[1] is None else seen[1]):
        return WaitLimit(default, "the server's default --request-timeout of 60 s, for requests without a timeout")
    low, high = seen
    if low == high:
        return WaitLimit(low, f"the time-outs, which lie on both sides of {low:g} s")
    bounds = f"over {low:g} s" if high is None else f"between {low:g} and {high:g} s"
    return WaitLimit(low, f"the time-outs, which all waited {bounds}: at least this")


def _time_outs_at(parts: Sequence[Bucket], unserved: int) -> tuple[float, float | None] | None:
    """Between which bounds the wait limit lies if all unserved requests have the same one; None if they cannot.

    They waited longest, so they fill the highest bucket; or, the limit running from the receipt of the request and the
    wait from a little later, it and the one below: then the limit is the bound between these two.
    """
    filled = [index for index, part in enumerate(parts) if part.count]
    if not filled:
        return None
    top = parts[filled[-1]]
    if top.count >= unserved:
        return top.low, top.high
    below = parts[filled[-1] - 1]
    return (top.low, top.low) if top.count + below.count >= unserved else None


def _candidates(parts: Sequence[Bucket], unserved: int) -> list[int]:
    """The buckets in which unserved requests can lie, lowest first.

    Those above the least wait limit that a client can sensibly have; lower ones only as far as the counts force it.
    """
    least = rules().wait.least_time_out_s
    chosen = [i for i, part in enumerate(parts) if part.count and (part.high is None or part.high > least)]
    rest = [i for i, part in enumerate(parts) if part.count and i not in chosen]
    while rest and sum(parts[i].count for i in chosen) < unserved:
        chosen.insert(0, rest.pop())
    return chosen


def _without(parts: Sequence[Bucket], number: int, order: Iterable[int]) -> list[Bucket]:
    """The buckets less so many samples, taken from the buckets in the given order."""
    left = list(parts)
    for index in order:
        if not number:
            break
        taken = min(number, left[index].count)
        left[index] = replace(left[index], count=left[index].count - taken)
        number -= taken
    return left


def _between(
    extremes: tuple[Sequence[Bucket], Sequence[Bucket], Sequence[Bucket]],
    doubtful: Sequence[Bucket],
    own: int,
    share: float,
) -> Quantile | None:
    """The interval that holds a quantile wherever the unserved and this tool's own requests may lie.

    `extremes` are the served with the unserved taken from the top, from the lowest buckets in which they can be, and
    from the lowest of all: where the last one leads elsewhere there is an interval but no estimate.
    """
    lowest, highest, _ = extremes
    least, most, worst = (quantile(parts, share) for parts in extremes)
    if least is None or most is None or worst is None:
        return None
    estimate = least.estimate
    agreed = (least.low, least.high) == (most.low, most.high) == (worst.low, worst.high)
    if not agreed or any(part.low == least.low for part in doubtful):
        estimate = None
    if own:
        least = quantile(_without(lowest, own, reversed(range(len(lowest)))), share) or least
        most = quantile(_without(highest, own, range(len(highest))), share) or most
    return Quantile(least.low, most.high, None if most.high is None else estimate)


def _mean_bounds(
    accepted: Histogram, lowest: Sequence[Bucket], highest: Sequence[Bucket], parts: Sequence[Bucket], served: int
) -> tuple[float, float] | None:
    """Between what the mean of the served lies, from the exact sum and from the bounds of their buckets."""
    if not served:
        return None
    most_unserved = _seconds_high(parts) - _seconds_high(lowest)
    least_unserved = _seconds_low(parts) - _seconds_low(highest)
    low, high = _seconds_low(lowest), _seconds_high(highest)
    if math.isfinite(accepted.sum):
        high = min(high, accepted.sum - least_unserved)
        if math.isfinite(most_unserved):
            low = max(low, accepted.sum - most_unserved)
    if not math.isfinite(high):
        return None
    return (low / served, max(low, high) / served)


def _seconds_low(parts: Sequence[Bucket]) -> float:
    return sum(part.low * part.count for part in parts)


def _seconds_high(parts: Sequence[Bucket]) -> float:
    return sum((math.inf if part.high is None else part.high) * part.count for part in parts if part.count)


def _over(parts: Sequence[Bucket], served: int, unserved: int) -> float | None:
    if not served or len(parts) == 1 or (unserved and parts[-1].count):
        return None
    return parts[-1].count / served


def _overflow_mean(accepted: Histogram, parts: Sequence[Bucket], unserved: int) -> tuple[float, float] | None:
    """What the mean of the samples beyond the last bound can be, from the exact sum of all."""
    over = parts[-1].count
    if not over or len(parts) == 1 or unserved or not math.isfinite(accepted.sum):
        return None
    low = (accepted.sum - _seconds_high(parts[:-1])) / over
    high = (accepted.sum - _seconds_low(parts[:-1])) / over
    return (max(parts[-1].low, low), max(parts[-1].low, high))


def _naive(parts: Sequence[Bucket], share: float) -> float | None:
    found = quantile(parts, share)
    if found is None or len(parts) == 1:
        return None
    return found.low if found.estimate is None else found.estimate


def _hull(parts: Sequence[Bucket]) -> tuple[float, float | None]:
    return (parts[0].low, parts[-1].high)
