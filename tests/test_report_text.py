"""The report as text: what its totals are of."""

from __future__ import annotations

from apftop.derive.frame import frame
from apftop.live import fold
from apftop.records.raw import Endpoint, Sample
from apftop.report.text import text
from tests.sheets.moments import busy, failed


def last_line(*samples: Sample) -> str:
    return text(frame(fold(samples)), "prod", None, None, None).splitlines()[-1]


def test_totals_say_of_how_many_servers_they_are() -> None:
    both = (*busy("kas-1"), *busy("kas-2"))

    assert last_line(*both).startswith("all kube-apiservers: nominal sum 16")
    assert last_line(*both, failed("kas-3", Endpoint.METRICS, 1010.0)).startswith("2 of 3 kube-apiservers: nominal sum")
