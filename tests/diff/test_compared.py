"""Two looks compared: with itself nothing, backwards the reverse, and no change out of what is not known."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from apftop.cli import cli
from apftop.derive.totals import totals
from apftop.diff.change import Change
from apftop.diff.compared import compared
from apftop.diff.document import document
from apftop.diff.text import markdown, text
from apftop.report.look import Look
from tests.diff.sides import BUNDLES, CASES, look

SCHEMA = json.loads(files("apftop.diff").joinpath("schema.json").read_text())
PAIRS = list(pairwise(BUNDLES))
REVERSED = {"added": "removed", "removed": "added"}


def label(path: Path) -> str:
    return str(path.relative_to(CASES))


def facing(one: Change) -> tuple[object, ...]:
    """A change as the comparison in the other direction must have it."""
    difference = None if one.difference is None else 0 - one.difference
    how = REVERSED.get(one.how, one.how)
    return one.section, one.field, one.replica, one.level, one.name, how, one.new, one.old, difference, one.bound


def seen(one: Change) -> tuple[object, ...]:
    return (
        one.section,
        one.field,
        one.replica,
        one.level,
        one.name,
        one.how,
        one.old,
        one.new,
        one.difference,
        one.bound,
    )


@pytest.mark.parametrize("bundle", BUNDLES, ids=label)
def test_a_look_differs_from_itself_in_nothing(bundle: Path) -> None:
    found = compared(look(bundle), look(bundle))

    assert {one.how for one in found.changes} <= {"equal"}
    assert found.summary == ("nothing changed by more than can be told",)


@pytest.mark.parametrize(("old", "new"), PAIRS, ids=label)
def test_backwards_it_is_the_reverse(old: Path, new: Path) -> None:
    forth, back = compared(look(old), look(new)), compared(look(new), look(old))

    # The bounds of two directions are sums in another order.
    def rounded(rows: list[tuple[object, ...]]) -> list[str]:
        return sorted(str(tuple(round(x, 9) if isinstance(x, float) else x for x in row)) for row in rows)

    assert rounded([seen(one) for one in forth.changes]) == rounded([facing(one) for one in back.changes])


@pytest.mark.parametrize(("old", "new"), PAIRS, ids=label)
def test_the_document_follows_its_schema(old: Path, new: Path) -> None:
    made = document(compared(look(old), look(new)), every=True)

    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(json.dumps(made, allow_nan=False)))


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(("old", "new"), PAIRS, ids=label)
def test_what_one_side_does_not_know_is_no_change(old: Path, new: Path) -> None:
    for one in compared(look(old), look(new)).changes:
        if one.section in ("limits", "load", "waits", "clients", "checks") and (one.old is None) != (one.new is None):
            assert one.how in ("unknown", "added", "removed")
            assert one.difference is None


def test_servers_of_other_names_are_compared_by_their_sums() -> None:
    side = look(CASES / "C03")
    (server,) = side.frame.replicas.values()
    other = replace(side, frame=replace(side.frame, replicas={"other": replace(server, name="other")}))

    found = compared(side, other)

    assert found.pairs.by == "totals"
    assert any("no server has the same name" in line for line in found.apart)
    assert not [one for one in found.changes if one.section in ("limits", "load") and one.how != "equal"]


def test_a_finding_is_not_gone_where_what_it_stands_on_was_not_read() -> None:
    side = look(CASES / "C03")
    (server,) = side.frame.replicas.values()
    failed = replace(server, failed=True)
    blind = replace(
        side,
        frame=replace(side.frame, replicas={server.name: failed}),
        found=replace(side.found, found=()),
    )

    found = [one for one in compared(side, blind).changes if one.section == "findings"]

    assert found
    assert {one.how for one in found} == {"unknown"}


def test_hostile_names_reach_neither_terminal_nor_ticket() -> None:
    side = look(CASES / "C03")
    (server,) = side.frame.replicas.values()
    name = "\x1b[31m|`x`\u202e\n# title"
    levels = {name: replace(next(iter(server.levels.values())), name=name)}
    hostile = replace(server, levels={**server.levels, **levels})
    found = compared(side, replace(side, source=name, frame=replace(side.frame, replicas={server.name: hostile})))

    for shown in (text(found, every=True), markdown(found, every=True)):
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert "\n# title" not in shown
    assert "\\|" in markdown(found, every=True)


def test_clients_are_compared_on_servers_that_tell_on_both_sides() -> None:
    side = look(CASES / "C03")
    (server,) = side.frame.replicas.values()
    both = {name: replace(server, name=name) for name in ("a", "b")}
    quiet = both | {"b": replace(both["b"], requests=None, flows=())}
    old, new = (replace(side, frame=replace(side.frame, replicas=some)) for some in (both, quiet))

    found = [one for one in compared(old, new).changes if one.section == "clients"]

    assert [(one.replica, one.how) for one in found if one.how != "equal"] == [("b", "unknown")]
    assert [one for one in found if one.how == "equal" and one.field == "waiting"]


@pytest.mark.parametrize(("waiting", "how"), [(1.0, "within"), (400.0, "changed")])
def test_another_server_is_the_hot_one_only_where_it_stands_out(waiting: float, how: str) -> None:
    side = look(CASES / "C03")
    (server,) = side.frame.replicas.values()

    def hot(name: str) -> Look:
        some = {
            one: replace(
                server,
                name=one,
                levels={
                    key: replace(level, waiting=waiting if one == name and level.state != "exempt" else 0.0)
                    for key, level in server.levels.items()
                },
            )
            for one in ("a", "b")
        }
        return replace(side, frame=replace(side.frame, replicas=some, totals=totals(some)))

    (found,) = (one for one in compared(hot("a"), hot("b")).changes if one.field == "hot")

    assert (found.old, found.new, found.how) == ("a", "b", how)


def test_a_redacted_bundle_is_no_other_one_than_its_original(tmp_path: Path) -> None:
    redacted = tmp_path / "r.tgz"
    words = ["collect", str(CASES / "C03"), "--redact", "-o", str(redacted)]
    assert CliRunner().invoke(cli, words, standalone_mode=False).exception is None

    found = compared(look(CASES / "C03"), look(redacted))

    assert not found.changed
    assert any("pseudonyms on one side" in line for line in found.apart)


def test_pseudonyms_are_known_as_such_where_no_dump_of_requests_has_any(tmp_path: Path) -> None:
    redacted = tmp_path / "r"
    words = ["collect", str(CASES / "C03"), "--redact", "-o", str(redacted)]
    assert CliRunner().invoke(cli, words, standalone_mode=False).exception is None
    for dump in redacted.rglob("dump_requests*"):
        dump.unlink()

    seen = look(redacted)

    assert not any(one.requests for one in seen.frame.replicas.values())
    assert seen.frame.redacted and not look(CASES / "C03").frame.redacted
    assert any("pseudonyms on one side" in line for line in compared(look(CASES / "C03"), seen).apart)


def test_pseudonyms_of_two_redactions_are_not_taken_for_the_same_names(tmp_path: Path) -> None:
    looks = []
    for case in ("C05", "C03"):
        words = ["collect", str(CASES / case), "--redact", "-o", str(tmp_path / f"{case}.tgz")]
        assert CliRunner().invoke(cli, words, standalone_mode=False).exception is None
        looks.append(look(tmp_path / f"{case}.tgz"))

    found = compared(*looks)

    assert any("pseudonyms on both sides" in line for line in found.apart)
    assert found.pairs.by == "totals"
    assert not [one for one in found.changes if one.section == "clients" and one.beyond]
