"""What could not be read of a server, in words."""

from __future__ import annotations

from apftop.derive.access import access_problems
from apftop.records.raw import Endpoint
from apftop.records.state import Outcome

REFUSED_1, REFUSED_2 = "connection refused: kas-1:6443", "connection refused: kas-2:6443"


def test_servers_that_fail_alike_say_the_same_whatever_was_asked_first() -> None:
    asked = (Endpoint.METRICS, Endpoint.SCHEMAS, Endpoint.LEVELS)

    (one,) = access_problems({endpoint: Outcome(401) for endpoint in asked})
    (other,) = access_problems({endpoint: Outcome(401) for endpoint in reversed(asked)})

    assert one == other
    assert one.startswith("401 on the dumps and /metrics and the APF objects")


def test_why_another_server_did_not_give_the_objects_is_not_why_this_one_is_silent() -> None:
    objects = {Endpoint.SCHEMAS: Outcome(None, REFUSED_1), Endpoint.CONFIGS: Outcome(None, REFUSED_1)}

    assert access_problems({**objects, Endpoint.METRICS: Outcome(None, REFUSED_2)}) == [REFUSED_2]
    assert access_problems({**objects, Endpoint.METRICS: Outcome(None, REFUSED_1)}) == [REFUSED_1]
    assert access_problems({**objects, Endpoint.METRICS: Outcome(200)}) == [REFUSED_1]
