"""What levels are asked to do: over the window, and in their life before it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.derive.frame import frame
from apftop.live import fold
from apftop.records.frame import Level
from apftop.records.raw import Endpoint
from apftop.rules import rules
from tests.derive.build import a_sample, dispatched, exposition, histogram, level_row, levels_dump, rejected, series
from tests.derive.test_frame import configs, schemas

LIFE_S = 4000.0


def lived(seconds: float, level: str = "load") -> list[str]:
    """A level that is there for so long, and was idle."""
    count = round(seconds * 1e9)
    name, labels = "priority_level_seat_utilization", {"priority_level": level, "phase": "executing"}
    bounds = ("0", "1", "+Inf")
    buckets = [series(f"{name}_bucket", count, **labels, le=bound) for bound in bounds]
    return [*buckets, series(f"{name}_sum", 0, **labels), series(f"{name}_count", count, **labels)]


def at(
    seconds: float,
    served: float,
    widths: list[float],
    executions: list[float],
    *more: str,
    level: str = "load",
    life_s: float = LIFE_S,
    watches: tuple[float, ...] = (),
) -> tuple[float, list[str]]:
    """The series of a level `seconds` after the window began, in whose life there was all this."""
    lines = [*lived(life_s + seconds, level), dispatched(served, level), *more]
    lines += histogram("work_estimated_seats", widths, ("1", "2", "4", "10"), flow_schema="load", priority_level=level)
    lines += _ran(executions, level, "regular")
    if watches:
        lines += _ran(list(watches), level, "watch")
    return seconds, lines


def _ran(executions: list[float], level: str, kind: str) -> list[str]:
    return histogram("request_execution_seconds", executions, flow_schema="load", priority_level=level, type=kind)


def level_of(*answers: tuple[float, list[str]], start: float = 1000.0) -> Level:
    return (
        frame(fold(a_sample(exposition(*lines, start=start), t) for t, lines in answers)).replicas["kas"].levels["load"]
    )


def test_the_load_is_that_of_the_window_and_the_usual_one_that_of_the_life_before() -> None:
    usually = [1.0] * 400, [0.1] * 400
    level = level_of(
        at(0.0, 400, *usually),
        at(10.0, 450, usually[0] + [3.0] * 50, usually[1] + [0.5] * 50),
    )

    assert level.load is not None
    assert level.usual is not None
    assert (level.load.seconds, level.load.arrivals_per_s, level.load.width) == (10.0, 5.0, 3.0)
    assert level.load.execution_s == pytest.approx(0.5)
    assert level.load.demand == pytest.approx(5.0 * 3.0 * 0.5)
    assert (level.usual.seconds, level.usual.arrivals_per_s, level.usual.width) == (LIFE_S, 0.1, 1.0)
    assert level.usual.execution_s == pytest.approx(0.1)


def test_refused_and_waiting_requests_have_arrived() -> None:
    waiting = series("current_inqueue_requests", 20, flow_schema="load", priority_level="load")
    none = series("current_inqueue_requests", 0, flow_schema="load", priority_level="load")
    level = level_of(
        at(0.0, 100, [1.0], [0.1], rejected(0, "queue-full"), none),
        at(10.0, 150, [1.0], [0.1], rejected(30, "queue-full"), waiting),
    )

    assert level.load is not None
    assert level.load.arrivals_per_s == 10.0


def test_watches_are_no_part_of_the_execution_time() -> None:
    level = level_of(
        at(0.0, 2, [1.0], [0.1], watches=(50.0,)), at(10.0, 4, [1.0] * 2, [0.1, 0.3], watches=(50.0, 90.0))
    )

    assert level.load is not None
    assert level.usual is not None
    assert level.load.execution_s == pytest.approx(0.3)
    assert level.usual.execution_s == pytest.approx(0.1)


def test_a_level_that_did_nothing_has_no_means() -> None:
    level = level_of(at(0.0, 4, [1.0], [0.1]), at(10.0, 4, [1.0], [0.1]))

    assert level.load is not None
    assert (level.load.arrivals_per_s, level.load.width, level.load.execution_s, level.load.demand) == (
        0,
        None,
        None,
        None,
    )


def test_a_young_level_has_no_usual_load() -> None:
    young = rules().load.least_life_s - 1
    level = level_of(at(0.0, 4, [1.0], [0.1], life_s=young), at(10.0, 9, [1.0], [0.1], life_s=young))

    assert level.load is not None
    assert level.usual is None


def test_a_level_born_within_the_window_has_no_usual_load() -> None:
    other = at(0.0, 1, [1.0], [0.1], level="other")
    both = at(10.0, 2, [1.0], [0.1], level="other")[1] + at(-4000.0 + 5, 50, [2.0], [0.1])[1]
    level = level_of(other, (10.0, both))

    assert level.usual is None


def test_a_server_that_began_anew_has_no_usual_load() -> None:
    before = a_sample(exposition(*at(0.0, 400, [1.0], [0.1])[1], start=1000.0), 5000.0)
    after = a_sample(exposition(*at(0.0, 7, [1.0] * 7, [0.2] * 7, life_s=5.0)[1], start=5005.0), 5010.0)
    level = frame(fold([before, after])).replicas["kas"].levels["load"]

    assert level.usual is None
    assert level.load is not None
    assert level.load.arrivals_per_s == pytest.approx(7 / 5.0)


def test_one_answer_gives_neither() -> None:
    level = level_of(at(0.0, 400, [1.0], [0.1]))

    assert (level.load, level.usual) == (None, None)


def test_dumps_alone_give_no_load() -> None:
    dumps = [
        a_sample(levels_dump(level_row("load", 0, 1, count, 0, 0, 0)), t, Endpoint.LEVELS)
        for t, count in ((0.0, 5), (10.0, 25))
    ]
    level = frame(fold(dumps)).replicas["kas"].levels["load"]

    assert level.counts is not None
    assert (level.load, level.usual) == (None, None)


def test_a_sum_that_is_not_a_number_is_no_mean() -> None:
    labels = {"flow_schema": "load", "priority_level": "load"}

    def spoilt(t: float, served: float) -> tuple[float, list[str]]:
        lines = at(t, served, [1.0] * int(served), [0.1])[1]
        name = series("work_estimated_seats_sum", "NaN", **labels).split(" ")[0]
        return t, [f"{name} NaN" if line.startswith(name) else line for line in lines]

    level = level_of(spoilt(0.0, 4), spoilt(10.0, 9))

    assert level.load is not None
    assert level.load.width is None
    assert level.load.demand is None


numbers = st.lists(st.floats(0.001, 20.0), max_size=12)


@given(before=numbers, since=numbers, seconds=st.floats(1.0, 60.0), refused=st.integers(0, 50))
def test_the_load_times_its_window_is_what_happened(
    before: list[float], since: list[float], seconds: float, refused: int
) -> None:
    widths = [float(1 + index % 5) for index in range(len(before) + len(since))]
    level = level_of(
        at(0.0, len(before) + 1, widths[: len(before)], before, rejected(0, "queue-full")),
        at(seconds, len(before) + 1 + len(since), widths, before + since, rejected(refused, "queue-full")),
    )

    assert level.load is not None
    assert level.load.arrivals_per_s * level.load.seconds == pytest.approx(len(since) + refused)
    assert level.load.seconds == pytest.approx(seconds)
    if since:
        assert level.load.execution_s == pytest.approx(sum(since) / len(since))
        assert level.load.width == pytest.approx(sum(widths[len(before) :]) / len(since))
    else:
        assert (level.load.width, level.load.execution_s) == (None, None)


@given(before=numbers, since=numbers, other=numbers)
def test_what_is_usual_does_not_depend_on_the_window(
    before: list[float], since: list[float], other: list[float]
) -> None:
    def usual(more: list[float]) -> object:
        return level_of(
            at(0.0, len(before) + 1, [1.0] * len(before), before),
            at(10.0, len(before) + 1 + len(more), [1.0] * len(before) + [4.0] * len(more), before + more),
        ).usual

    assert usual(since) == usual(other) is not None


def test_the_reader_s_own_requests_are_no_arrivals() -> None:
    headers = (("x-kubernetes-pf-flowschema-uid", "fs-load"), ("x-kubernetes-pf-prioritylevel-uid", "uid-load"))
    objects = [
        a_sample(schemas("load"), 0.0, Endpoint.SCHEMAS),
        a_sample(configs("load"), 0.0, Endpoint.CONFIGS),
    ]
    samples = [replace(a_sample(exposition(*at(t, 100 + t, [1.0], [0.1])[1]), t), headers=headers) for t in (0.0, 10.0)]
    level = frame(fold([*objects, *samples])).replicas["kas"].levels["load"]

    assert level.load is not None
    assert level.load.arrivals_per_s == pytest.approx(0.9)
