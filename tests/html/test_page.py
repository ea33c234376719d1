"""The page of one look: the words of the text report, nothing loaded, and names that are only ever text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from apftop.cli import cli
from apftop.present import plain
from apftop.records.frame import Frame
from apftop.records.logs import Caller, ClientLog, Logs
from apftop.report.causes import finding_lines
from apftop.report.html import page, page_of
from apftop.report.look import Look
from apftop.report.text import server_text
from tests.html.dom import elements, loads_nothing
from tests.sheets.found import FOUND, FULL, STORM
from tests.sheets.moments import case

CASES = Path(__file__).parent.parent / "cases"
SOME = ("C01", "C03", "C13", "C15", "C33")
OPTIONS = {
    "at": None,
    "between": None,
    "interval": 5.0,
    "request_timeout": None,
    "client_logs": (),
    "audit_logs": (),
}
HOSTILE = (
    "</title><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)" x=\'',
    "' style='background:url(https://evil.example/)",
    "]]><!-- --><svg/onload=alert(1)>",
    "&lt;b&gt;&#x3c;script&#x3e;",
    "a\u202egnp.exe\u2066\u200b\x00\x1b[31m\r\n\t\x85\u2028",
    "javascript:alert(1)//" + "x" * 10_000,
    "\ud800\ufffe",
)


@cache
def page_of_case(name: str) -> str:
    return page_of(CASES / name, OPTIONS)


def look_at(frame: Frame, **changes: object) -> Look:
    look = Look(frame, {}, FOUND, "prod", frame.t0, frame.t1, 30.0, (), ())
    return replace(look, **changes)  # type: ignore[arg-type]


def spaceless(text: str) -> str:
    return re.sub(r"\s+", "", text)


def said_in(made: str) -> str:
    return spaceless(next(one.said for one in elements(made) if one.tag == "body"))


def cells_of(text: str) -> Iterable[str]:
    return (cell for line in text.splitlines() for cell in re.split(r"\s{2,}", line.strip(" !")) if cell)


@pytest.mark.parametrize("name", SOME)
def test_a_page_is_well_formed_and_loads_nothing(name: str) -> None:
    loads_nothing(page_of_case(name))


@pytest.mark.parametrize("name", SOME)
def test_a_page_says_all_that_the_text_report_says_in_its_words(name: str) -> None:
    result = CliRunner().invoke(cli, ["report", str(CASES / name)])
    said = said_in(page_of_case(name))
    # The text folds lines, and has the ten heaviest flows in sentences of their own.
    numbers = result.stdout.partition("heaviest flows")[0]
    labels = {"verdict", "at risk", "findings", "more", *("evidence", "advice", "change")}

    for cell in cells_of(numbers.split("\n", 1)[1]):
        words = [word for word in re.split(r"\s", cell.removesuffix(":")) if word.lower() not in labels]
        for word in words:
            assert word.strip("[]:").lower() in said.lower(), cell


def test_findings_have_the_lines_of_the_text_report_whole() -> None:
    said = said_in(page(look_at(case("C03").frame)))

    for finding in FOUND.found:
        for line in (finding.title, finding.code, *finding.evidence, *finding.advice):
            assert spaceless(line) in said
    for line in list(finding_lines(FOUND))[-2:]:
        assert spaceless(line) in said


def test_commands_are_blocks_to_be_copied_as_they_are() -> None:
    blocks = [one.said for one in elements(page(look_at(case("C03").frame))) if one.tag == "pre"]

    assert FULL.change is not None
    assert blocks == [FULL.change.command, FULL.change.rollback]


def test_the_cells_of_levels_are_those_of_the_text_report() -> None:
    frame = case("C03").frame
    said = said_in(page(look_at(frame)))
    rows = [line for line in server_text(frame, {}).splitlines() if line.startswith("  workload-low ")]

    assert rows and all(spaceless(row) in said for row in rows)


def test_what_is_denied_is_named_with_what_grants_it() -> None:
    assert spaceless(
        'grant with a ClusterRole rule nonResourceURLs: ["/debug/api_priority_and_fairness/*"]'
    ) in said_in(page_of_case("C33"))


def test_tables_are_told_by_captions_and_headings() -> None:
    found = elements(page_of_case("C03"))

    tables = sum(one.tag == "table" for one in found)
    assert tables >= 6
    assert sum(one.tag == "caption" and bool(one.said) for one in found) == tables
    assert sum(one.tag == "div" and one.attributes.get("class") == "box" for one in found) == tables


def test_more_requests_than_fit_are_counted() -> None:
    frame = case("C03").frame
    (server,) = frame.replicas.values()
    assert server.requests is not None
    many = replace(server, requests=(server.requests * 3)[:500])
    said = said_in(page(look_at(replace(frame, replicas={many.name: many}))))

    assert spaceless("300 more of 500 rows are left out.") in said


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_name_is_text_wherever_it_comes_from(name: str) -> None:
    frame = case("C03").frame
    (server,) = frame.replicas.values()
    level = replace(server.levels["workload-low"], name=name)
    schema = replace(server.schemas["service-accounts"], name=name, level=name)
    assert server.requests is not None
    request = replace(
        server.requests[0], level=name, schema=name, user=name, distinguisher=name, verb=name, resource=name
    )
    flow = replace(server.flows[0], schema=name, flow=name, level=name, by_kind={name: 1}, collides_with=(name,))
    odd = replace(
        server,
        name=name,
        version=name,
        levels={name: level},
        schemas={name: schema},
        flows=(flow,),
        requests=(request,),
        problems=(name,),
        unknown_families=(name,),
    )
    finding = replace(
        STORM, subject=name, level=name, schema=name, replicas=(name,), title=plain(name), evidence=(plain(name),)
    )
    logs = Logs(ClientLog(1, 1.0, 1.0, {name: 1}), (Caller(name, name, name, name, name, 1, kinds={name: 1}),), 1, 1.0)
    look = look_at(
        replace(frame, replicas={name: odd}),
        found=replace(FOUND, found=(finding,), why=(plain(name),), replicas={name: "apf"}),
        source=name,
        problems=(name,),
        notes=(name,),
        logs=logs,
    )
    made = page(look)

    loads_nothing(made)
    assert len(made) < 250_000
    made.encode()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", made)
    # What it is written with comes from names alone in text.
    same = page(replace(look, source="prod"))
    assert {one.tag for one in elements(made)} == {one.tag for one in elements(same)}
    assert plain(name)[:30] in next(one.said for one in elements(made) if one.tag == "body")


def test_a_page_is_one_look() -> None:
    result = CliRunner().invoke(cli, ["report", "-o", "html", "-n", "2", "--server", "https://127.0.0.1:1"])

    assert result.exit_code == 2
    assert "-o html is one page" in result.output


def test_the_command_writes_the_page_and_its_exit_code_is_that_of_the_report() -> None:
    result = CliRunner().invoke(
        cli, ["report", str(CASES / "C03"), "-o", "html", "--fail-on", "warning"], standalone_mode=False
    )

    assert result.return_value == 1
    assert result.stdout == page_of_case("C03")
