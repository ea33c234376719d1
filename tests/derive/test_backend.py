"""What lay behind the queues over a window: rises, means, and nothing where two answers may not be compared."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from apftop.derive.frame import frame
from apftop.live import fold
from apftop.records.backend import Backend, Callback, Timed
from apftop.records.raw import PROCESS_START, Endpoint, Sample
from tests.derive.behind import WEBHOOK, answer, etcd, requests, spent, terminated
from tests.derive.build import a_sample, dispatched, exposition
from tests.parse.test_callbacks import FOUND, config, webhook


def asked(t: float, *lines: str | list[str], start: float | None = 1000.0) -> Sample:
    """An answer of the backend's own lane."""
    return a_sample(answer(*lines, start=start), t, Endpoint.BACKEND)


def scraped(t: float, *lines: str | list[str], rate: float = 10.0) -> Sample:
    """Metrics of one look, which hold all families."""
    return a_sample(exposition(dispatched(rate * t)) + answer(*lines, start=None), t)


def backend(*samples: Sample) -> Backend | None:
    return frame(fold(samples)).replicas["kas"].backend


def test_counts_rise_over_the_window_of_the_lane() -> None:
    found = backend(
        asked(100.0, requests(1000), requests(5, 429, "POST", below="eviction"), terminated(1)),
        asked(160.0, requests(1600), requests(11, 429, "POST", below="eviction"), requests(3, 403), terminated(4)),
    )

    assert found is not None
    assert (found.window.seconds, found.window.clock, found.window.t1) == (60.0, "stamps", 160.0)
    assert found.requests == {200: 600, 429: 6, 403: 3}
    assert found.terminations == {429: 3}
    assert found.too_many == {"create pods/eviction": 6}
    assert found.forbidden == {"get pods": 3}


def test_a_mean_is_that_of_the_window_and_the_usual_one_that_of_the_life_before() -> None:
    found = backend(
        asked(0.0, etcd({"get": (1000, 500.0), "list": (4, 1.0)})),
        asked(60.0, etcd({"get": (1100, 700.0), "list": (4, 1.0), "update": (4, 2.0)})),
    )

    assert found is not None
    assert found.etcd == {
        "get": Timed(100, 2.0, 0.5),
        "list": Timed(0, None, 0.25),
        "update": Timed(4, 0.5, None),
    }


def test_one_look_takes_all_out_of_the_same_metrics() -> None:
    found = backend(
        scraped(100.0, requests(10), spent(WEBHOOK, 1, 1.0, name="a")),
        scraped(130.0, requests(40), spent(WEBHOOK, 4, 10.0, name="a")),
    )

    assert found is not None
    assert found.window.seconds == 30.0
    assert found.requests == {200: 30}
    assert found.webhooks == {"a": Timed(3, 3.0, 1.0)}


def test_metrics_of_apf_alone_tell_nothing_of_the_backend_and_lack_nothing() -> None:
    replica = frame(fold([scraped(100.0), scraped(130.0)])).replicas["kas"]

    assert replica.backend is None
    assert replica.window is not None
    assert replica.problems == ()


def test_one_answer_is_no_window() -> None:
    assert backend(asked(0.0, requests(1))) is None
    assert backend(scraped(0.0, requests(1)), scraped(30.0)) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (requests(10), requests(9)),
        (requests(10), requests(10, 500)),
        (etcd({"get": (10, 1.0)}), etcd({"get": (9, 2.0)})),
        (etcd({"get": (10, 1.0)}), etcd({"get": (11, 0.5)})),
        (etcd({"get": (10, 1.0)}), etcd({"list": (11, 1.5)})),
        (terminated(3), terminated(1)),
    ],
)
def test_a_counter_that_fell_leaves_no_window(before: str | list[str], after: str | list[str]) -> None:
    assert backend(asked(0.0, before), asked(60.0, after)) is None


def test_a_restart_leaves_no_window_though_all_has_grown_again() -> None:
    assert backend(asked(0.0, requests(1)), asked(60.0, requests(100), start=1050.0)) is None
    # Without the family in it, the header tells.
    first, last = asked(0.0, requests(1), start=None), asked(60.0, requests(100), start=None)
    restarted = [replace(one, headers=((PROCESS_START, at),)) for one, at in ((first, "5"), (last, "50"))]
    assert backend(*restarted) is None
    assert backend(first, last) is not None


def test_another_certificate_leaves_no_window() -> None:
    first, last = asked(0.0, requests(1)), asked(60.0, requests(100))

    assert backend(replace(first, peer="aa"), replace(last, peer="bb")) is None


def test_a_reset_of_the_metrics_leaves_no_window_of_one_look() -> None:
    assert backend(scraped(100.0, requests(1)), scraped(130.0, requests(9), rate=1.0)) is None


def test_answers_out_of_order_are_left_out() -> None:
    found = backend(asked(0.0, requests(1)), asked(60.0, requests(5)), asked(30.0, requests(9)))

    assert found is not None
    assert found.requests == {200: 4}


def test_what_was_refused_or_failed_is_told_no_more_as_of_now() -> None:
    pair = asked(0.0, requests(1)), asked(60.0, requests(5))
    failed = Sample("kas", Endpoint.BACKEND, error="no answer", sent=120.0, received=121.0)

    assert backend(*pair, failed) is None


def test_what_is_much_older_than_the_metrics_is_told_no_more() -> None:
    pair = asked(0.0, requests(1)), asked(60.0, requests(5))

    assert backend(*pair, scraped(900.0)) is not None
    assert backend(*pair, scraped(1000.0)) is None


def test_families_that_are_not_exposed_are_empty() -> None:
    found = backend(asked(0.0, requests(1)), asked(60.0, requests(5)))

    assert found is not None
    assert (found.etcd, found.webhooks, found.admission) == ({}, {}, {})


def test_federated_metrics_tell_of_each_server() -> None:
    def both(t: float, count: int) -> Sample:
        lines = [
            line.replace("{", f'{{instance="{name}",', 1)
            for name in ("a", "b")
            for line in (f"apiserver_flowcontrol_{dispatched(t)}", requests(count * (2 if name == "b" else 1)))
        ]
        return a_sample(("\n".join(lines) + "\n").encode(), t, replica="server")

    found = frame(fold([both(10.0, 10), both(40.0, 40)])).replicas

    assert {name: one.backend and one.backend.requests for name, one in found.items()} == {
        "a": {200: 30},
        "b": {200: 60},
    }


class TestCallbacks:
    def of(self, *samples: Sample) -> tuple[Callback, ...] | None:
        return frame(fold(samples)).callbacks

    def told(self, endpoint: Endpoint, body: bytes, replica: str = "kas", t: float = 0.0) -> Sample:
        return a_sample(body, t, endpoint, replica)

    def listed(self, *items: object, kind: str = "List", version: str = "v1") -> bytes:
        return json.dumps({"kind": kind, "apiVersion": version, "items": items}).encode()

    def test_nobody_told_is_unknown_and_an_empty_list_is_none(self) -> None:
        assert self.of(scraped(0.0)) is None
        assert self.of(self.told(Endpoint.MUTATING, self.listed())) == ()

    def test_all_kinds_of_whichever_server_told_are_together_and_each_is_there_once(self) -> None:
        mine = self.listed(config(webhook()))
        other = self.listed(config(webhook(), kind="MutatingWebhookConfiguration"))

        found = self.of(
            self.told(Endpoint.VALIDATING, mine, "a"),
            self.told(Endpoint.MUTATING, other, "b"),
            self.told(Endpoint.WEBHOOKS, mine, "b"),
        )

        assert found is not None
        assert [one.kind for one in found].count("validating") == 1
        assert {one.kind for one in found} == {"validating", "mutating"}

    def test_the_newest_list_of_a_kind_counts(self) -> None:
        old = self.told(Endpoint.VALIDATING, self.listed(config(webhook())), "a", 10.0)

        assert self.of(old, self.told(Endpoint.VALIDATING, self.listed(), "b", 20.0)) == ()
        assert self.of(old, self.told(Endpoint.VALIDATING, self.listed(), "b", 5.0)) == (FOUND,)

    def test_denied_is_no_fault_and_is_told_among_the_endpoints(self) -> None:
        denied = Sample("kas", Endpoint.APISERVICES, b"no", 403, sent=0.0, received=0.0)
        replica = frame(fold([scraped(0.0), denied])).replicas["kas"]

        assert (replica.callbacks, replica.failed, replica.problems) == (403, False, ())
        assert frame(fold([scraped(0.0)])).replicas["kas"].callbacks is None

    def test_what_was_told_before_a_refusal_is_kept(self) -> None:
        told = self.told(Endpoint.VALIDATING, self.listed(config(webhook())))
        denied = Sample("kas", Endpoint.VALIDATING, b"no", 403, sent=60.0, received=60.0)

        assert self.of(told, denied) == (FOUND,)

    def test_what_is_broken_is_a_problem(self) -> None:
        broken = self.told(Endpoint.VALIDATING, self.listed(config(webhook(timeoutSeconds=99), webhook())))
        seen = frame(fold([scraped(0.0), broken]))

        assert seen.callbacks == (FOUND,)
        assert any("timeoutSeconds is 99" in problem for problem in seen.replicas["kas"].problems)

    def test_a_file_that_cannot_be_read_is_a_fault(self) -> None:
        bad = Sample("kas", Endpoint.WEBHOOKS, b"<html>", origin="webhooks.yaml")
        replica = frame(fold([scraped(0.0), bad])).replicas["kas"]

        assert replica.failed
        assert any(problem.startswith("webhooks.yaml: ") for problem in replica.problems)
