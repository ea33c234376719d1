"""View 7 and what of the findings is shown elsewhere: marks of levels and replicas, the header, the pages."""

from __future__ import annotations

from dataclasses import replace

from apftop.findings.book import book
from apftop.records.findings import Findings
from apftop.records.moment import Moment
from apftop.sheets.header import header
from apftop.sheets.look import EACH, SUM, Look, Sort, View
from apftop.sheets.page import Page
from apftop.sheets.views import page
from apftop.ui.steps import sorted_by
from tests.sheets.found import FOUND, FULL, MIXED, STORM, with_findings
from tests.sheets.moments import busy, cell, moment_of, no_frame, seen, texts
from tests.ui.moments import a_moment

MOMENT = with_findings(a_moment())


def found(**look: object) -> list[str]:
    return texts(seen(MOMENT, view=View.FINDINGS, **look), "code")


def head(moment: Moment, width: int = 120) -> list[str]:
    return ["".join(one.text for one in line) for line in header(moment, Look(), moment.now, width)]


def opened(moment: Moment = MOMENT, key: tuple[str, str] = FULL.key) -> Page:
    made = page(moment, Look(view=View.FINDINGS), key)
    assert made is not None
    return made


class TestView:
    def test_the_worst_comes_first_and_each_says_what_of_and_for_how_long(self) -> None:
        sheet = seen(MOMENT, view=View.FINDINGS)

        assert texts(sheet, "severity") == ["!! critical", "!  warning", "i  info"]
        assert texts(sheet, "subject") == ["workload-low", "service-accounts", "cluster"]
        assert texts(sheet, "replicas") == ["kas-1, kas-2", "kas-1", ""]
        assert texts(sheet, "since") == ["2m", "2m", "2m"]
        assert cell(sheet, "severity").mark == "bad"

    def test_one_replica_has_its_findings_and_those_of_the_whole(self) -> None:
        assert found(scope="kas-1") == ["level-saturated", "retry-storm", "mixed-versions"]
        assert found(scope="kas-2") == ["level-saturated", "mixed-versions"]
        assert found(scope="kas-3") == ["mixed-versions"]
        assert found(scope=SUM) == found(scope=EACH)

    def test_it_filters_and_sorts_as_other_views_do(self) -> None:
        assert found(filter="severity~critical") == ["level-saturated"]
        assert found(filter="since>1m code=retry-storm") == ["retry-storm"]
        assert found(sorts={View.FINDINGS: Sort("severity", True)})[0] == "mixed-versions"
        assert found(hide_idle=True) == ["level-saturated", "retry-storm"]

    def test_sorted_by_severity_it_begins_with_the_worst(self) -> None:
        sheet = seen(MOMENT, view=View.FINDINGS)
        column = next(one for one in sheet.columns if one.key == "severity")
        look = sorted_by(Look(view=View.FINDINGS), sheet, column)

        assert found(sorts=look.sorts) == ["level-saturated", "retry-storm", "mixed-versions"]

    def test_below_it_stand_the_verdict_and_what_is_at_risk(self) -> None:
        facts = seen(MOMENT, view=View.FINDINGS).facts

        assert facts[0].startswith("verdict: apf: requests wait or are refused")
        assert facts[1] == "at risk: leader election AT RISK, probes unknown, node leases ok"
        assert facts[2].startswith("found: 1 critical, 1 warning, 1 info")

    def test_where_nothing_is_found_it_says_so(self) -> None:
        assert seen(a_moment(), view=View.FINDINGS).empty == "nothing is found"
        nobody = Moment(no_frame(), 1, "prod", 0.0)
        assert seen(nobody, view=View.FINDINGS).empty == "no server has answered yet"

    def test_a_row_leads_to_the_checks_of_its_level(self) -> None:
        rows = seen(MOMENT, view=View.FINDINGS).rows

        assert rows[0].subject == {"level": "workload-low"}
        assert rows[1].subject == {"level": "workload-low", "replica": "kas-1"}
        assert rows[2].subject is None


class TestMarks:
    def test_levels_have_the_sign_of_their_worst_finding(self) -> None:
        sheet = seen(MOMENT)
        signs = {row.key: cell(sheet, "finding", row).text for row in sheet.rows}

        assert signs["workload-low", "kas-1"] == signs["workload-low", "kas-2"] == "!!"
        assert signs["workload-low", "kas-3"] == signs["system", "kas-1"] == ""

    def test_a_sum_has_that_of_any_replica(self) -> None:
        sheet = seen(with_findings(moment_of(*busy("kas-1"), *busy("kas-2")), level_found("load")), scope=SUM)

        assert texts(sheet, "finding") == ["!!"]

    def test_replicas_have_the_sign_of_what_is_found_on_them(self) -> None:
        sheet = seen(MOMENT, view=View.REPLICAS)
        signs = {row.key: cell(sheet, "finding", row) for row in sheet.rows}

        assert signs[("kas-1",)].text == "!!"
        assert signs[("kas-3",)].text == ""
        assert signs[("kas-1",)].mark == "bad"


def level_found(level: str) -> Findings:
    return replace(FOUND, found=(replace(FULL, level=level, replicas=("kas-2",)),))


class TestHeader:
    def test_it_says_the_verdict_and_what_is_worst(self) -> None:
        first, _, third = head(MOMENT)

        assert "verdict apf  saturated: workload-low on kas-1" in first
        assert third == f"!! critical: {FULL.title}  +1 more: 7"

    def test_on_a_narrow_screen_the_finding_is_cut_and_not_the_number_of_others(self) -> None:
        line = head(MOMENT, 60)[2]

        assert len(line) <= 60
        assert line.endswith("…  +1 more: 7")

    def test_what_is_worth_knowing_has_no_line(self) -> None:
        calm = with_findings(a_moment(), replace(FOUND, verdict="quiet", found=(MIXED,)))

        assert len(head(calm)) == 2
        assert "verdict quiet" in head(calm)[0]

    def test_before_there_is_a_verdict_it_says_none(self) -> None:
        assert "verdict" not in "".join(head(a_moment()))


class TestPage:
    def test_it_has_the_evidence_and_the_change_with_its_way_back(self) -> None:
        sections = {one.title: one for one in opened().sections}

        assert next(iter(sections)) == f"critical: {FULL.title}"
        assert [text for _, text in sections["Evidence"].entries] == list(FULL.evidence)
        assert [text for _, text in sections["Advice"].entries] == list(FULL.advice)
        assert FULL.change is not None
        assert sections["Command, which apftop does not run"].lines == (FULL.change.command,)
        assert sections["To roll back, with today's values"].lines == (FULL.change.rollback,)

    def test_it_says_what_it_means_and_what_to_look_at_next(self) -> None:
        told = book()["level-saturated"]
        entries = dict(opened().sections[-1].entries)

        assert entries["What it means"] == told.means
        assert entries["Not if"] == told.not_if
        assert entries[f"Next, step {told.step} of 6"].endswith(told.next)

    def test_one_without_a_change_has_no_command(self) -> None:
        titles = [one.title for one in opened(key=STORM.key).sections]

        assert not [title for title in titles if "ommand" in title or "roll" in title]

    def test_a_command_of_a_hostile_name_does_nothing_to_the_terminal(self) -> None:
        assert FULL.change is not None
        hostile = replace(FULL, change=replace(FULL.change, command="kubectl \x1b[2J\nsecond"))
        sections = {
            one.title: one for one in opened(with_findings(a_moment(), replace(FOUND, found=(hostile,)))).sections
        }

        assert sections["Command, which apftop does not run"].lines == ("kubectl \\x1b[2J", "second")

    def test_what_is_found_no_more_has_no_page(self) -> None:
        assert page(a_moment(), Look(view=View.FINDINGS), FULL.key) is None
