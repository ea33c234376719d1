"""What a store has kept is gone through as a tape is, and its time line tells what happened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from apftop.history.opened import Opened
from apftop.history.player import History
from apftop.prometheus.client import Client
from apftop.prometheus.overview import overview
from apftop.prometheus.store import store
from apftop.records.moment import Moment, Replayed
from tests.gathering import Gathered
from tests.prometheus.api import Api
from tests.prometheus.kept import recorded

END = (recorded()[-1].received or 0.0) + 0.5
SPAN = END - 86400, END + 60


class Shown(Gathered[Moment]):
    """The moments that a player has shown."""

    def one(self, holds: Callable[[Moment, Replayed], object], after: int = 0) -> Moment:
        """The first moment after so many of which something holds."""
        return self.until(lambda one: one.replayed is not None and holds(one, one.replayed), after=after)


@contextmanager
def history(api: Api, at: float) -> Iterator[tuple[History, Shown]]:
    shown = Shown(lambda one: one.replayed)
    player = History(Opened(store(api.url, environment={}), None), on_moment=shown.take, span=SPAN, at=at)
    player.start()
    try:
        yield player, shown
    finally:
        player.stop()


def settled(one: Moment, where: Replayed) -> bool:
    return where.whole and len(one.frame.replicas) == 3


def test_a_time_is_shown_with_all_of_the_span_around_it(api: Api) -> None:
    api.ranges = {"current_inqueue_requests": [{"metric": {}, "values": [[END - 600, "7"]]}]}
    with history(api, END) as (player, shown):
        assert any("reading" in line for line in shown.one(lambda one, _: one.news).news)
        one = shown.one(lambda one, where: settled(one, where) and one.notes.pulses)
        assert player.recorded().startswith(b"apftop tape")

    assert one.replayed is not None
    assert (one.replayed.first, one.replayed.last) == SPAN
    assert [(pulse.at, pulse.waiting, pulse.refused_per_s) for pulse in one.notes.pulses] == [
        (round(END - 600), 7.0, 0.0)
    ]
    assert one.frame.t1 is not None
    assert END - 10 < one.frame.t1 <= END


def test_it_is_stepped_through_and_played_to_its_end(api: Api) -> None:
    with history(api, END) as (player, shown):
        first = shown.one(settled)
        before = len(shown.taken)
        player.step(-2)
        back = shown.one(lambda one, where: settled(one, where) and one.now < first.now, before)
        before = len(shown.taken)
        player.play(60)
        shown.one(lambda one, where: one.now >= first.now and where.speed, before)
        end = shown.one(lambda one, where: one.now > first.now and not where.speed, before)
    assert back.replayed is not None
    assert back.replayed.speed == 0
    # Nobody scraped them in the rest of the span.
    assert all(one.failed for one in end.frame.replicas.values())


def test_where_nothing_was_scraped_that_is_told_and_the_screen_stays(api: Api) -> None:
    told = "there are no metrics of flow control at that time"
    with history(api, END) as (player, shown):
        shown.one(settled)
        player.go(END - 40_000)
        one = shown.one(lambda one, _: any(told in line for line in one.news))
        before = len(shown.taken)
        player.go(END)
        shown.one(settled, before)
    assert len(one.frame.replicas) == 3


def test_a_store_that_fails_is_news(api: Api) -> None:
    api.instead = 503, "application/json", b'{"status":"error","errorType":"timeout","error":"too slow"}'
    with history(api, END) as (_, shown):
        one = shown.one(lambda one, _: any("too slow" in line for line in one.news))
    assert not one.frame.replicas


def test_the_time_line_tells_restarts_gaps_versions_and_limits(api: Api) -> None:
    def line(name: str, *values: tuple[int, float], **labels: str) -> None:
        known = api.ranges.get(name, [])
        row = {"metric": labels, "values": [[at, str(value)] for at, value in values]}
        api.ranges = {**api.ranges, name: [*known, row]}

    line("process_start_time_seconds", (1200, 100), (1380, 100), (1920, 1500.5), instance="a")
    line("kubernetes_build_info", (1200, 1), (1380, 1), instance="a", git_version="v1.30.4")
    line("kubernetes_build_info", (1920, 1), instance="a", git_version="v1.37.2")
    line("nominal_limit_seats", (1200, 10), (1380, 12), priority_level="p")
    client = Client(store(api.url, environment={}))
    found = overview(client, 'job="a"', 1000.0, 1000.0 + 86400)
    client.close()

    assert [(one.at, one.kind, one.replica, one.text) for one in found.marks] == [
        (1380.0, "gap", "a", "not scraped any more"),
        (1380.0, "config", "", "p: nominal limit 10 -> 12 seats on the server that has most"),
        (1500.5, "restart", "a", "another process"),
        (1920.0, "back", "a", "scraped again"),
        (1920.0, "version", "a", "version v1.30.4 -> v1.37.2"),
    ]
    assert found.pulses == ()
