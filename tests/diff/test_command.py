"""`apftop diff` as people run it: which sides, which times, what is printed, and how it ends."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import click
import pytest

from apftop.apf.builtins import builtin_levels
from apftop.apf.objects import PriorityLevelConfiguration
from apftop.demo.objects import level_json
from apftop.diff.command import sides_of
from apftop.errors import Trouble
from apftop.records.raw import Endpoint, Sample
from tests.diff.sides import CASES, beyond, changes, run
from tests.tape.taping import record, samples

LEVEL = "workload-low"


def objects(some: list[PriorityLevelConfiguration], like: Sample) -> Sample:
    """An answer with these levels, given when another one was."""
    items = [level_json(one, built_in=True) for one in some]
    body = json.dumps({"kind": "List", "items": items}).encode()
    return replace(like, endpoint=Endpoint.CONFIGS, body=body, origin="")


@pytest.fixture(scope="module")
def tape(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tape of real servers on which somebody gives a level 50 shares more after half of it."""
    path = tmp_path_factory.mktemp("diff") / "t.apftape"
    some, levels = samples(), builtin_levels()
    middle = len(some) // 2
    more = levels | {LEVEL: replace(levels[LEVEL], shares=levels[LEVEL].shares + 50)}
    names = sorted({one.replica for one in some})
    first = [replace(objects(list(levels.values()), some[0]), replica=name) for name in names]
    then = [replace(objects(list(more.values()), some[middle]), replica=name) for name in names]
    record(path, [*first, *some[:middle], *then, *some[middle:]])
    return path


def test_two_times_of_one_tape(tape: Path) -> None:
    found = changes(tape, "--at", "+5s", "--at", "-0s")

    (one,) = beyond(found, "config")
    shares = builtin_levels()[LEVEL].shares
    assert one["name"] == f"PriorityLevelConfiguration/{LEVEL}"
    assert one["field"] == "spec.limited.nominalConcurrencyShares"
    assert (one["old"], one["new"], one["difference"]) == (shares, shares + 50, 50)


def test_one_time_of_a_tape_is_compared_with_its_end(tape: Path) -> None:
    assert beyond(changes(tape, "--at", "+5s"), "config") == beyond(
        changes(tape, tape, "--at", "+5s", "--at", "-0s"), "config"
    )


def test_what_it_means_comes_first(tape: Path) -> None:
    lines = run(tape, "--at", "+5s").stdout.splitlines()

    assert lines[0].startswith("A  ")
    assert lines[1].startswith("B  ")
    assert lines[3].startswith(
        f"config changed: PriorityLevelConfiguration/{LEVEL} spec.limited.nominalConcurrencyShares"
    )


def test_the_exit_code_tells_of_changes_only_when_asked() -> None:
    same, other = (CASES / "C03", CASES / "C03"), (CASES / "C31", CASES / "C03")

    assert run(*same, "--exit-code").return_value == 0
    assert run(*other).return_value == 0
    assert run(*other, "--exit-code").return_value == 1


def test_a_side_that_cannot_be_read_in_part_ends_with_3(tmp_path: Path) -> None:
    broken = tmp_path / "bundle"
    broken.mkdir()
    for one in (CASES / "C03").iterdir():
        (broken / one.name).write_bytes(one.read_bytes())
    (broken / "flowschemas.yaml").write_text("{")

    result = run(CASES / "C03", broken, "--exit-code", "-o", "json")

    assert result.return_value == 3
    assert not beyond(json.loads(result.stdout)["changes"], "config")


def test_all_shows_what_is_equal() -> None:
    assert not changes(CASES / "C03", CASES / "C03")
    assert {one["how"] for one in changes(CASES / "C03", CASES / "C03", "--all")} == {"equal"}


def test_a_ticket_has_a_table_for_each_part(tape: Path) -> None:
    text = run(tape, "--at", "+5s", "-o", "md").stdout

    assert "## Config" in text
    assert "| Where | What | A | B | Change | |" in text


def test_a_side_alone_is_compared_with_what_is_live(tape: Path) -> None:
    assert sides_of(str(CASES / "C03"), None, ()) == ((CASES / "C03", None), (None, None))
    assert sides_of("live", str(tape), ("14:03",)) == ((None, None), (tape, "14:03"))
    assert sides_of(str(tape), "live", ()) == ((tape, None), (None, None))


def test_times_go_to_the_tapes_in_their_order(tape: Path) -> None:
    name = str(tape)

    assert sides_of(name, name, ("14:03", "14:05")) == ((tape, "14:03"), (tape, "14:05"))
    assert sides_of(str(CASES / "C03"), name, ("14:05",)) == ((CASES / "C03", None), (tape, "14:05"))
    for words in (
        (name, name, ("14:03",)),
        (name, None, ("1:00", "2:00", "3:00")),
        (str(CASES / "C03"), None, ("1:00",)),
    ):
        with pytest.raises(click.UsageError, match="--at"):
            sides_of(*words)
    with pytest.raises(click.UsageError, match="live"):
        sides_of("live", None, ())


def test_a_side_that_is_not_there_is_said_in_one_line() -> None:
    with pytest.raises(Trouble, match="there is no such tape or bundle"):
        sides_of("/nowhere", None, ())
