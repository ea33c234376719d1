"""What a report says of findings: as text, as Markdown, as JSON, and by its exit code."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from apftop.cli import cli
from apftop.derive.frame import frame
from apftop.live import fold
from apftop.records.findings import Findings, Severity
from apftop.report.causes import finding_lines, reaches
from apftop.report.document import document, taken_of
from apftop.report.markdown import escaped, markdown
from apftop.report.text import text
from tests.sheets.found import FOUND, FULL, MIXED, STORM
from tests.sheets.moments import busy

CASES = Path(__file__).parent / "cases"
FRAME = frame(fold(busy("kas-1")))


def lines(found: Findings = FOUND) -> list[str]:
    return text(FRAME, "prod", None, None, None, None, found).splitlines()


class TestText:
    def test_the_verdict_comes_first_then_what_is_at_risk_then_findings_then_numbers(self) -> None:
        told = lines()
        places = [
            next(at for at, line in enumerate(told) if line.startswith(start))
            for start in (
                "verdict   apf: ",
                "at risk   leader election AT RISK",
                "critical: ",
                "warning: ",
                "info: ",
                "kas-1",
            )
        ]

        assert places == sorted(places)
        assert told[2:4] == [
            "verdict   apf: requests wait or are refused by API Priority and Fairness",
            "          workload-low refuses 149 requests a second",
        ]

    def test_a_finding_has_its_evidence_its_advice_and_its_change_with_the_way_back(self) -> None:
        assert FULL.change is not None
        told = [line.strip() for line in lines()]

        for wanted in (FULL.change.command, FULL.change.rollback):
            assert wanted in told
        joined = " ".join(told)
        for wanted in (*FULL.evidence, *FULL.advice, "queries/runbooks/findings.md#level-saturated"):
            assert wanted in joined

    def test_a_command_in_a_line_is_not_folded(self) -> None:
        command = "kubectl get pods -n a-namespace --field-selector spec.serviceAccountName=an-account -o wide"
        advice = f"find the pods of system:serviceaccount:a-namespace:an-account: {command}"
        told = lines(replace(FOUND, found=(replace(STORM, advice=(advice,)),)))

        assert command in [line.strip() for line in told]

    def test_alerts_that_hold_are_named_and_those_that_cannot_be_told_are_not(self) -> None:
        told = "\n".join(finding_lines(FOUND))

        assert "  APFRequestsRejected of service-accounts on kas-1 (for 5m)" in told
        assert "APFWideRequestsDominate" not in told
        assert "KubeAPITerminatedRequests of kubernetes-mixin reads 20.0%, and stays silent" in told

    def test_where_nothing_is_found_it_says_so(self) -> None:
        assert "findings  none" in lines(Findings("quiet"))


class TestMarkdown:
    def test_it_has_the_words_of_the_text_and_commands_in_blocks(self) -> None:
        told = markdown(FOUND, "prod", "over 30 s", "numbers\n")
        blocks = re.findall(r"```sh\n(.*?)\n```", told, re.DOTALL)

        assert FULL.change is not None
        assert blocks == [FULL.change.command, FULL.change.rollback]
        assert told.startswith("# apftop: apf: ")
        assert "## Critical: workload-low on kas-1" in told
        assert "\n- kas-1: 39 of 39 seats, 300 wait" in told
        assert told.endswith("```text\nnumbers\n```\n")

    def test_foreign_text_is_shown_and_not_acted_on(self) -> None:
        assert escaped("<img src=x> [a](b) `c` *d* #e") == r"\<img src=x\> \[a\](b) \`c\` \*d\* \#e"
        assert escaped("     no code") == "no code"
        assert escaped("- no list") == r"\- no list"
        assert escaped("1. no list") == r"1\. no list"
        assert escaped("127.0.0.1:6443 -1") == "127.0.0.1:6443 -1"

    def test_a_command_in_a_line_is_code(self) -> None:
        advice = (
            "who_sends: kubectl get --raw '/debug/a_b?c=1'",
            "odd `name`: kubectl get pods -n 'a`b``'",
            "kubectl *",
        )
        told = markdown(replace(FOUND, found=(replace(STORM, advice=advice),)), "prod", "over 30 s", "").splitlines()

        assert r"- who\_sends: `kubectl get --raw '/debug/a_b?c=1'`" in told
        assert r"- odd \`name\`: ``` kubectl get pods -n 'a`b``' ```" in told
        assert r"- kubectl \*" in told

    def test_a_block_cannot_be_left_by_what_is_in_it(self) -> None:
        told = markdown(FOUND, "prod", "over 30 s", "```\nout\n")

        assert told.endswith("````text\n```\nout\n````\n")


class TestJson:
    def test_it_follows_the_schema(self) -> None:
        made = document(FRAME, "prod", taken_of(None, None, None), found=FOUND)
        schema = json.loads(files("apftop.report").joinpath("schema.json").read_text())

        jsonschema.Draft202012Validator(schema).validate(json.loads(json.dumps(made, allow_nan=False)))
        first = made["findings"][0]
        assert first["runbook"] == "queries/runbooks/findings.md#level-saturated"
        assert first["facts"] == {
            "waiting": {"kas-1": 300, "kas-2": 12},
            "share": 0.5,
            "odd": None,
            "users": ["a", None],
        }
        assert first["change"]["rollback"] == FULL.change.rollback if FULL.change else False
        assert made["replicas"]["kas-1"]["verdict"] == "apf"
        assert made["compare"] == {"mixin": {"ratio": 0.2, "fires": False}}
        assert [one["condition"] for one in made["alerts"]] == [True, None]

    def test_without_findings_the_verdict_is_unknown(self) -> None:
        made = document(FRAME, "prod", taken_of(None, None, None))

        assert (made["verdict"], made["findings"], made["compare"]["mixin"]) == ("unknown", [], None)


class TestFailOn:
    @pytest.mark.parametrize(
        ("severity", "found", "fails"),
        [
            ("info", (MIXED,), True),
            ("warning", (MIXED,), False),
            ("warning", (STORM, MIXED), True),
            ("critical", (STORM, MIXED), False),
            ("critical", (FULL,), True),
            ("info", (), False),
        ],
    )
    def test_what_is_as_bad_or_worse_counts(self, severity: Severity, found: tuple[object, ...], fails: bool) -> None:
        assert reaches(replace(FOUND, found=found), severity) is fails  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("case", "options", "code"),
        [
            ("C03", ["--fail-on", "warning"], 1),
            ("C03", [], 0),
            ("C01", ["--fail-on", "critical"], 0),
            ("C33", ["--fail-on", "info"], 3),
        ],
    )
    def test_the_exit_code_says_so_unless_something_is_unread(self, case: str, options: list[str], code: int) -> None:
        result = CliRunner().invoke(cli, ["report", str(CASES / case), *options], standalone_mode=False)

        assert result.exception is None
        assert result.return_value == code
