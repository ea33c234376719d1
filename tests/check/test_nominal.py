"""Limits that follow from objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from apftop.apf.allocation import limits
from apftop.apf.builtins import builtin_levels
from apftop.apf.objects import CATCH_ALL, EXEMPT, FieldManager, Meta, PriorityLevelConfiguration
from apftop.apf.release import parse_release
from apftop.check.nominal import nominal
from apftop.check.point import LevelPoint, Point
from apftop.records.checks import Check
from apftop.records.parsed import LevelRow
from tests.check.build import LEVEL, SERVER_SEATS, a_config, a_level, a_point, later
from tests.check.recorded import windows
from tests.recording import recordings

OBJECTS = {**builtin_levels(), LEVEL: a_config(lendable_percent=50, borrowing_limit_percent=50)}


def server(
    at: float = 20.0,
    objects: Mapping[str, PriorityLevelConfiguration] = OBJECTS,
    *,
    runs: Mapping[str, PriorityLevelConfiguration] | None = None,
    release: str = "1.30.4",
    **more: Any,
) -> Point:
    """A server that runs levels as it has read the objects, `runs` if these are others."""
    known = parse_release(release)
    assert known is not None
    given = limits((runs or objects).values(), SERVER_SEATS, known)
    begun = later(a_level(), at)
    levels = {
        name: replace(begun, nominal=float(its.nominal), lower=float(its.lower), upper=float(its.upper))
        for name, its in given.items()
    }
    return replace(
        a_point(begun, release=release),
        levels=levels,
        configs=dict(objects),
        dumped={name: LevelRow(name, 0, True, False, 0, 0, 0, 0, 0, 0) for name in runs or objects},
        live=frozenset(runs or objects),
        **more,
    )


def verdicts(found: Mapping[str, tuple[Check, ...]]) -> set[str]:
    return {check.verdict for checks in found.values() for check in checks}


def missing(found: Mapping[str, tuple[Check, ...]]) -> str:
    (one,) = {check.missing for checks in found.values() for check in checks}
    return one


def shares(number: int, meta: Meta | None = None) -> dict[str, PriorityLevelConfiguration]:
    changed = replace(OBJECTS[LEVEL], shares=number)
    return {**OBJECTS, LEVEL: replace(changed, meta=meta) if meta else changed}


def test_limits_are_those_that_the_objects_give() -> None:
    found = nominal((server(20.0), server(30.0)))

    assert found.keys() == OBJECTS.keys() and verdicts(found) == {"ok"}
    # 90 seats x 25 shares of 270 = 8.3, so 9; of these half, 4.5, so 5, may be lent or borrowed on top.
    assert [(check.law, check.observed) for check in found[LEVEL]] == [("nominal", 9), ("lower", 4), ("upper", 14)]


def test_one_seat_more_or_less_is_off() -> None:
    def wrong(point: Point, **changed: Any) -> Point:
        level: LevelPoint = replace(point.levels[LEVEL], **changed)
        return replace(point, levels={**point.levels, LEVEL: level})

    found = nominal((wrong(server(20.0), nominal=10.0, upper=13.0), wrong(server(30.0), nominal=10.0, upper=13.0)))

    assert [check.verdict for check in found[LEVEL]] == ["off", "ok", "off"]
    assert found[LEVEL][0].expected == (9, 9) and "objects" in found[LEVEL][0].reason
    assert verdicts({name: checks for name, checks in found.items() if name != LEVEL}) == {"ok"}


def test_another_clusters_objects_are_off() -> None:
    found = nominal((server(20.0, shares(60), runs=OBJECTS), server(30.0, shares(60), runs=OBJECTS)))

    assert found[LEVEL][0].verdict == "off"


@pytest.mark.parametrize(
    "points",
    [
        # The objects are ahead of the server, which has taken them by the next answer.
        (server(20.0), server(30.0, shares(60), runs=OBJECTS)),
        # The server is ahead of the objects as read.
        (server(20.0), server(30.0, OBJECTS, runs=shares(60))),
    ],
)
def test_a_change_that_only_one_of_both_has_taken_is_unknown(points: tuple[Point, ...]) -> None:
    found = nominal(points)

    assert "off" not in verdicts(found) and found[LEVEL][0].verdict == "unknown"


def test_a_change_that_both_have_taken_is_right_at_once() -> None:
    assert verdicts(nominal((server(20.0), server(30.0, shares(60))))) == {"ok"}


@pytest.mark.parametrize(("written", "verdict"), [("22:13:37", "unknown"), ("22:13:30", "off")])
def test_an_object_written_a_moment_ago_is_not_held_against_a_server(written: str, verdict: str) -> None:
    """One answer alone, 20 s after 22:13:20."""
    meta = Meta(LEVEL, managers=(FieldManager("kubectl", "Update", f"2023-11-14T{written}Z", ""),))

    assert nominal((server(20.0, shares(60, meta), runs=OBJECTS),))[LEVEL][0].verdict == verdict


def test_mandatory_objects_that_are_gone_are_imagined() -> None:
    there = {name: config for name, config in OBJECTS.items() if name not in (EXEMPT, CATCH_ALL)}

    assert verdicts(nominal((server(20.0, there, runs=OBJECTS),))) == {"ok"}


def test_a_level_that_has_lost_its_object_leaves_all_unknown() -> None:
    left = {name: config for name, config in OBJECTS.items() if name != "system"}
    found = nominal((server(20.0, left, runs=OBJECTS),))

    assert verdicts(found) == {"unknown"} and "system has none" in missing(found)


def test_a_server_that_has_yet_to_read_the_objects_is_unknown() -> None:
    alone = {name: OBJECTS[name] for name in (EXEMPT, CATCH_ALL)}
    found = nominal((server(1.0, OBJECTS, runs=alone),))

    assert verdicts(found) == {"unknown"}


def test_an_extension_server_that_runs_the_mandatory_levels_alone_is_unknown() -> None:
    alone = {name: OBJECTS[name] for name in (EXEMPT, CATCH_ALL)}
    point = server(20.0, OBJECTS, runs=alone)

    assert verdicts(nominal((replace(point, dumped=None),))) == {"unknown"}


def test_without_a_dump_levels_of_the_past_leave_it_unknown() -> None:
    point = server(20.0)
    past = {**point.levels, "gone": later(a_level(), 20.0)}

    assert verdicts(nominal((replace(point, dumped=None),))) == {"ok"}
    assert "gone has none" in missing(nominal((replace(point, dumped=None, levels=past),)))


def test_what_is_missing_is_said() -> None:
    point = server(20.0)

    assert "objects" in missing(nominal((replace(point, configs=None),)))
    assert "release" in missing(nominal((replace(point, release=None),)))
    assert "seats" in missing(nominal((replace(point, server_concurrency=None),)))


def test_up_to_1_27_the_exempt_level_has_no_limits() -> None:
    point = server(20.0, release="1.27.3")
    point = replace(point, levels={**point.levels, EXEMPT: later(a_level(nominal=None), 20.0)})

    assert EXEMPT not in nominal((point,)) and verdicts(nominal((point,))) == {"ok"}


def of(checks: Iterable[tuple[Check, ...]]) -> list[str]:
    return [check.verdict for some in checks for check in some]


@pytest.mark.parametrize("recording", recordings(), ids=lambda one: one.name)
def test_real_servers_have_the_limits_that_their_objects_give(recording: Any) -> None:
    found = [verdict for _, points in windows(recording) for verdict in of(nominal(points).values())]

    assert found and set(found) == ({"ok"} if recording.level == LEVEL else {"unknown"})
