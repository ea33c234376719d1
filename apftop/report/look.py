"""What one report is of."""

from __future__ import annotations

from dataclasses import dataclass

from apftop.records.checks import Checks
from apftop.records.classified import Classified
from apftop.records.findings import Findings
from apftop.records.frame import Frame
from apftop.records.logs import NO_LOGS, Logs


@dataclass(frozen=True, slots=True)
class Look:
    """One Frame and how it came about. `notes` say what it cannot show, though nothing went wrong.

    `classified` are the requests in question that lie with a bundle, None where there are none or nobody can tell.
    """

    frame: Frame
    checks: Checks
    found: Findings
    source: str
    t0: float | None
    t1: float | None
    interval_s: float | None
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    logs: Logs = NO_LOGS
    classified: tuple[Classified, ...] | None = None
