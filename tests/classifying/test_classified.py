"""What is told of one request."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apftop.apf.allocation import limits
from apftop.apf.attributes import attributes
from apftop.apf.builtins import builtin_levels, builtin_schemas
from apftop.apf.classify import Classifier
from apftop.apf.identity import added_groups
from apftop.apf.objects import FlowSchema
from apftop.apf.release import Release
from apftop.apf.shards import hand
from apftop.classifying.classified import Setting, classified
from apftop.classifying.text import lines
from apftop.records.classified import Asked, Classified
from tests.findings.cluster import a_schema

RELEASE = Release(1, 30, 4)
ACCOUNT = "system:serviceaccount:shop:web"


def setting(release: Release = RELEASE, *more: FlowSchema) -> Setting:
    schemas, levels = {**builtin_schemas(release), **{one.name: one for one in more}}, builtin_levels()
    nominal = {name: one.nominal for name, one in limits(levels.values(), 600, release).items()}
    return Setting(Classifier(schemas.values(), levels.values()), release, nominal)


def asked(method: str, path: str, user: str = ACCOUNT, query: str = "") -> Asked:
    return Asked("it", attributes(method, path, query, user, added_groups(user)), query)


def of(request: Asked, its: Setting | None = None, expect: str = "") -> Classified:
    return classified(request, its or setting(), expect)


def test_a_flow_has_its_hand() -> None:
    found = of(asked("GET", "/api/v1/pods"))

    assert (found.schema, found.level, found.distinguisher) == ("service-accounts", "workload-low", ACCOUNT)
    assert found.hand == hand("service-accounts", ACCOUNT, 128, 6)


def test_a_level_without_queues_tells_no_flows_apart() -> None:
    found = classified(Asked("it", attributes("GET", "/version", "", "odd", ())), setting())

    assert (found.level, found.distinguisher, found.hash, found.hand) == ("catch-all", "", None, ())
    assert found.limit_s is None
    assert "no queues" in found.limit_why


def test_what_flow_control_does_not_see_has_no_schema() -> None:
    found = of(asked("GET", "/api/v1/namespaces/a/pods/x/log"))

    assert not found.seen
    assert "does not see it" in "\n".join(lines(found))


@pytest.mark.parametrize(
    ("release", "query", "limit_s"),
    [
        (Release(1, 30, 4), "", 15.0),
        (Release(1, 30, 4), "timeout=10s", 2.5),
        (Release(1, 30, 4), "timeout=5m", 15.0),
        (Release(1, 30, 4), "timeout=nonsense", 15.0),
        (Release(1, 28, 4), "timeout=10s", 15.0),
        (Release(1, 28, 5), "timeout=10s", 2.5),
    ],
)
def test_the_wait_limit_is_a_quarter_of_the_time_until_the_deadline(
    release: Release, query: str, limit_s: float
) -> None:
    assert of(asked("GET", "/api/v1/pods", query=query), setting(release)).limit_s == limit_s


def test_a_long_request_timeout_is_capped_at_a_minute() -> None:
    assert of(asked("GET", "/api/v1/pods"), replace(setting(), request_timeout_s=600.0)).limit_s == 60.0


def test_a_list_costs_what_is_stored_as_far_as_that_is_known() -> None:
    request = asked("GET", "/api/v1/pods", query="resourceVersion=0")

    assert of(request).seats == (1, 10)
    assert of(request, replace(setting(), objects=250)).seats == (3, 3)
    assert of(asked("GET", "/api/v1/namespaces/a/pods/x")).seats == (1, 1)
    assert of(asked("POST", "/api/v1/namespaces/a/pods"), replace(setting(), watchers=35)).seats == (4, 4)


def test_each_schema_that_was_tried_says_why_not() -> None:
    found = of(asked("GET", "/api/v1/namespaces/kube-system/pods"))
    why = {one.schema: one.why for one in found.tried}

    assert [one.outcome for one in found.tried][-1] == "matched"
    assert why["probes"] == ("rule 1: it has no resource rules, and the request is for the resource pods",)
    assert "Group system:nodes" in why["system-nodes"][0]


def test_an_expected_schema_behind_the_match_says_whether_it_would_have_matched() -> None:
    request = asked("GET", "/api/v1/pods")

    assert "comes before it" in of(request, expect="global-default").tried[-1].why[0]
    assert "it would not match either" not in of(request, expect="global-default").tried[-1].why[0]
    only = a_schema("later", "workload-low", 9500)
    nodes = replace(only, rules=builtin_schemas(RELEASE)["system-nodes"].rules)
    assert "it would not match either" in of(request, setting(RELEASE, nodes), expect="later").tried[-1].why[0]


def test_a_schema_without_its_level_is_told_where_it_would_be_tried() -> None:
    found = of(asked("GET", "/api/v1/pods"), setting(RELEASE, a_schema("lost", "nowhere", 850)), expect="lost")

    names = [one.schema for one in found.tried]
    assert names.index("kube-scheduler") < names.index("lost") < names.index("kube-system-service-accounts")
    assert next(one for one in found.tried if one.schema == "lost").outcome == "dangling"
    assert "not lost: its level nowhere does not exist" in "\n".join(lines(found, "lost"))
