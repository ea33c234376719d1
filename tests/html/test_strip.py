"""The strip "where it hurt" says how far it knows."""

from __future__ import annotations

from apftop.records.tape import Pulse
from apftop.report.series import Span
from apftop.report.strip import strip

AT = 1_796_018_400.0
QUIET = (Pulse(AT + 10, 0.0, 0.0), Pulse(AT + 20, 0.0, 0.0), Pulse(AT + 30, 0.0, 0.0))


def test_it_does_not_say_that_nothing_hurt_after_its_last_pulse() -> None:
    told = str(strip(Span(AT, AT + 38, 5.0, pulses=QUIET), "strip"))

    assert "over all servers; told up to 06:00:30 UTC<" in told
    assert "06:00:38 UTC: no finding, 0 waiting, 0/s refused; told up to 06:00:30<" in told


def test_it_says_nothing_of_that_where_its_last_pulse_ends_the_span() -> None:
    assert "told up to" not in str(strip(Span(AT, AT + 30, 5.0, pulses=QUIET), "strip"))
