"""How many API servers there are, by their leases."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from apftop.derive.frame import frame
from apftop.live import fold
from apftop.parse.leases import parse_leases
from apftop.records.parsed import ParseError
from apftop.records.raw import Endpoint, Sample

NOW = 1_775_988_180.0


def leases(**ages: float | None) -> bytes:
    """A list as the server gives it: seconds since each lease was renewed, by its name with `_` for `-`."""
    items = [
        {
            "metadata": {"name": name.replace("_", "-"), "namespace": "kube-system"},
            "spec": {"holderIdentity": name, "leaseDurationSeconds": 3600}
            | ({} if age is None else {"renewTime": f"{datetime.fromtimestamp(NOW - age, UTC):%FT%T.%f}Z"}),
        }
        for name, age in ages.items()
    ]
    return json.dumps({"kind": "LeaseList", "apiVersion": "coordination.k8s.io/v1", "items": items}).encode()


def asked(body: bytes, replica: str = "kas", *, received: float = NOW, date: float | None = NOW) -> Sample:
    return Sample(replica, Endpoint.LEASES, body, 200, sent=received, received=received, server_date=date)


def alive(*samples: Sample) -> int | None:
    return frame(fold(samples)).servers_alive


def test_servers_are_counted_that_renewed_their_lease_in_the_last_minute() -> None:
    body = leases(apiserver_a=3, apiserver_b=59.5, apiserver_gone=61, apiserver_never=None, kube_scheduler=1)

    assert alive(asked(body)) == 2


def test_leases_of_1_26_have_another_name() -> None:
    assert alive(asked(leases(kube_apiserver_0b4e=3, kube_apiserver_9c1f=4, kube_controller_manager=1))) == 2


def test_the_servers_own_date_counts_and_else_the_time_of_the_answer() -> None:
    body = leases(apiserver_a=3)

    assert alive(asked(body, received=NOW + 3600)) == 1
    assert alive(asked(body, received=NOW + 3600, date=None)) == 0


def test_the_newest_answer_of_any_replica_counts() -> None:
    newer = asked(leases(apiserver_a=3, apiserver_b=3), "b", received=NOW + 1)

    assert alive(asked(leases(apiserver_a=3), "a"), newer) == 2
    assert alive(newer, asked(leases(apiserver_a=3), "a")) == 2


def test_without_leases_the_number_is_unknown_and_nothing_is_amiss() -> None:
    denied = Sample("kas", Endpoint.LEASES, b"forbidden", 403, sent=NOW, received=NOW)
    found = frame(fold([asked(leases(apiserver_a=3)), denied]))

    assert frame(fold([])).servers_alive is None
    assert found.servers_alive is None
    assert (found.replicas["kas"].problems, found.replicas["kas"].failed) == ((), False)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"kind":"Status","message":"no such thing"}', "a JSON Status: no such thing"),
        (b"<html>", "an HTML page"),
        (b"", "an empty body"),
        (b'{"kind":"LeaseList","items":[{"metadata":{"name":"x"},"spec":{"renewTime":"noon"}}]}', "lease x: renewTime"),
    ],
)
def test_what_is_no_list_of_leases_is_named(body: bytes, told: str) -> None:
    with pytest.raises(ParseError, match=told):
        parse_leases(body)

    (problem,) = frame(fold([asked(body)])).replicas["kas"].problems
    assert told in problem
