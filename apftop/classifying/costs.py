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
from apftop.classifying.setting import SERVER_TIMEOUT_S, Setting
from apftop.present import seconds
from apftop.records.classified import Asked

EXEMPT_ESTIMATED_SINCE = (">=1.28",)

MANY = 1_000_000_000
"""More objects, bytes and watchers than any cap of seats lets count."""

LONGEST_WAIT_S = 60.0
"""However long the deadline is, since 1.28.5."""

LISTS = ("list", "watch")
CHANGES = ("create", "update", "patch", "delete")

OLD_ETCD = "etcd lacks consistent reads from the cache"
"""Older than 3.4.31 or 3.5.13, or something else in its place: servers find that out as they run."""

_Estimate = Callable[..., WorkEstimate]


def seats(asked: Asked, setting: Setting, level: PriorityLevelConfiguration) -> tuple[int, int, str]:
    """The fewest and the most seats, and what decides between them (1.26 to 1.37)."""
    if level.exempt and not holds(setting.release, EXEMPT_ESTIMATED_SINCE):
        return 0, 0, "exempt requests hold no seats until 1.28"
    cap = None
    nominal = setting.nominal.get(level.name)
    if level.queuing is not None and nominal is not None and holds(setting.release, LEVEL_SEAT_CAP_SINCE):
        cap = level_seat_cap(int(nominal), level.queuing.hand_size)
    verb = asked.request.verb

    def estimate(stored: Stored, watchers: int = 0, *, consistent_read: bool = True) -> WorkEstimate:
        estimator = Estimator(setting.release, setting.gates, consistent_read)
        return estimator.estimate(asked.request, asked.query, stored=stored, watchers=watchers, level_cap=cap)

    if verb in LISTS:
        return _of_a_list(asked, setting, estimate)
    if setting.watchers is not None and verb in CHANGES:
        found = estimate(Stored(), setting.watchers)
        beyond = found.additional_latency_ns
        held = f", held for {seconds(beyond / 1e9)} beyond its end" if beyond else ""
        return found.width, found.width, f"with {setting.watchers} watchers of what it changes{held}"
    least, most = estimate(Stored()).width, estimate(Stored(), MANY).width
    if least < most:
        return least, most, "by how many watch what it changes"
    alike = f"like each {verb}" if verb not in CHANGES else "however many watch what it changes"
    return least, most, alike


def _of_a_list(asked: Asked, setting: Setting, estimate: _Estimate) -> tuple[int, int, str]:
    count, size = setting.objects, setting.average_bytes
    much = Stored(MANY if count is None else count, MANY if size is None else max(size, 1))
    least = estimate(Stored(0 if count is None else count, size or 1)).width
    most = estimate(much).width
    further = ", until its first events are sent: from then on it holds none" if asked.request.verb == "watch" else ""
    if (from_storage := estimate(much, consistent_read=False).width) != most:
        further += f"; up to {from_storage} where {OLD_ETCD}"
    if not asked.request.path and not _options(asked):
        further += "; asked without any option: --path takes them"
    if count is None:
        why = "whatever is stored" if least == most else "by how much is stored of the resource"
    else:
        why = f"with {count} stored objects{'' if least == most else ', by their size'}"
    return least, most, f"{why}{further}"


def _options(asked: Asked) -> set[str]:
    """The options of a request besides its timeout, which costs nothing."""
    return {*query_values(asked.query)} - {"timeout"}


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
    whose = "default" if server_s == SERVER_TIMEOUT_S else "server's"
    by_server = f"a quarter of the {whose} --request-timeout of {server_s:g} s"
    own_s = _timeout_s(asked)
    if holds(setting.release, LAZY_WAIT_LIMIT_UNTIL):
        if own_s is not None and 0 < own_s <= server_s / 4:
            return server_s / 4, f"{by_server}, but its own timeout ends it after {own_s:g} s"
        return server_s / 4, f"{by_server}, but longer while no other request comes to its queue"
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
