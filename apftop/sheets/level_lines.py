"""What a row of the levels says: of one level on one replica, or of a level summed over replicas."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from apftop.records.checks import LevelChecks, Verdict
from apftop.records.findings import Severity
from apftop.records.frame import Level, LevelState, LevelTotal, Recent
from apftop.records.measures import Quantile
from apftop.records.moment import Moment, Trend
from apftop.records.raw import Endpoint
from apftop.sheets.answering import answers
from apftop.sheets.figures import add, greatest, highest
from apftop.sheets.findings import of_level
from apftop.sheets.look import SUM, Look
from apftop.sheets.scope import is_stale, metrics_stale, replicas_of, within
from apftop.sheets.sheet import RowKey
from apftop.sheets.trouble import Place, Rank, places, rank, worst
from apftop.sheets.verdicts import level_checks
from apftop.sheets.verdicts import worst as worst_verdict


@dataclass(frozen=True, slots=True)
class Line:
    """One row. `partial` names the columns of a sum whose number is not known on every replica.

    `lost` is a level on a replica that does not answer; what is `stale` is of an answer that has not been renewed.

    `full` is a share of time and `full_of_life` says that it is over the life of the level; `nobody_waits` that
    no request waits. Rates are a second, or counts over the window. `verdict` is what its checks come to, and `checks`
    are those that its waits are held against, of a sum those of the replica that is worst. `found` is how bad the worst
    finding of the level is. The last four are of a sum.
    """

    key: RowKey
    rank: Rank
    level: str
    replica: str
    state: LevelState
    exempt: bool
    seats: float | None
    current: float | None
    nominal: float | None
    borrowed: float | None
    waiting: float | None
    dispatched: float | None
    rejected: float | None
    reasons: Mapping[str, float] | None
    wait_p95: Quantile | None
    full: float | None
    full_of_life: bool
    oldest_s: float | None
    nobody_waits: bool
    trend: Trend | None
    verdict: Verdict | None
    checks: LevelChecks | None
    found: Severity | None
    counts: bool
    lost: bool
    metrics_stale: bool
    seats_stale: bool
    waiting_stale: bool
    pace_stale: bool
    partial: frozenset[str] = frozenset()
    replicas: int = 1
    in_state: int = 1
    skew: float | None = None
    skewed_to: str = ""


def lines(moment: Moment, look: Look) -> list[Line]:
    """The lines in scope, the worst first; those of replicas that do not answer after others that are no better off."""
    found = [place for place in places(replicas_of(moment, look)) if within(look, level=place.level.name)]
    if look.scope != SUM:
        made = [_line(place, moment, counts=look.totals) for place in found]
    else:
        by_level: dict[str, list[Place]] = defaultdict(list)
        for place in found:
            by_level[place.level.name].append(place)
        totals = moment.frame.totals.levels
        made = [
            _sum(totals[name], group, moment, counts=look.totals) for name, group in by_level.items() if name in totals
        ]
    return sorted(made, key=lambda line: (line.rank[0], line.lost, line.rank, line.key))


def _line(place: Place, moment: Moment, *, counts: bool) -> Line:
    replica, level = place.replica, place.level
    dispatched, rejected = _paced(level, counts=counts)
    full, checks = level.utilization, level_checks(moment, replica.name, level.name)
    return Line(
        key=(level.name, replica.name),
        rank=rank(level),
        level=level.name,
        replica=replica.name,
        state=level.state,
        exempt=level.exempt,
        seats=level.seats_in_use,
        current=level.current,
        nominal=level.nominal,
        borrowed=level.borrowed_in_use,
        waiting=level.waiting,
        dispatched=dispatched,
        rejected=rejected,
        reasons=_reasons(level, counts=counts),
        wait_p95=level.waits.p95 if level.waits else None,
        full=full.gt_99 if full and not level.exempt else None,
        full_of_life=full is not None and full.lifetime,
        oldest_s=level.inside.oldest_waiting_s if level.inside else None,
        nobody_waits=_nobody_waits(place, moment),
        trend=moment.trends.get((replica.name, level.name)),
        verdict=checks.verdict if checks else None,
        checks=checks,
        found=of_level(moment, level.name, replica.name),
        counts=counts,
        lost=not answers(moment, replica),
        metrics_stale=metrics_stale(moment, replica),
        seats_stale=is_stale(moment, replica, level.seats_from),
        waiting_stale=is_stale(moment, replica, level.waiting_from),
        pace_stale=is_stale(moment, replica, (Endpoint.METRICS if level.recent is None else Endpoint.LEVELS).value),
    )


def _nobody_waits(place: Place, moment: Moment) -> bool:
    """By the count, which is renewed more often than the dump that has the ages; else by that dump."""
    level = place.level
    counted = level.waiting == 0 and not is_stale(moment, place.replica, level.waiting_from)
    return counted or (level.inside is not None and not level.inside.flows_waiting)


def _paced(level: Level, *, counts: bool) -> tuple[float | None, float | None]:
    """Dispatched and rejected of the fresher window, as counts or a second."""
    pace = level.pace
    if pace is None:
        return None, None
    if counts:
        return pace.counts.dispatched, pace.counts.rejected_total
    return pace.dispatched_per_s, pace.rejected_per_s


def _reasons(level: Level, *, counts: bool) -> Mapping[str, float] | None:
    """Rejections by reason over the window of the metrics, the most first; of the dumps where only these have any."""
    known = [one for one in (_measured(level), level.pace) if one is not None]
    if not known:
        return None
    told = next((one for one in known if one.counts.rejected_total), known[0])
    found = {reason: n if counts else told.window.per_s(n) for reason, n in told.counts.rejected.items() if n}
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def _measured(level: Level) -> Recent | None:
    return Recent(level.window, level.counts) if level.window is not None and level.counts is not None else None


def _sum(total: LevelTotal, group: Sequence[Place], moment: Moment, *, counts: bool) -> Line:
    """A level over its replicas: sums where there is a sum, else what the worst replica has."""
    live = [place for place in group if place.level.state != "stale"]
    levels = [place.level for place in live]
    parts = [_line(place, moment, counts=counts) for place in live]
    hurt = worst(live)
    shares = total.share_of_dispatch
    return Line(
        key=(hurt.level.name,),
        rank=rank(hurt.level),
        level=hurt.level.name,
        replica=hurt.replica.name,
        state=hurt.level.state,
        exempt=hurt.level.exempt,
        seats=total.seats_in_use,
        current=total.current,
        nominal=total.nominal,
        borrowed=add(part.borrowed for part in parts),
        waiting=total.waiting,
        dispatched=add(part.dispatched for part in parts),
        rejected=add(part.rejected for part in parts),
        reasons=_added([part.reasons for part in parts]),
        wait_p95=highest(part.wait_p95 for part in parts),
        full=greatest(part.full for part in parts),
        full_of_life=any(part.full_of_life for part in parts),
        oldest_s=greatest(part.oldest_s for part in parts),
        nobody_waits=all(part.nobody_waits for part in parts),
        trend=_added_trend([part.trend for part in parts]),
        verdict=worst_verdict(part.verdict for part in parts),
        checks=max((part.checks for part in parts if part.checks), key=_strange, default=None),
        found=of_level(moment, hurt.level.name),
        counts=counts,
        lost=False,
        metrics_stale=any(part.metrics_stale for part in parts),
        seats_stale=any(part.seats_stale for part in parts),
        waiting_stale=any(part.waiting_stale for part in parts),
        pace_stale=any(part.pace_stale for part in parts),
        partial=_partial(levels) | _checked_in_part(parts),
        replicas=len(parts),
        in_state=sum(part.state == hurt.level.state for part in parts),
        skew=total.skew,
        skewed_to=max(shares, key=lambda one: shares[one]) if shares and total.skew is not None else "",
    )


def _partial(levels: Sequence[Level]) -> frozenset[str]:
    """Columns that show the worst of the replicas, and do not know all of them."""
    unknown = {
        "wait_p95": any(level.counts is None for level in levels),
        "full": any(level.utilization is None for level in levels),
        "oldest": any(level.inside is None for level in levels),
    }
    return frozenset(key for key, lacks in unknown.items() if lacks)


def _checked_in_part(parts: Sequence[Line]) -> frozenset[str]:
    lacks = any(part.verdict in (None, "unknown") for part in parts)
    return frozenset({"model"}) if lacks else frozenset()


def _strange(checks: LevelChecks) -> tuple[bool, bool, float]:
    """Sorts the waits last that the model does not give, then the longest ones."""
    prediction = checks.prediction
    waited = prediction.observed if prediction else checks.observed_wait_s or 0.0
    return prediction is not None and not prediction.inside, prediction is not None, waited


def _added(parts: Iterable[Mapping[str, float] | None]) -> Mapping[str, float] | None:
    summed: dict[str, float] = defaultdict(float)
    for part in parts:
        if part is None:
            return None
        for reason, number in part.items():
            summed[reason] += number
    return dict(sorted(summed.items(), key=lambda pair: -pair[1]))


def _added_trend(parts: Sequence[Trend | None]) -> Trend | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return Trend(_added_points([part.waiting for part in known]), _added_points([part.seats for part in known]))


def _added_points(series: Sequence[Sequence[float | None]]) -> tuple[float | None, ...]:
    """Point by point from the latest back, as far as all reach."""
    length = min(map(len, series), default=0)
    return tuple(add(points) for points in zip(*(one[len(one) - length :] for one in series), strict=True))
