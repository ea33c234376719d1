"""Objects that were edited before a level began to hurt."""

from __future__ import annotations

from typing import Any

import pytest

from apftop.apf.objects import Subject
from apftop.findings.changes.patches import KEPT
from apftop.findings.policies.edits import FINDERS
from apftop.findings.scene import Scene
from apftop.records.findings import Finding
from tests.findings.cluster import Did, Of, Row, a_cluster, a_level, a_schema, busier, quiet

ROBOTS = Subject("ServiceAccount", "*", "ci")
FULL = Of((Did("ci-robots", 300, queue_full=300, executing=12, waiting=40),), full=1.0, waited=1.0)
ROWS = tuple(
    Row("ci", "ci-robots", "system:serviceaccount:ci:robot", "list", age_s=1 + n / 10, index=n) for n in range(40)
)
LEVEL, SCHEMA = a_level("ci", 10), a_schema("ci-robots", "ci", 1000, ROBOTS)


def found(scene: Scene) -> list[Finding]:
    return [one for find in FINDERS for one in find(scene)]


def written(at: str, by: str = "kubectl-edit", *, made: str = "2026-03-02T08:14:51Z", **more: Any) -> dict[str, Any]:
    """Metadata of an object that was made by a chart, and then written once more."""
    chart = {"manager": "helm", "operation": "Update", "time": made}
    last = {"manager": by, "operation": "Update", "time": at} | more
    return {"generation": 2, "creationTimestamp": made, "managedFields": [chart, last]}


SERVER = "api-priority-and-fairness-config-producer-v1"
METADATA: dict[str, Any] = {"fieldsV1": {"f:metadata": {}}}
SPEC: dict[str, Any] = {"fieldsV1": {"f:spec": {}}}


def built_in(autoupdate: str, later: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Metadata of an object that a server made, an operator edited, and a server wrote once more."""
    edit = {"manager": "kubectl-edit", "operation": "Update", "time": "2026-04-12T09:58:00Z"} | SPEC
    server = {"manager": SERVER, "operation": "Update", "time": "2026-04-12T09:59:00Z"} | later
    notes = {"annotations": {KEPT: autoupdate}} if autoupdate else {}
    return written("2026-04-12T09:58:00Z") | notes | {"managedFields": [edit, server]} | more


def in_need(metas: dict[str, dict[str, Any]], **more: Any) -> Scene:
    servers = [busier(one, "ci", FULL, *ROWS) for one in quiet("kas-a")]
    return a_cluster(*servers, levels=[LEVEL, *more.pop("levels", ())], schemas=[SCHEMA], metas=metas, **more)


@pytest.mark.fires("edited-before-onset")
def test_a_level_that_was_edited_five_minutes_before_it_hurt_is_named_with_who_did_it() -> None:
    (one,) = found(in_need({"ci": written("2026-04-12T09:58:00Z")}))

    assert (one.code, one.severity, one.subject, one.level) == ("edited-before-onset", "warning", "ci", "ci")
    assert one.title == "level ci was edited 5m before ci was seen in need, by kubectl-edit"
    assert one.evidence[0] == (
        "level ci was last written at 2026-04-12T09:58:00.000Z by kubectl-edit, generation 2: 10 shares"
    )
    assert one.change is None
    assert one.facts["before_s"] == 300.0
    assert (one.facts["manager"], one.facts["generation"], one.facts["created"]) == ("kubectl-edit", 2, False)
    assert "the audit log names the user" in one.advice[1]


@pytest.mark.fires("edited-before-onset")
def test_a_schema_that_was_made_then_counts_and_what_one_tool_wrote_at_one_time_is_one_edit() -> None:
    made = {"generation": 1, "creationTimestamp": "2026-04-12T10:00:00Z"}
    made["managedFields"] = [{"manager": "argocd-controller", "operation": "Apply", "time": "2026-04-12T10:00:00Z"}]

    (one,) = found(in_need({"ci": made, "ci-robots": made}))

    assert one.title == "level ci and 1 more was made 3m before ci was seen in need, by argocd-controller"
    assert one.facts["edited"] == ["ci", "ci-robots"]
    assert one.facts["created"] is True


@pytest.mark.fires("edited-before-onset")
def test_a_level_that_takes_seats_from_all_others_counts_where_no_edit_is_nearer() -> None:
    large = {"batch": written("2026-04-12T09:30:00Z", "terraform")}

    (one,) = found(in_need(large, levels=[a_level("batch", 200)]))
    both = found(in_need(large | {"ci": written("2026-04-12T09:58:00Z")}, levels=[a_level("batch", 200)]))

    assert (one.subject, one.facts["direct"]) == ("batch", False)
    assert "with 44.0% of all shares it sets the seats of all other levels" in one.evidence[0]
    assert [other.subject for other in both] == ["ci"]


@pytest.mark.fires("edited-before-onset")
@pytest.mark.parametrize(
    "meta",
    [
        pytest.param(built_in("", METADATA), id="metadata alone"),
        pytest.param(built_in("false", SPEC), id="under the name of what it once wrote of the spec"),
        pytest.param(built_in("false", {}), id="nobody knows of what"),
        pytest.param(written("2026-04-12T09:58:00Z", **SPEC), id="spec"),
    ],
)
def test_an_edit_is_told_though_a_server_wrote_the_metadata_after_it(meta: dict[str, Any]) -> None:
    (one,) = found(in_need({"ci": meta}))

    assert one.title == "level ci was edited 5m before ci was seen in need, by kubectl-edit"


@pytest.mark.spares("edited-before-onset")
@pytest.mark.parametrize(
    "meta",
    [
        pytest.param(built_in("true", SPEC), id="set back"),
        pytest.param(built_in("", SPEC), id="spec"),
        pytest.param(built_in("", {}), id="nobody knows of what"),
    ],
)
def test_what_a_server_may_have_set_back_is_no_edit(meta: dict[str, Any]) -> None:
    assert found(in_need({"ci": meta})) == []


@pytest.mark.spares("edited-before-onset")
@pytest.mark.parametrize(
    "meta",
    [
        written("2026-04-12T09:02:00Z"),
        written("2026-04-12T10:03:20Z"),
        written("2026-04-12T09:58:00Z", "api-priority-and-fairness-config-consumer-v1", subresource="status"),
        written("2026-04-12T09:58:00Z", "api-priority-and-fairness-config-producer-v1"),
        written("2026-04-12T09:58:00Z", subresource="status"),
        written("2026-04-12T09:58:00Z", "helm", **METADATA),
        written("2026-04-12T09:58:00Z") | {"generation": 1},
        {"managedFields": []},
    ],
    ids=[
        "over-an-hour",
        "after-it-began",
        "condition",
        "servers",
        "status",
        "metadata",
        "labels-alone",
        "nobody-knows",
    ],
)
def test_what_was_long_ago_or_came_later_or_no_edit_of_the_spec_is_spared(meta: dict[str, Any]) -> None:
    assert found(in_need({"ci": meta})) == []


@pytest.mark.spares("edited-before-onset")
def test_an_edit_is_nothing_to_tell_while_nothing_hurts_or_elsewhere() -> None:
    edited = {"ci": written("2026-04-12T09:58:00Z"), "ci-robots": written("2026-04-12T09:58:00Z")}
    small = {"batch": written("2026-04-12T09:58:00Z")}

    assert found(a_cluster(*quiet(), levels=[LEVEL], schemas=[SCHEMA], metas=edited)) == []
    assert found(in_need(small, levels=[a_level("batch", 5)])) == []
