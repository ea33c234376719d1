"""Hands of flows in a redacted bundle: kept where they were known, else unknown, and never dealt from pseudonyms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.apf.shards import deal, hand, undealt
from apftop.derive.frame import frame
from apftop.errors import Trouble
from apftop.live import fold
from apftop.parse.facts import parse_facts
from apftop.records.moment import Moment
from apftop.records.parsed import ParseError
from apftop.records.raw import Endpoint, Sample
from apftop.sheets.look import Look, View
from apftop.sheets.views import page
from tests.collect.saved import read
from tests.redacting.telling import Mapped, redacted, run, told_back
from tests.sheets.moments import seen

CASES = Path(__file__).parent.parent / "cases"


@given(st.integers(0, 2**64 - 1), st.integers(2, 512), st.integers(1, 8))
def test_a_hash_of_a_hand_is_dealt_that_hand(value: int, queues: int, size: int) -> None:
    dealt = deal(value, queues, min(size, queues))

    assert deal(undealt(dealt, queues), queues, len(dealt)) == dealt


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Mapped]:
    """A redacted bundle with flows in queues, and who is who."""
    return redacted(CASES / "C05", tmp_path_factory.mktemp("shared"))


def flows(path: Path) -> dict[tuple[str, str], list[int] | None]:
    document = json.loads(run("report", path, "--output", "json", code=(0, 3)))
    (replica,) = document["replicas"].values()
    found = replica.get("flows") or document["flows"]
    return {(one["flow_schema"], one["distinguisher"]): one["hand"] for one in found}


def test_the_report_has_the_hands_that_flows_had(shared: tuple[Path, Mapped]) -> None:
    target, names = shared

    told = {(schema, told_back(flow, names)): dealt for (schema, flow), dealt in flows(target).items()}

    assert told == flows(CASES / "C05")
    assert any(told.values())


def test_without_the_facts_hands_are_unknown_and_the_report_says_so(
    shared: tuple[Path, Mapped], tmp_path: Path
) -> None:
    target = tmp_path / "bare"
    target.mkdir()
    for file in shared[0].iterdir():
        if file.name != "facts.json":
            (target / file.name).write_bytes(file.read_bytes())

    assert {tuple(dealt) if dealt else dealt for dealt in flows(target).values()} <= {None, ()}
    (replica,) = frame(fold(read(target).samples)).replicas.values()
    assert replica.problems == ("facts.json: missing: the hands of flows are unknown",)


def test_a_flow_whose_hand_was_not_kept_has_none(shared: tuple[Path, Mapped], tmp_path: Path) -> None:
    target = tmp_path / "less"
    target.mkdir()
    for file in shared[0].iterdir():
        (target / file.name).write_bytes(file.read_bytes())
    facts = json.loads((target / "facts.json").read_bytes())
    lost = facts["hands"].pop(0)
    (target / "facts.json").write_text(json.dumps(facts))

    whole, less = flows(shared[0]), flows(target)

    key = lost["flow_schema"], lost["distinguisher"]
    assert whole[key] == lost["hand"]
    assert less[key] is None
    assert {flow: dealt for flow, dealt in less.items() if flow != key} == {
        flow: dealt for flow, dealt in whole.items() if flow != key
    }


@pytest.mark.parametrize(("kept", "told"), [(True, "kept at redaction: it joins"), (False, "names are pseudonyms")])
def test_the_page_of_a_request_says_that_its_hand_was_kept_or_not(
    kept: bool, told: str, shared: tuple[Path, Mapped]
) -> None:
    said = [one for one in read(shared[0]).samples if kept or one.endpoint is not Endpoint.FACTS]
    facts = Sample(said[0].replica, Endpoint.FACTS, error="missing")
    moment = Moment(frame(fold(said if kept else [facts, *said])), 1, "shared", 0.0)
    row = seen(moment, view=View.REQUESTS).rows[0]

    found = page(moment, Look(view=View.REQUESTS), row.key)

    assert found is not None
    (hand_line,) = [text for section in found.sections for name, text in section.entries if name == "hand"]
    assert told in hand_line


def test_classify_deals_no_hand_from_pseudonyms(tmp_path: Path) -> None:
    target, names = redacted(CASES / "C15", tmp_path)

    plain = json.loads(run("classify", CASES / "C15", "--output", "json"))["requests"]
    told = json.loads(run("classify", target, "--output", "json"))["requests"]

    for one, other in zip(plain, told, strict=True):
        assert told_back(str(other["flow_schema"]), names) == str(one["flow_schema"])
        assert other["hand"] == one["hand"]
        assert other["hash"] is None
    assert "kept at redaction" in run("classify", target)


def test_classify_of_another_user_says_that_its_hand_is_unknown(tmp_path: Path) -> None:
    target, _ = redacted(CASES / "C15", tmp_path)

    text = run("classify", target, "--user", "somebody", "--verb", "list", "--resource", "pods")

    assert "unknown: its names are pseudonyms" in text


def test_a_redacted_bundle_is_not_redacted_again(shared: tuple[Path, Mapped], tmp_path: Path) -> None:
    with pytest.raises(Trouble, match="pseudonyms already"):
        run("collect", shared[0], "--redact", "-o", tmp_path / "again")


@pytest.mark.parametrize("cards", [[1, 1], [8], [-1]])
def test_a_hand_that_cannot_be_one_is_refused(cards: list[int]) -> None:
    body = {"redacted_by": "1", "hands": [{"flow_schema": "a", "distinguisher": "b", "queues": 8, "hand": cards}]}

    with pytest.raises(ParseError, match="is no hand of 8 queues"):
        parse_facts(json.dumps(body).encode())


def test_the_hand_of_a_flow_without_a_distinguisher_is_kept_too(tmp_path: Path) -> None:
    kept = parse_facts(
        json.dumps(
            {
                "redacted_by": "1",
                "hands": [{"flow_schema": "a", "distinguisher": "", "queues": 64, "hand": hand("x", "", 64, 6)}],
            }
        ).encode()
    )

    assert kept.hands["a", "", 64, 6] == hand("x", "", 64, 6)
