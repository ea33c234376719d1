"""Marks: each thing once, and nothing that did not happen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

import pytest

from apftop.deriving import Deriving
from apftop.records.findings import Finding, Findings
from apftop.records.frame import Replica
from apftop.records.moment import Moment
from apftop.records.raw import Endpoint, Sample
from apftop.records.tape import Mark, Pulse
from tests.derive.test_frame import configs, schemas
from tests.replay.living import notes
from tests.tape.taping import samples


@cache
def moments() -> tuple[Moment, ...]:
    """A recorded control plane, look by look."""
    return tuple(looks(samples()))


def looks(some: Sequence[Sample], every: int = 3) -> Iterator[Moment]:
    deriving = Deriving("a test", None, print)
    for number, one in enumerate(some):
        if deriving.take(one):
            deriving.follow(one)
        if number % every == every - 1:
            yield deriving.show({}, ())


def marks(some: Sequence[Moment], kind: str = "") -> list[Mark]:
    """What is noted of moments one after another, of one kind."""
    return [mark for note in notes(some) for mark in note.marks if not kind or mark.kind == kind]


def later(number: int, change: Callable[[Replica], Replica | None]) -> list[Moment]:
    """The moments of which all from one on have other servers."""
    made = []
    for at, one in enumerate(moments()):
        servers = {name: change(replica) if at >= number else replica for name, replica in one.frame.replicas.items()}
        known = {name: replica for name, replica in servers.items() if replica is not None}
        made.append(replace(one, frame=replace(one.frame, replicas=known)))
    return made


def test_of_a_plane_that_is_only_under_load_there_are_marks_of_findings_alone() -> None:
    assert {one.kind for one in marks(moments())} <= {"recording", "found", "gone"}


def test_a_finding_that_flickers_begins_once() -> None:
    there = Findings(found=(Finding("level-saturated", "warning", "load", "load is full"),))
    some = [replace(one, findings=there if number % 2 else Findings()) for number, one in enumerate(moments())]

    (found,) = marks(some, "found")
    assert (found.code, found.subject, found.severity) == ("level-saturated", "load", "warning")
    assert marks(some, "gone") == []


def test_a_finding_has_gone_when_it_was_seen_last() -> None:
    there = Findings(found=(Finding("level-saturated", "warning", "load", "load is full"),))
    some = [replace(one, findings=there if number < 5 else Findings()) for number, one in enumerate(moments())]

    (gone,) = marks(some, "gone")
    assert gone.at == some[4].now


def test_servers_that_fall_silent_together_are_one_mark() -> None:
    def silent(one: Replica) -> Replica:
        return replace(one, samples={key: replace(age, stale=True) for key, age in one.samples.items()})

    (gap,) = marks(later(12, silent), "gap")
    assert gap.text.startswith("no answer any more: 0, 1")


def pulses(some: Sequence[Moment]) -> list[Pulse]:
    """The pulses of moments one after another."""
    return [pulse for note in notes(some) for pulse in note.pulses]


def test_what_a_server_told_before_it_fell_silent_is_in_no_pulse() -> None:
    def silent(one: Replica) -> Replica:
        return replace(one, samples={key: replace(age, stale=True) for key, age in one.samples.items()})

    at = moments()[12].now
    last = pulses(later(12, silent))[-1]
    assert last.at > at
    assert (last.waiting, last.refused_per_s) == (None, None)
    assert pulses(moments())[-1].waiting is not None


def test_of_servers_of_which_one_is_silent_a_pulse_sums_up_the_others() -> None:
    def silent(one: Replica) -> Replica:
        if one.name != "0":
            return one
        return replace(one, samples={key: replace(age, stale=True) for key, age in one.samples.items()})

    def without(one: Replica) -> Replica | None:
        return None if one.name == "0" else one

    assert pulses(later(0, silent)) == pulses(later(0, without))


def test_another_process_of_another_version_is_one_mark() -> None:
    def restarted(one: Replica) -> Replica:
        return replace(one, started=(one.started or 0.0) + 100.0, version="1.99.0") if one.name == "0" else one

    found = [one for one in marks(later(12, restarted)) if one.kind in ("restart", "version")]
    assert [one.replica for one in found] == ["0"]
    assert found[0].text.endswith("-> 1.99.0")


@pytest.mark.parametrize("jitter_s", [0.4, -0.4])
def test_a_start_that_is_told_in_whole_seconds_too_is_no_other_process(jitter_s: float) -> None:
    some = later(12, lambda one: replace(one, started=None if one.started is None else one.started + jitter_s))

    assert marks(some, "restart") == []


def objects(at: float, shares: int = 10, names: Sequence[str] = ("load",), replica: str = "kas") -> list[Sample]:
    """What a server answers about its objects at a time."""
    told = configs(*names).replace(b'Shares":10', f'Shares":{shares}'.encode())
    bodies = {Endpoint.CONFIGS: told, Endpoint.SCHEMAS: schemas("batch")}
    return [Sample(replica, endpoint, body, 200, sent=at, received=at) for endpoint, body in bodies.items()]


def denied(at: float) -> list[Sample]:
    return [replace(one, body=b"", status=403) for one in objects(at)]


def config_marks(*some: list[Sample]) -> list[str]:
    return [one.text for one in marks(list(looks([sample for part in some for sample in part], 1)), "config")]


def test_a_changed_object_is_named_with_its_fields() -> None:
    assert config_marks(objects(1.0), objects(2.0, shares=20)) == [
        "PriorityLevelConfiguration catch-all was changed: shares 10 -> 20",
        "PriorityLevelConfiguration exempt was changed: shares 10 -> 20",
        "PriorityLevelConfiguration load was changed: shares 10 -> 20",
    ]


def test_objects_are_made_and_deleted() -> None:
    assert config_marks(objects(1.0), objects(2.0, names=("load", "new")), objects(3.0, names=("new",))) == [
        "PriorityLevelConfiguration new was made",
        "PriorityLevelConfiguration load was deleted",
    ]


def test_a_change_is_one_mark_though_servers_show_it_one_after_the_other() -> None:
    both = [*objects(1.0), *objects(1.1, replica="other")]
    behind = [*objects(2.0, names=("load", "new")), *objects(2.1, replica="other")]

    assert config_marks(both, behind, objects(3.0, names=("load", "new"), replica="other")) == [
        "PriorityLevelConfiguration new was made"
    ]


def test_objects_that_may_not_be_read_for_a_moment_were_not_deleted() -> None:
    assert config_marks(objects(1.0), denied(2.0), objects(3.0)) == []
