"""Whether queues are served by fair shares and not first come, first served."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from apftop.apf.objects import Queuing
from apftop.check.choices import Choices, choices, execution_ages_s, telling
from apftop.check.judge import judged, unknown
from apftop.check.light import beside
from apftop.check.missing import Missing, needed
from apftop.check.window import Instant, LevelWindow
from apftop.records.checks import Check
from apftop.rules import rules


def overtaking(window: LevelWindow) -> Check | None:
    """Later requests of other queues overtake; the share of pairs, in percent, over all dumps of the window.

    First come, first served has none at all, whatever the load. Fair shares have few where all queues are loaded alike,
    where wide requests wait for seats, or where requests take so long that hardly a queue has been charged yet: so that
    none is off only if enough pairs are of a crowded queue and one with few requests. Does not apply to levels with
    fewer than two queues.
    """
    law, rule, seconds = "overtaking", rules().check.fairness, window.seconds or None
    if not _has_queues(window):
        return None
    try:
        dumps = _dumps(window)
        found = choices(dumps)
        if found.pairs < rule.pairs:
            raise Missing(f"more pairs that tell the order: there are {found.pairs} of the {rule.pairs} it takes")
        share = found.overtaken / found.pairs
        if share < rule.least_share:
            _tells_the_order(found, dumps)
    except Missing as missing:
        return unknown(law, str(missing), seconds=seconds)
    return judged(
        law,
        100 * share,
        100 * rule.least_share,
        None,
        0.0,
        "%",
        seconds=seconds,
        about=f"{found.pairs} pairs",
        reason="requests are served in the order in which they came, whatever their queue: shares are not fair",
    )


def light_flows(window: LevelWindow) -> Check | None:
    """Requests of light flows wait less than those of the heaviest flow; the ratio of their mean waits.

    Where shares are fair a light flow with a queue of its own waits a turn, and a heavy one as many as its queues are
    deep. A ratio near 1 tells nothing where they are not deep, where widths differ, or where requests take so long that
    queues have hardly been charged. Does not apply to levels with fewer than two queues.
    """
    law, rule, seconds = "light-flows", rules().check.fairness, window.seconds or None
    if not _has_queues(window):
        return None
    try:
        dumps = _dumps(window)
        found = needed(beside(dumps), "requests that wait")
        if found.light < rule.light_requests or found.dumps < rule.dumps:
            raise Missing(
                f"more requests of light flows in queues of their own: there are {found.light} of the "
                f"{rule.light_requests} it takes"
            )
        heavy_s = needed(found.heavy_s, "a wait of the heaviest flow")
        if heavy_s <= rule.heavy_s or found.depth < rule.depth:
            raise Missing("a flow with several requests waiting in each of its queues, all the time")
        ratio = needed(found.light_s, "a wait of a light flow") / heavy_s
        if ratio > rule.light_ratio:
            if found.depth < rule.unfair_depth or ratio <= rule.unfair_ratio:
                raise Missing(f"deeper queues or a clearer ratio: {ratio:.2f} may be by fair shares or not")
            _alike(dumps)
            _short_enough(max(execution_ages_s(dumps), default=0.0), rule.longest_age_s)
    except Missing as missing:
        return unknown(law, str(missing), seconds=seconds)
    return judged(
        law,
        ratio,
        None,
        rule.light_ratio,
        0.0,
        "times",
        seconds=seconds,
        about=f"{found.light} requests of light flows beside {'/'.join(part for part in found.heaviest if part)}",
        reason="light flows wait as long as the heaviest: their queues do not get their shares",
    )


def _has_queues(window: LevelWindow) -> bool:
    """Whether there are several queues to choose from, as far as is known."""
    if window.exempt:
        return False
    config = window.config
    if config is not None:
        return config.queuing is not None and config.queuing.queues > 1
    return any(row.queue > 0 for one in window.instants for row in one.rows or ())


def _dumps(window: LevelWindow) -> list[Instant]:
    """The instants with a dump that tells the order of service; at least one, else raises Missing."""
    if len(set(_queuings(window))) > 1:
        raise Missing("the same queues over all of the window: the level's object changed")
    dumps = [one for one in window.instants if one.rows is not None and one.dump_s is not None]
    if not dumps:
        raise Missing("a dump of requests whose time is known")
    if any(one.executing is None for one in dumps):
        raise Missing("the executing requests: up to 1.27 no dump lists them")
    return dumps


def _queuings(window: LevelWindow) -> Iterator[Queuing | None]:
    for one in window.instants:
        config = one.point.config(window.name)
        if config is not None:
            yield config.queuing


def _tells_the_order(found: Choices, dumps: list[Instant]) -> None:
    """Raises Missing where so few pairs overtake by fair shares as well."""
    rule = rules().check.fairness
    if found.overtaken:
        raise Missing(f"a clearer share: {found.overtaken} of {found.pairs} pairs overtake, by fair shares or not")
    _alike(dumps)
    _short_enough(fmean(execution_ages_s(dumps)), rule.mean_age_s)
    told = telling(dumps)
    if told.pairs < rule.pairs or told.executing < rule.executing or told.dumps < rule.dumps:
        raise Missing(
            f"queues of unlike load: only {told.pairs} of {found.pairs} pairs are of a crowded queue and one with few "
            "requests"
        )


def _alike(dumps: list[Instant]) -> None:
    """Raises Missing where widths differ: a wide request waits for seats when its turn has come, and all behind it."""
    widths = {row.width for one in dumps for row in one.rows or ()}
    if len(widths) > 1:
        raise Missing(f"requests of one width: these take from {min(widths)} to {max(widths)} seats")


def _short_enough(age_s: float, limit_s: float) -> None:
    """Raises Missing where requests take long beside the window: queues are charged for them when they end."""
    if age_s > limit_s:
        raise Missing(f"shorter requests: these execute for {age_s:.1f} s and more, and their queues pay at their end")
