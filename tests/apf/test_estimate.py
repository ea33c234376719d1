"""Work estimates by release and gate: worked examples, and the rules that changed between releases."""

from __future__ import annotations

import pytest

from apftop.apf.attributes import attributes
from apftop.apf.estimate import Estimator, Stored, WorkEstimate
from apftop.apf.gates import gate
from apftop.apf.list_options import list_options
from apftop.apf.release import Release

LIST = attributes("GET", "/api/v1/pods")
NAMED = attributes("GET", "/api/v1/pods", "fieldSelector=metadata.name%3Da")
WATCH = attributes("GET", "/api/v1/pods", "watch=1")
CREATE = attributes("POST", "/api/v1/namespaces/a/pods")
POLLED = Stored(300, 10_000)


def seats(minor: int, query: str, stored: Stored = POLLED, **gates: bool) -> int:
    estimator = Estimator(Release(1, minor, 9), gates)
    request = attributes("GET", "/api/v1/pods", query)
    return estimator.estimate(request, query, stored=stored).initial_seats


@pytest.mark.parametrize(
    ("query", "by_release"),
    [
        # The releases 1.26, 1.27, 1.28, 1.30, 1.31, 1.33 and 1.34, in this order, each in its .9.
        ("", (6, 6, 6, 6, 3, 3, 10)),
        ("resourceVersion=0", (3, 3, 3, 3, 3, 3, 10)),
        ("limit=50", (1, 1, 1, 1, 3, 3, 5)),
        ("limit=50&resourceVersion=0", (3, 3, 3, 3, 3, 3, 5)),
        ("limit=50&resourceVersion=7", (1, 1, 1, 1, 1, 1, 5)),
        ("resourceVersion=7", (3, 3, 3, 3, 3, 3, 10)),
        ("resourceVersion=7&labelSelector=a", (3, 3, 3, 3, 3, 3, 10)),
        ("labelSelector=a", (6, 6, 6, 6, 3, 3, 10)),
        ("labelSelector=a&limit=50", (4, 4, 4, 4, 3, 3, 5)),
        ("resourceVersion=7&resourceVersionMatch=Exact", (6, 6, 6, 6, 6, 6, 30)),
        ("resourceVersion=7&resourceVersionMatch=Exact&limit=50&labelSelector=a", (4, 4, 4, 4, 4, 4, 15)),
        ("resourceVersion=7&resourceVersionMatch=Odd", (3, 6, 6, 6, 6, 6, 30)),
        ("resourceVersion=7&resourceVersionMatch=NotOlderThan", (3, 3, 3, 3, 3, 3, 10)),
        ("resourceVersion=7&resourceVersionMatch=NotOlderThan&limit=50", (1, 1, 1, 1, 3, 3, 5)),
        ("resourceVersionMatch=NotOlderThan&limit=50&continue=c", (1, 1, 1, 1, 1, 3, 5)),
        ("continue=c&resourceVersion=0", (6, 6, 6, 6, 6, 6, 30)),
        ("limit=abc", (10, 10, 10, 10, 10, 10, 100)),
        ("limit=-1&resourceVersion=0", (3, 3, 3, 3, 3, 3, 10)),
    ],
)
def test_a_list_of_300_objects_of_10_kilobytes(query: str, by_release: tuple[int, ...]) -> None:
    assert tuple(seats(minor, query) for minor in (26, 27, 28, 30, 31, 33, 34)) == by_release


def test_consistent_lists_come_from_the_cache_by_gate_and_by_etcd() -> None:
    assert seats(30, "", ConsistentListFromCache=True) == 3
    assert seats(31, "", ConsistentListFromCache=False) == 6
    old_etcd = Estimator(Release(1, 37, 2), {}, consistent_read=False)

    assert old_etcd.estimate(LIST, stored=POLLED).initial_seats == 30
    assert Estimator(Release(1, 37, 2), {}).estimate(LIST, stored=POLLED).initial_seats == 10


def test_chunking_off_leaves_limit_and_continue_out() -> None:
    assert seats(28, "limit=50&resourceVersion=7") == 1
    assert seats(28, "limit=50&resourceVersion=7", APIListChunking=False) == 3


def test_sizes_count_by_gate() -> None:
    assert seats(34, "", SizeBasedListCostEstimate=False) == 3
    assert seats(34, "resourceVersionMatch=Exact", Stored(10_000, 1000), SizeBasedListCostEstimate=False) == 10
    assert seats(34, "resourceVersionMatch=Exact", Stored(10_000, 1000)) == 100
    assert seats(37, "limit=1", Stored(5)) == 10
    assert seats(37, "limit=1&resourceVersionMatch=Exact", Stored(5)) == 15


@pytest.mark.parametrize(
    ("minor", "state", "query", "found"),
    [
        (33, "unknown", "", 1),
        (37, "unknown", "", 1),
        (33, "stale", "", 10),
        (37, "stale", "", 10),
        (37, "stale", "resourceVersionMatch=Exact", 100),
        (37, "stale", "resourceVersionMatch=Exact&limit=1", 15),
    ],
)
def test_resources_whose_objects_are_not_known(minor: int, state: str, query: str, found: int) -> None:
    stored = Stored(state="unknown" if state == "unknown" else "stale")

    assert seats(minor, query, stored) == found


def test_a_named_list_is_one_object() -> None:
    huge = Stored(300, 1_500_000)

    assert Estimator(Release(1, 33), {}).estimate(NAMED, stored=huge).initial_seats == 1
    assert Estimator(Release(1, 34), {}).estimate(NAMED, stored=huge).initial_seats == 10
    by_count = Estimator(Release(1, 34), {"SizeBasedListCostEstimate": False})
    assert by_count.estimate(NAMED, stored=huge).initial_seats == 1


@pytest.mark.parametrize(
    ("minor", "query", "width"),
    [
        (31, "watch=1&sendInitialEvents=true", 1),
        (32, "watch=1&sendInitialEvents=true", 3),
        (33, "watch=1&sendInitialEvents=true", 1),
        (34, "watch=1&sendInitialEvents=true", 10),
        (34, "watch=1&sendInitialEvents=false", 1),
        (34, "watch=1", 1),
        (35, "watch=1", 10),
        (35, "watch=1&resourceVersion=0", 10),
        (35, "watch=1&resourceVersion=7", 1),
        (35, "watch=1&resourceVersion=7&sendInitialEvents=1", 10),
    ],
)
def test_watches_that_send_what_there_is_cost_like_lists(minor: int, query: str, width: int) -> None:
    assert seats(minor, query) == width


def test_initial_events_were_unknown_before_they_existed() -> None:
    assert seats(27, "watch=1&sendInitialEvents=true", WatchList=True) == 1
    assert seats(28, "watch=1&sendInitialEvents=true", WatchList=True) == 3


@pytest.mark.parametrize(
    ("watchers", "level_cap", "estimate"),
    [
        (9, None, WorkEstimate()),
        (25, None, WorkEstimate(1, 3, 5_000_000)),
        (1000, None, WorkEstimate(1, 10, 50_000_000)),
        (5000, 100, WorkEstimate(1, 10, 250_000_000)),
        (5000, 7, WorkEstimate(1, 7, 357_142_857)),
    ],
)
def test_writes_are_charged_for_their_watchers(watchers: int, level_cap: int | None, estimate: WorkEstimate) -> None:
    found = Estimator(Release(1, 37, 2), {}).estimate(CREATE, stored=POLLED, watchers=watchers, level_cap=level_cap)

    assert found == estimate
    assert found.width == max(1, estimate.final_seats)


def test_tokens_and_reads_cost_one_seat() -> None:
    token = attributes("POST", "/api/v1/namespaces/a/serviceaccounts/s/token")
    estimator = Estimator(Release(1, 37, 2), {})

    assert estimator.estimate(token, stored=POLLED, watchers=500) == WorkEstimate()
    assert estimator.estimate(attributes("GET", "/version"), stored=POLLED) == WorkEstimate()
    assert estimator.estimate(attributes("DELETE", "/api/v1/pods"), stored=POLLED, watchers=500) == WorkEstimate()


def test_a_cap_of_the_level_holds_for_lists() -> None:
    estimator = Estimator(Release(1, 37, 2), {})
    exact = "resourceVersionMatch=Exact"

    assert estimator.estimate(LIST, exact, stored=Stored(10_000, 1000), level_cap=37).initial_seats == 37
    assert estimator.estimate(WATCH, "watch=1", stored=POLLED, level_cap=4).initial_seats == 4


@pytest.mark.parametrize("query", ["limit=x", "limit=", "limit= 1", "limit=9223372036854775808", "timeoutSeconds=1s"])
def test_queries_that_the_server_refuses(query: str) -> None:
    assert list_options(query) is None


def test_gates_are_what_the_server_says_first() -> None:
    assert not gate("WatchList", {}, Release(1, 33))
    assert gate("WatchList", {"WatchList": True}, Release(1, 33))
    assert gate("ConsistentListFromCache", {}, Release(1, 37))


def test_releases_without_caps_of_levels_ignore_them() -> None:
    for release, found in ((Release(1, 26, 7), 6), (Release(1, 26, 8), 4), (Release(1, 27, 4), 6), (Release(1, 28), 4)):
        assert Estimator(release, {}).estimate(LIST, stored=POLLED, level_cap=4).initial_seats == found
