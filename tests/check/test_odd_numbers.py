"""Metrics with numbers that no server means: checks are unknown or off by them, and none fails."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from apftop.check.checks import checked
from apftop.records.raw import Endpoint
from tests.check.recorded import tracks
from tests.recording import SHIPPED, Scrape, recordings

RECORDING = next(one for one in recordings(SHIPPED) if one.level == "load")
SCRAPES = tuple(one for one in RECORDING.scrapes if one.replica == "0")[6:9]
FAMILIES = sorted(set(re.findall(rb"^(apiserver_flowcontrol_\w+)", SCRAPES[0].bodies[Endpoint.METRICS], re.M)))


def with_value(scrape: Scrape, family: bytes, value: bytes) -> Scrape:
    """The scrape with one value in all series of a family."""
    metrics = re.sub(rb"^(%s(?:\{.*\})?) \S+$" % family, rb"\1 " + value, scrape.bodies[Endpoint.METRICS], flags=re.M)
    return replace(scrape, bodies={**scrape.bodies, Endpoint.METRICS: metrics})


@pytest.mark.parametrize("value", [b"NaN", b"+Inf", b"-Inf", b"1e308", b"18446744073709551616"])
@pytest.mark.parametrize("family", FAMILIES, ids=bytes.decode)
def test_no_number_of_a_server_ends_the_checks(family: bytes, value: bytes) -> None:
    odd = replace(RECORDING, scrapes=tuple(with_value(one, family, value) for one in SCRAPES))

    for track in tracks(odd):
        assert checked(track).verdict in ("ok", "off", "unknown")
