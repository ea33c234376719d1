"""What was found: causes with their evidence, and the one change that would help."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["critical", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("critical", "warning", "info")
"""Worst first."""


def worst(severities: Iterable[str]) -> Severity | None:
    """The worst of some severities; None where there is none."""
    found = set(severities)
    return next((one for one in SEVERITIES if one in found), None)


Whole = Literal["apf", "backend-slow", "client-side", "not-apf", "quiet", "unknown"]
"""What it is all about, in one word."""

Risk = Literal["ok", "at-risk", "unknown"]
RISKS = ("node_leases", "leader_election", "probes")
"""What a cluster dies of when it is delayed or refused."""

Fact = str | float | None | Sequence["Fact"] | Mapping[str, "Fact"]


@dataclass(frozen=True, slots=True)
class Change:
    """One change to the policy, as shell commands that a person may run: this tool runs neither.

    `text` says in words what changes from what to what. `command` makes it, `rollback` brings back what is there today.
    """

    text: str
    command: str
    rollback: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause or fault, as far as it is seen now.

    `code` is its page in `findings/pages/`. `subject` is what it is about: the name of a level, a schema, a replica,
    a client, or `cluster`; `level` and `schema` say which ones it is about, where it is about some, and `replicas` on
    which servers. `title` is one line that says it all. `evidence` are the numbers it stands on, with their bounds and
    windows, a line each; `advice` is what to do, the one change first; `change` is that one as commands, where there is
    one. `facts` are the same numbers for machines; their keys are listed on the page. `weight` orders findings of the
    same severity, heaviest first: requests that wait or were refused a second, where that is known.

    All text is safe for a terminal, and one line each, but for `change`.
    """

    code: str
    severity: Severity
    subject: str
    title: str
    replicas: tuple[str, ...] = ()
    level: str = ""
    schema: str = ""
    evidence: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    change: Change | None = None
    facts: Mapping[str, Fact] = field(default_factory=dict)
    weight: float = 0.0

    @property
    def key(self) -> tuple[str, str]:
        """What names it from one moment to the next."""
        return self.code, self.subject


@dataclass(frozen=True, slots=True)
class Alert:
    """Whether the condition of an alert of the query library holds now, by the window that is at hand.

    `condition` is None where it cannot be told. `needs` is for how long it must hold until the alert fires.
    """

    name: str
    subject: str
    condition: bool | None
    needs: str
    replica: str = ""
    level: str = ""
    schema: str = ""


@dataclass(frozen=True, slots=True)
class Mixin:
    """What the stock alert KubeAPITerminatedRequests makes of the same window: its ratio, and whether it fires."""

    ratio: float
    fires: bool


@dataclass(frozen=True, slots=True)
class Findings:
    """All that was found at one moment; `found` has the worst first.

    `verdict` is about all servers and `replicas` about each of them; `why` are the reasons for it, the first one first.
    """

    verdict: Whole = "unknown"
    why: tuple[str, ...] = ()
    at_risk: Mapping[str, Risk] = field(default_factory=dict)
    replicas: Mapping[str, Whole] = field(default_factory=dict)
    found: tuple[Finding, ...] = ()
    alerts: tuple[Alert, ...] = ()
    mixin: Mixin | None = None
