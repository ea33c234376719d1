"""The pages of a check and of a request: what they say, and why something on them is not known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apftop.check.lawbook import lawbook
from apftop.records.checks import LevelChecks, ReplicaChecks, Span, Start
from apftop.records.frame import Request
from apftop.records.moment import Moment
from apftop.sheets.look import Look, View
from apftop.sheets.page import Page
from apftop.sheets.views import page
from tests.sheets.checked import ARRIVALS, BAND, CLOCK, HAND, ORDER, WAITED, key_of, with_checks
from tests.sheets.moments import a_request, busy, case, moment_of, replicas, seen, with_replicas, with_requests
from tests.sheets.test_plain import HOSTILE

NOW = BAND.at + 4


def opened(moment: Moment, view: View, at: int = 0) -> Page:
    """The page of a row."""
    found = page(moment, Look(view=view), seen(moment, view=view).rows[at].key)
    assert found is not None
    return found


def entries(found: Page) -> dict[str, str]:
    return {name: text for section in found.sections for name, text in section.entries if name}


def of_check(moment: Moment, at: int = 0) -> dict[str, str]:
    return entries(opened(replace(moment, now=NOW), View.CHECKS, at))


def of_request(request: Request, **changes: object) -> dict[str, str]:
    """The page of a request that is alone on a server."""
    moment = with_requests(moment_of(*busy()), [request])
    kas = replace(replicas(moment)["kas"], **changes)  # type: ignore[arg-type]
    return entries(opened(with_replicas(moment, [kas]), View.REQUESTS))


@pytest.mark.parametrize("view", [view for view in View if view not in (View.CHECKS, View.REQUESTS)])
def test_other_views_have_no_pages(view: View) -> None:
    assert page(moment_of(*busy()), Look(view=view), ("load", "kas")) is None


class TestCheck:
    def test_both_sides_stand_with_their_unit_and_the_law_in_words(self) -> None:
        found = of_check(with_checks(moment_of(*busy()), {"load": LevelChecks((ARRIVALS,))}))

        assert [found[key] for key in ("verdict", "observed", "expected", "tolerance", "over")] == [
            *("ok", "5170 requests", "5168 requests", "103.4 requests", "10.2s, end to end")
        ]
        law = lawbook()["arrivals"]
        assert [found[key] for key in ("the law", "numbers from", "may differ by", "off usually means")] == [
            *(law.says, law.source, law.tolerance, law.off)
        ]

    def test_one_that_is_off_has_its_reason_and_one_that_is_unknown_what_is_missing(self) -> None:
        moment = with_checks(moment_of(*busy()), {"load": LevelChecks((HAND, ORDER))})

        assert of_check(moment)["reason"].startswith("the hand is not the one")
        assert of_check(moment)["about"] == "flow bob"
        assert of_check(moment, 1)["missing"] == "no dump of requests next to the metrics"
        assert of_check(moment, 1)["observed"] == "-"

    def test_it_names_the_level_and_the_server(self) -> None:
        moment = with_checks(moment_of(*busy()), {"load": LevelChecks((ARRIVALS,))}, CLOCK)

        titles = [opened(moment, View.CHECKS, at).sections[0].title for at in (0, 1)]

        assert titles[0].endswith(": server kas")
        assert titles[1] == f"{lawbook()['arrivals'].title}: level load on kas"

    def test_the_waits_of_the_level_are_told_at_length(self) -> None:
        found = of_check(with_checks(moment_of(*busy()), {"load": WAITED}))

        assert found["by the model"].startswith(
            "94-480ms, median 210ms, and with its allowance 80-553ms; observed 236ms"
        )
        assert (
            "64 runs over each of 3 intervals of this load on these seats, 10.2s up to 4s ago" in found["by the model"]
        )
        assert found["flow bob"] == "schema service-accounts: 7 waiting, for 200ms"
        assert found["followed"].endswith("27 are gone: served or not")

    def test_a_level_that_is_not_simulated_says_why(self) -> None:
        found = of_check(with_checks(moment_of(*busy()), {"load": LevelChecks((ARRIVALS,))}))

        assert found["by the model"].startswith("- not simulated")
        assert found["mean wait"].startswith("- ")

    def test_one_that_is_not_made_any_more_has_no_page(self) -> None:
        moment = with_checks(moment_of(*busy()), {"load": WAITED})
        key = seen(moment, view=View.CHECKS).rows[0].key

        assert page(replace(moment, checks={"kas": ReplicaChecks()}), Look(view=View.CHECKS), key) is None


class TestRequest:
    def test_one_that_waits_says_where_and_what_it_takes_and_whom_it_meets(self) -> None:
        found = entries(opened(case("C03"), View.REQUESTS))

        keys = ("state", "level", "schema", "queue", "initial seats", "age at the dump", "of this flow", "hand")
        assert [found[key] for key in keys] == [
            *("waits", "workload-low", "service-accounts", "18, place 0: so many of this queue start before it"),
            *("1, as the server estimates", "860ms", "300 waiting, 36 executing"),
            "18, 39, 44, 20, 120, 125: it joins the one of these queues with the least work",
        ]
        assert found["wait limit"].startswith("15s, assumed from ")
        assert found["arrived"] == "2026-04-12T10:03:29.140Z, by the server's clock"

    def test_one_that_executes_has_its_exact_wait_and_has_started(self) -> None:
        found = of_request(a_request(executing=True, index=-1, wait_s=0.25, executing_s=1.5, final_seats=2))

        assert [found[key] for key in ("state", "waited", "executes for", "start", "final seats", "queue")] == [
            *("executes", "250ms, exactly", "1.5s", "it has started", "2, held for 0s after it has ended"),
            "2; it has left it",
        ]

    def test_its_start_is_told_with_the_number_of_runs_and_what_they_assume(self) -> None:
        request = a_request()
        start = {key_of(request): Start(Span(0.2, 0.5, 1.3), 10.0, 64)}
        moment = with_requests(moment_of(*busy()), [request])

        found = entries(opened(with_checks(moment, {"load": replace(WAITED, starts=start)}), View.REQUESTS))

        assert (
            found["start"] == "0.2-1.3s after the dump that the runs began with, in nine of ten of them; median 500ms"
        )
        assert found["runs"] == "64 runs of the model, each 10s long"
        assert "the current limit stays" in found["assumes"]

    def test_one_that_starts_in_few_runs_has_a_bound(self) -> None:
        request = a_request()
        moment = with_requests(moment_of(*busy()), [request])
        start = {key_of(request): Start(None, 15.0, 64)}

        found = entries(opened(with_checks(moment, {"load": replace(WAITED, starts=start)}), View.REQUESTS))

        assert found["start"] == "not within 15s of the dump that the runs began with, in most of them"

    def test_what_is_not_known_of_it_is_said_with_its_reason(self) -> None:
        bare = a_request(user=None, verb=None, path=None, resource=None, age_s=None)

        found = of_request(bare, flows=())

        assert found["path"] == "- this dump has no details of requests"
        assert found["age at the dump"].startswith("- the server's clock at the dump is not known")
        assert found["hand"] == "- its flow is not in the dump"
        assert found["start"].startswith("- the level was not simulated")

    def test_one_of_apftop_itself_is_not_predicted(self) -> None:
        found = of_request(a_request(own=True))

        assert found["state"] == "waits; it is a question of apftop itself"
        assert (found["start"], found["hand"]) == (
            "- apftop's own requests are not followed",
            "- flows are shown without apftop's own requests",
        )

    def test_one_that_came_after_the_runs_began_says_so(self) -> None:
        moment = with_requests(moment_of(*busy()), [a_request()])
        starts = {key_of(a_request(user="alice")): Start(None, 15.0, 64)}

        found = entries(opened(with_checks(moment, {"load": replace(WAITED, starts=starts)}), View.REQUESTS))

        assert found["start"] == "- it was not in the dump that the last runs began with"

    def test_it_is_found_again_when_it_has_moved_and_not_when_it_is_gone(self) -> None:
        moment, look = moment_of(*busy()), Look(view=View.REQUESTS)
        before = with_requests(moment, [a_request(index=3)])
        key = seen(before, view=View.REQUESTS).rows[0].key
        runs = with_requests(moment, [a_request(executing=True, index=-1, wait_s=2.0, executing_s=0.1)])

        later = page(runs, look, key)

        assert later is not None
        assert entries(later)["state"] == "executes"
        assert page(with_requests(moment, []), look, key) is None


@pytest.mark.parametrize("name", HOSTILE)
def test_foreign_text_on_a_page_does_not_act_on_the_terminal(name: str) -> None:
    request = a_request(level=name, schema=name, distinguisher=name, user=name, path=name, verb=name, resource=name)
    flow = replace(WAITED.flows[0], flow=name, schema=name)
    check = replace(HAND, about=name, reason=name, unit=name)
    moment = with_requests(moment_of(*busy()), [request])
    moment = with_checks(moment, {name: LevelChecks((check,), flows=(flow,))})

    for view in (View.CHECKS, View.REQUESTS):
        found = opened(moment, view)
        told = [text for section in found.sections for text in (section.title, *sum(section.entries, ()))]
        assert all(text.isprintable() for text in told)
