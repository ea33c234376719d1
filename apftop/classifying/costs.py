"""What a request costs and how long it may wait: the fewest and the most seats, and its wait limit."""

from __future__ import annotations

from collections.abc import Callable

from apftop.apf.allocation import LEVEL_SEAT_CAP_SINCE, level_seat_cap
from apftop.apf.durations import go_duration_ns
from apftop.apf.estimate import Estimator, Stored, WorkEstimate
from apftop.apf.objects import PriorityLevelConfiguration
from apftop.apf.query import query_values
from apftop.apf.release import holds
from apftop.apf.replica import LAZY_WAIT_LIMIT_UNTIL
from apftop.classifying.setting import Setting
from apftop.present import seconds
from apftop.records.classified import Asked

MANY = 1_000_000_000
"""More objects, bytes and watchers than any cap of seats lets count."""

LONGEST_WAIT_S = 60.0
"""However long the deadline is, since 1.28.5."""

LISTS = ("list", "watch")
CHANGES = ("create", "update", "patch", "delete")

_Estimate = Callable[[Stored], WorkEstimate]


def seats(asked: Asked, setting: Setting, level: PriorityLevelConfiguration) -> tuple[int, int, str]:
    """The fewest and the most seats, and what decides between them (1.26 to 1.37)."""
    cap = None
    nominal = setting.nominal.get(level.name)
    if level.queuing is not None and nominal is not None and holds(setting.release, LEVEL_SEAT_CAP_SINCE):
        cap = level_seat_cap(int(nominal), level.queuing.hand_size)
    estimator = Estimator(setting.release, {})

    def estimate(stored: Stored, watchers: int = 0) -> WorkEstimate:
        return estimator.estimate(asked.request, asked.query, stored=stored, watchers=watchers, level_cap=cap)

    verb = asked.request.verb
    if verb in LISTS:
        least, most, why = _of_a_list(asked, setting, estimate)
        until = ", until its first events are sent: from then on it holds none" if verb == "watch" else ""
        return least, most, f"{why}{until}"
    if setting.watchers is not None and verb in CHANGES:
        found = estimate(Stored(), setting.watchers)
        beyond = found.additional_latency_ns
        held = f", held for {seconds(beyond / 1e9)} beyond its end" if beyond else ""
        return found.width, found.width, f"with {setting.watchers} watchers of what it changes{held}"
    least, most = estimate(Stored()).width, estimate(Stored(), MANY).width
    return least, most, f"like each {verb}" if least == most else "by how many watch what it changes"


def _of_a_list(asked: Asked, setting: Setting, estimate: _Estimate) -> tuple[int, int, str]:
    count, size = setting.objects, setting.average_bytes
    least = estimate(Stored(0 if count is None else count, size or 1)).width
    most = estimate(Stored(MANY if count is None else count, MANY if size is None else max(size, 1))).width
    if least == most:
        return least, most, "whatever is stored" if count is None else f"with {count} stored objects"
    if count is None:
        return least, most, "by how much is stored of the resource"
    return least, most, f"with {count} stored objects, by their size"


def limit(asked: Asked, setting: Setting, level: PriorityLevelConfiguration) -> tuple[float | None, str]:
    """How long the request may wait, and by what: a quarter of its time until its deadline (1.26 to 1.37).

    Until 1.28.4 it is a quarter of the server's --request-timeout whatever the request says; since then at most 60 s,
    and of the request's own `timeout` where that is shorter. Watches have no deadline of their own.
    """
    if level.exempt:
        return None, "exempt requests are served at once"
    if level.queuing is None:
        return None, "its level has no queues, so it is served or refused at once"
    server_s = setting.request_timeout_s
    by_server = f"a quarter of the server's --request-timeout of {server_s:g} s"
    if holds(setting.release, LAZY_WAIT_LIMIT_UNTIL):
        own = ", whatever its own timeout" if timeout_text(asked) else ""
        return server_s / 4, f"{by_server}{own}; looked at only when another request comes to its queue"
    own_s = _timeout_s(asked)
    if own_s is not None and 0 < own_s < server_s:
        return _least(own_s / 4, f"a quarter of its timeout of {own_s:g} s")
    return _least(server_s / 4, by_server)


def _least(limit_s: float, why: str) -> tuple[float, str]:
    return (limit_s, why) if limit_s <= LONGEST_WAIT_S else (LONGEST_WAIT_S, f"the longest; {why} would be more")


def timeout_text(asked: Asked) -> str:
    """The `timeout` of the query string; empty without one, and for watches, whose one nobody reads."""
    if asked.request.verb == "watch":
        return ""
    return query_values(asked.query).get("timeout", [""])[0]


def _timeout_s(asked: Asked) -> float | None:
    nanoseconds = go_duration_ns(timeout_text(asked))
    return None if nanoseconds is None else nanoseconds / 1e9
