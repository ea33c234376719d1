"""The last two dumps of priority levels: what rose between them, and when they are not taken for one server's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apftop.derive.frame import frame
from apftop.live import fold
from apftop.records.frame import Level, Recent, Replica
from apftop.records.raw import PROCESS_START, Endpoint, Sample
from tests.derive.build import a_sample, dispatched, exposition, level_row, levels_dump, rejected
from tests.derive.test_frame import configs, schemas
from tests.recording import Recording, recordings

OWN = (("x-kubernetes-pf-flowschema-uid", "fs-load"), ("x-kubernetes-pf-prioritylevel-uid", "uid-load"))


def dump(t: float, *counts: int, **what: object) -> Sample:
    """A dump with one level; `counts` are dispatched, rejected, timed out and cancelled."""
    sample = a_sample(levels_dump(level_row("load", 7, 2, *counts)), t, Endpoint.LEVELS)
    return replace(sample, **what)  # type: ignore[arg-type]


def metrics(t: float, count: float, start: float = 1000.0, **what: object) -> Sample:
    return replace(a_sample(exposition(dispatched(count), start=start), t), **what)  # type: ignore[arg-type]


def started(second: int) -> tuple[tuple[str, str], ...]:
    return ((PROCESS_START, str(second)),)


def replica_of(*samples: Sample) -> Replica:
    return frame(fold(samples)).replicas["kas"]


def level_of(*samples: Sample) -> Level:
    return replica_of(*samples).levels["load"]


def recent_of(*samples: Sample) -> Recent:
    found = level_of(*samples).recent
    assert found is not None
    return found


def test_the_dumps_give_rates_beside_those_of_the_metrics() -> None:
    dumps = dump(9.0, 180, 0, 0, 0), dump(11.0, 220, 10, 0, 4), dump(13.0, 260, 10, 0, 4)
    level = level_of(metrics(0.0, 100), dumps[0], metrics(10.0, 200), *dumps[1:])

    assert level.counts is not None
    assert (level.dispatched_per_s, level.counts.dispatched) == (10.0, 100)
    assert level.recent is not None
    assert (level.recent.window.seconds, level.recent.window.t0, level.recent.window.t1) == (2.0, 11.0, 13.0)
    assert level.recent.dispatched_per_s == 20.0
    assert level.pace is level.recent


def test_without_two_dumps_the_pace_is_that_of_the_metrics() -> None:
    level = level_of(metrics(0.0, 100), metrics(10.0, 200), dump(11.0, 220, 0, 0, 0))

    assert level.recent is None
    assert level.pace is not None
    assert (level.pace.dispatched_per_s, level.pace.window) == (10.0, level.window)


def test_without_any_pair_there_is_no_pace() -> None:
    assert level_of(metrics(0.0, 100), dump(1.0, 220, 0, 0, 0)).pace is None


def test_a_dump_of_1_26_has_no_totals() -> None:
    assert level_of(metrics(0.0, 1), dump(0.0), dump(2.0)).recent is None


def test_time_outs_are_told_from_refusals_on_arrival_whichever_column_they_have() -> None:
    objects = a_sample(configs("load"), 0.0, Endpoint.CONFIGS)
    old = recent_of(objects, dump(0.0, 10, 5, 1, 1), dump(2.0, 10, 25, 4, 3))
    new = recent_of(objects, dump(0.0, 10, 5, 0, 1), dump(2.0, 10, 25, 0, 6))

    assert dict(old.counts.rejected) == {"time-out": 3, "cancelled": 2, "queue-full": 15}
    assert dict(new.counts.rejected) == {"time-out": 5, "queue-full": 15}


def test_without_objects_a_refusal_on_arrival_is_called_that() -> None:
    assert dict(recent_of(dump(0.0, 1, 0, 0, 0), dump(2.0, 1, 4, 0, 0)).counts.rejected) == {"on-arrival": 4}


def test_the_window_is_between_the_first_bytes_however_long_the_questions_waited() -> None:
    first = dump(0.0, 100, 0, 0, 0, received=0.2, begun=0.1)
    second = dump(2.0, 160, 0, 0, 0, received=4.2, begun=4.1)  # it waited in a queue

    assert recent_of(first, second).window.seconds == pytest.approx(4.0)


def test_a_clock_that_was_set_between_two_dumps_gives_no_rate() -> None:
    first = dump(0.0, 100, 0, 0, 0, server_date=9000.0)

    assert level_of(first, dump(8.0, 160, 0, 0, 0, server_date=9002.0)).recent is None
    assert level_of(first, dump(2.0, 160, 0, 0, 0, server_date=9062.0)).recent is None
    # `Date` has whole seconds.
    assert recent_of(first, dump(2.0, 160, 0, 0, 0, server_date=9003.0)).dispatched_per_s == 30.0


def test_own_questions_are_not_in_the_pace() -> None:
    objects = (a_sample(configs("load"), 0.0, Endpoint.CONFIGS), a_sample(schemas("load"), 0.0, Endpoint.SCHEMAS))
    refused = Sample("kas", Endpoint.REQUESTS, status=429, sent=1.5, received=1.6, headers=OWN)
    found = recent_of(
        *objects,
        dump(1.0, 100, 10, 0, 0, headers=OWN),
        refused,
        replace(metrics(2.0, 1), headers=OWN),
        dump(3.0, 110, 13, 0, 0, headers=OWN),
    )

    # The metrics and the second dump itself were dispatched, and a question for the requests was refused.
    assert found.counts.dispatched == 8
    assert dict(found.counts.rejected) == {"queue-full": 2}


@pytest.mark.parametrize("later", [(99, 5, 1, 1), (140, 4, 1, 1), (140, 5, 0, 1), (140, 5, 1, 0)])
def test_a_count_that_falls_ends_the_pair(later: tuple[int, ...]) -> None:
    assert level_of(dump(0.0, 100, 5, 1, 1), dump(2.0, *later)).recent is None


def test_dumps_of_different_certificates_are_no_pair() -> None:
    assert level_of(dump(0.0, 100, 0, 0, 0, peer="aa"), dump(2.0, 9000, 0, 0, 0, peer="bb")).recent is None
    assert level_of(dump(0.0, 100, 0, 0, 0, peer="aa"), dump(2.0, 120, 0, 0, 0, peer="aa")).recent is not None


def test_dumps_of_different_starts_are_no_pair() -> None:
    one, other = started(1000), started(1001)

    assert level_of(dump(0.0, 100, 0, 0, 0, headers=one), dump(2.0, 9000, 0, 0, 0, headers=other)).recent is None
    assert level_of(dump(0.0, 100, 0, 0, 0, headers=one), dump(2.0, 120, 0, 0, 0, headers=one)).recent is not None


def test_after_a_change_of_server_only_dumps_that_came_after_it_are_a_pair() -> None:
    # The second answer is of a busier server: no count of the dumps fell.
    change = (metrics(0.0, 900), dump(1.0, 100, 0, 0, 0), metrics(2.0, 131040, start=500.0), dump(3.0, 9000, 0, 0, 0))

    assert level_of(*change).pace is None
    assert recent_of(*change, dump(5.0, 9040, 0, 0, 0)).dispatched_per_s == 20.0


def test_a_restart_gives_no_negative_rate_and_rates_again_from_its_second_dump_on() -> None:
    before = (metrics(0.0, 9000), dump(1.0, 9000, 50, 0, 0))
    after = (dump(5.0, 3, 0, 0, 0), metrics(6.0, 7, start=1004.0))

    assert level_of(*before, after[0]).recent is None
    assert recent_of(*before, *after, dump(7.0, 13, 0, 0, 0), dump(9.0, 33, 0, 0, 0)).dispatched_per_s == 10.0


def test_metrics_of_another_certificate_give_no_rates() -> None:
    replica = replica_of(metrics(0.0, 100, peer="aa"), metrics(10.0, 9000, peer="bb"))

    assert replica.levels["load"].counts is None
    assert replica.peer == "bb"
    assert any("another certificate" in problem for problem in replica.problems)


def test_a_start_that_only_the_header_tells_ends_the_pair() -> None:
    # The two processes started a second apart, and the other one is older than the window.
    replica = replica_of(
        metrics(2000.0, 100, headers=started(1000)), metrics(2010.0, 9000, start=1001.0, headers=started(1001))
    )

    assert replica.levels["load"].counts is None
    assert any("different servers" in problem for problem in replica.problems)


def test_the_start_is_told_by_the_metrics_or_their_header() -> None:
    bare = a_sample(exposition(dispatched(1), start=None), 0.0)

    assert replica_of(metrics(0.0, 1, start=1234.5, headers=started(1234))).started == 1234.5
    assert replica_of(replace(bare, headers=started(1234))).started == 1234
    assert replica_of(bare).started is None


def test_the_state_of_a_level_is_that_of_its_pace() -> None:
    base = [a_sample(exposition(dispatched(1), rejected(n, "queue-full")), t) for t, n in ((0.0, 1), (10.0, 9))]
    calm = [a_sample(levels_dump(level_row("load", 0, 0, 1, 9, 0, 0)), t, Endpoint.LEVELS) for t in (11.0, 13.0)]

    assert level_of(*base).state == "saturated"
    assert level_of(*base, *calm).state == "idle"


@pytest.mark.parametrize("recording", recordings(), ids=lambda one: one.name)
def test_dumps_and_metrics_of_real_servers_count_the_same(recording: Recording) -> None:
    for replica in recording.replicas:
        scrapes = recording.of(replica)
        levels: list[Level] = []
        for first in scrapes[:-1]:
            # The metrics are fetched up to two seconds after the dump; a window much longer than that is compared.
            last = next((one for one in scrapes if one.t - first.t >= 10), scrapes[-1])
            state = fold(sample for scrape in (first, last) for sample in scrape.samples())
            levels.append(frame(state).replicas[replica].levels[recording.level])
        # So many come in those seconds at most.
        rates = (level.window.per_s(level.counts.arrivals) for level in levels if level.window and level.counts)
        tolerance = max(5.0, 2 * max(rates))
        for level in levels:
            assert level.counts is not None
            assert level.recent is not None
            dumped, timed_out = level.recent.counts, level.counts.rejected.get("time-out", 0)

            assert abs(dumped.dispatched - level.counts.dispatched) <= tolerance
            assert abs(dumped.rejected_total - level.counts.rejected_total) <= tolerance
            assert abs(dumped.rejected.get("time-out", 0) - timed_out) <= tolerance
