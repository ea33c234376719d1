"""Policies put together from what is given and what is there, and how little is said where nothing is wrong."""

from __future__ import annotations

import pytest

from apftop.apf.release import LATEST, Release
from apftop.lint.all import linted
from apftop.lint.gather import objects_of, policy_of, untouched
from apftop.lint.policy import Objects
from tests.lint.policies import builtin, cluster, level, policy, schema

RELEASES = [Release(1, minor, patch) for minor in range(26, 38) for patch in (0, 14)]


@pytest.mark.parametrize("seats", [10, 100, 600, 3000])
@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_nothing_is_said_of_the_objects_that_a_release_brings(release: Release, seats: int) -> None:
    given = builtin(release)

    assert not linted(policy_of(given, objects_of(given), release, seats, whole=True)).faults
    assert not linted(policy_of(given, untouched(release), release, seats)).faults


def test_given_objects_take_their_places_among_those_that_are_there() -> None:
    made = policy(schema("mine", matchingPrecedence=500), before=schema("mine") + schema("other"))

    assert (made.before.schemas["mine"].precedence, made.after.schemas["mine"].precedence) == (1000, 500)
    assert "other" in made.after.schemas


def test_objects_of_a_file_are_there_beside_the_builtin_ones() -> None:
    made = policy(schema("mine"), before=level("batch"))

    assert made.before.levels.keys() == untouched(made.target).levels.keys() | {"batch"}
    assert made.before.schemas.keys() == untouched(made.target).schemas.keys()


def test_a_cluster_is_taken_as_it_is() -> None:
    there = cluster(without={"FlowSchema/probes"})

    made = policy_of((), there.after, there.target, 600)

    assert "probes" not in made.before.schemas


def test_an_object_that_is_broken_leaves_what_is_there() -> None:
    made = policy(level("batch", limitResponse="Queue"), before=level("batch", nominalConcurrencyShares=7))

    assert made.after.levels["batch"].shares == 7


def test_all_objects_are_known_of_a_cluster_and_of_no_single_file() -> None:
    there = cluster()
    beside = policy_of((), there.after, there.target, 600)

    assert there.knows("FlowSchema")
    assert beside.knows("PriorityLevelConfiguration")
    assert not policy(schema("mine") + level("batch")).knows("FlowSchema")


def test_what_is_whole_is_whole_by_kind() -> None:
    levels = {f"PriorityLevelConfiguration/{name}" for name in untouched(Release(1, 34)).levels}

    made = cluster(without=levels)

    assert made.gives("FlowSchema")
    assert not made.gives("PriorityLevelConfiguration")
    assert made.after.levels.keys() == untouched(Release(1, 34)).levels.keys()


def test_a_cluster_is_taken_as_it_is_though_mandatory_objects_are_missing() -> None:
    there = untouched(LATEST)
    lost = Objects({"exempt": there.schemas["exempt"]}, there.levels)

    assert policy_of((), lost, LATEST, 600, as_it_is=True).after.schemas.keys() == {"exempt"}
    assert policy_of((), lost, LATEST, 600).after.schemas.keys() == there.schemas.keys()
