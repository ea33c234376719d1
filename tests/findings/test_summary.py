"""Five lines for a chat: what and where, the evidence, the cause, the change, and when that was so."""

from __future__ import annotations

from dataclasses import replace

from apftop import __version__
from apftop.findings.words.summary import summary
from apftop.records.findings import Change, Finding
from tests.findings.cluster import a_cluster, quiet

FRAME = a_cluster(*quiet()).frame
FULL = Finding(
    code="level-saturated",
    severity="critical",
    subject="workload-low",
    title="workload-low on kas-a is full: 39 of 39 seats, 300 wait",
    replicas=("kas-a",),
    level="workload-low",
    evidence=("39 of 39 seats", "300 wait", "149/s refused", "wait p99 between 5 and 10 s over 30 s"),
    advice=("slow the client down", "then look again"),
    change=Change("shares 100 -> 150", "kubectl patch it", "kubectl patch it back"),
)


def test_a_summary_has_five_lines_in_the_order_of_questions() -> None:
    what, evidence, cause, change, when = summary(FULL, FRAME).split("\n")

    assert what == "CRITICAL workload-low on kas-a is full: 39 of 39 seats, 300 wait (kas-a)"
    assert evidence == "Evidence: 39 of 39 seats; 300 wait; 149/s refused; and 1 more"
    assert cause.startswith("Cause: ")
    assert cause.endswith("[level-saturated]")
    assert change == "Change: slow the client down $ kubectl patch it"
    assert when == f"Seen 2026-04-12T10:03:30.000Z by apftop {__version__}, kube-apiserver v1.30.4"


def test_a_command_of_many_lines_is_told_in_words() -> None:
    own = Change("a schema of its own", "kubectl create -f - <<'EOF'\n{}\nEOF", "kubectl delete it")
    many = replace(FULL, change=own)

    assert summary(many, FRAME).split("\n")[3] == "Change: a schema of its own"


def test_a_summary_of_what_says_little_still_has_five_lines() -> None:
    bare = Finding(code="no-such-code", severity="info", subject="cluster", title="something")

    lines = summary(bare, FRAME).split("\n")

    assert len(lines) == 5
    assert lines[1:4] == ["Evidence: none", "Cause: no-such-code [no-such-code]", "Change: none"]
