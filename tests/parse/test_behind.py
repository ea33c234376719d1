"""What lies behind the queues, summed up over labels that nobody reads, in the words of every release."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from apftop.parse.behind import behind, kind_of, without_behind
from apftop.parse.body import TEXT, BodyPicker, picker_of_all, picker_of_apf, picker_of_behind
from apftop.parse.metrics import parse_metrics
from apftop.parse.vocabulary import asked_at_once, asked_names, behind_names
from apftop.records.parsed import Behind, Spent
from tests.derive.behind import ETCD, PLUGIN, WEBHOOK, answer, etcd, requests, spent, terminated
from tests.derive.build import dispatched, exposition


def read(*lines: str | list[str]) -> Behind:
    return behind(parse_metrics(answer(*lines), TEXT))


def test_requests_are_counted_by_code_over_all_other_labels() -> None:
    found = read(requests(7), requests(5, verb="LIST"), requests(3, 201, "POST"), terminated(2), terminated(1, 504))

    assert found.requests == {200: 12, 201: 3}
    assert found.terminations == {429: 2, 504: 1}
    assert found.started == 1000.0


def test_refusals_are_told_by_verb_and_resource_as_dumps_say_it() -> None:
    found = read(
        requests(4, 429, "POST", below="eviction"),
        requests(2, 429, "GET", "", "/livez"),
        requests(6, 403, "DELETECOLLECTION"),
        requests(1, 403, "APPLY"),
        requests(9),
    )

    assert found.too_many == {"create pods/eviction": 4, "get /livez": 2}
    assert found.forbidden == {"deletecollection pods": 6, "patch pods": 1}


def test_what_has_neither_resource_nor_path_is_its_verb() -> None:
    assert kind_of({"verb": "PUT"}) == "update"


@pytest.mark.parametrize("label", ["type", "resource"])
def test_storage_is_told_by_operation_whatever_the_release_calls_its_objects(label: str) -> None:
    pods, leases = etcd({"get": (10, 0.5), "list": (1, 2.0)}, label), etcd({"get": (30, 0.25)}, label, "leases")

    found = read(pods, leases).etcd

    assert found["get"] == Spent(40, 0.75)
    assert found["list"] == Spent(1, 2.0)


def test_webhooks_and_plugins_are_told_by_name() -> None:
    found = read(
        spent(WEBHOOK, 2, 9.0, name="check.kyverno.svc", operation="CREATE", rejected="false", type="validating"),
        spent(WEBHOOK, 1, 10.0, name="check.kyverno.svc", operation="UPDATE", rejected="true", type="validating"),
        spent(PLUGIN, 5, 0.05, name="ResourceQuota", operation="CREATE", rejected="false", type="validate"),
    )

    assert found.webhooks == {"check.kyverno.svc": Spent(3, 19.0)}
    assert found.admission == {"ResourceQuota": Spent(5, 0.05)}


def test_what_is_no_number_or_no_code_is_left_out() -> None:
    found = read(requests(float("nan")), requests(-1), requests(3).replace('code="200"', 'code="?"'), requests(2, 404))

    assert found.requests == {404: 2}


def test_a_torn_series_is_named_here_and_does_not_strike_the_metrics_of_apf() -> None:
    body = exposition(dispatched(1)) + requests(1).encode() + b"\n" + requests(2).encode() + b"\n"

    metrics, found = without_behind(parse_metrics(body, TEXT))

    assert metrics.problems == ()
    assert found is not None
    assert "apiserver_request_total" in found.problems[0]
    assert list(metrics.families) == [
        "kubernetes_build_info",
        "process_start_time_seconds",
        "apiserver_flowcontrol_dispatched_requests_total",
    ]


def test_metrics_without_these_families_are_as_they_were() -> None:
    metrics = parse_metrics(exposition(dispatched(1)), TEXT)

    assert without_behind(metrics) == (metrics, None)


def test_each_lane_picks_its_own_families_and_one_look_all() -> None:
    lines = [requests(1).encode(), *(line.encode() for line in spent(ETCD, 1, 1.0, operation="get"))]
    body = exposition(dispatched(1)) + b"\n".join(lines) + b"\n"

    def picked(make: Callable[[str, str], BodyPicker]) -> set[str]:
        picker = make(TEXT, "")
        picker.feed(body)
        return set(parse_metrics(picker.finish(), TEXT).families)

    apf, behind_it, everything = (picked(make) for make in (picker_of_apf, picker_of_behind, picker_of_all))
    assert {"apiserver_request_total", ETCD, "process_start_time_seconds"} == behind_it
    assert apf & behind_it == {"process_start_time_seconds"}
    assert everything == apf | behind_it


def test_one_look_asks_for_each_family_once() -> None:
    names = asked_at_once()

    assert len(names) == len(set(names))
    assert set(names) == {*asked_names(), *behind_names()}
