"""What is told of one request."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apftop.apf.allocation import limits
from apftop.apf.attributes import attributes
from apftop.apf.builtins import builtin_levels, builtin_schemas
from apftop.apf.classify import Classifier
from apftop.apf.identity import added_groups
from apftop.apf.objects import FlowSchema, NonResourceRule, ResourceRule, Rule, Subject
from apftop.apf.release import Release
from apftop.apf.shards import deal, hand
from apftop.classifying.classified import classified
from apftop.classifying.setting import Setting
from apftop.classifying.text import lines
from apftop.records.classified import Asked, Classified
from tests.apf.objects_of import attributes_of, levels_of, schemas_of
from tests.apf.vectors import vectors
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

    assert (found.level, found.hash, found.hand) == ("catch-all", None, ())
    assert next(lines([found])) == "flow schema catch-all -> priority level catch-all, flows not told apart"
    assert found.limit_s is None
    assert "no queues" in found.limit_why


def test_what_flow_control_does_not_see_has_no_schema() -> None:
    found = of(asked("GET", "/api/v1/namespaces/a/pods/x/log"))

    assert not found.seen
    assert "each get of pods/log as long-running, also where it does not follow" in found.unseen


@pytest.mark.parametrize(
    ("release", "query", "limit_s"),
    [
        (Release(1, 30, 4), "", 15.0),
        (Release(1, 30, 4), "timeout=10s", 2.5),
        (Release(1, 30, 4), "timeout=5m", 15.0),
        (Release(1, 30, 4), "timeout=0", 15.0),
        (Release(1, 30, 4), "timeout=-5s", 15.0),
        (Release(1, 30, 4), "timeout=", 15.0),
        (Release(1, 26, 0), "timeout=10s", 15.0),
        (Release(1, 28, 4), "timeout=10s", 15.0),
        (Release(1, 28, 5), "timeout=10s", 2.5),
    ],
)
def test_the_wait_limit_is_a_quarter_of_the_time_until_the_deadline(
    release: Release, query: str, limit_s: float
) -> None:
    assert of(asked("GET", "/api/v1/pods", query=query), setting(release)).limit_s == limit_s


def test_until_1_28_4_only_another_request_ends_a_wait_but_for_the_own_deadline() -> None:
    old = setting(Release(1, 28, 4))

    assert "but longer while no other request comes to its queue" in of(asked("GET", "/api/v1/pods"), old).limit_why
    short = asked("GET", "/api/v1/pods", query="timeout=8s")
    assert of(short, old).limit_why.endswith("but its own timeout ends it after 8 s")


def test_a_list_may_be_wider_where_etcd_is_too_old_for_consistent_reads() -> None:
    found = of(asked("GET", "/api/v1/pods"), setting(Release(1, 37, 0)))

    assert found.seats == (1, 10)
    assert "up to 37 where etcd lacks consistent reads from the cache" in found.seats_why
    from_cache = asked("GET", "/api/v1/pods", query="resourceVersion=0")
    assert "etcd" not in of(from_cache, setting(Release(1, 37, 0))).seats_why


def test_gates_that_the_server_names_decide_what_a_watch_costs() -> None:
    request = asked("GET", "/api/v1/pods", query="watch=1")

    assert of(request, replace(setting(Release(1, 37, 0)), gates={"WatchList": False})).seats == (1, 1)


def test_exempt_requests_hold_no_seats_until_1_28() -> None:
    request = Asked("it", attributes("GET", "/api/v1/pods", "", "adm", ("system:masters",)))

    assert of(request, setting(Release(1, 27, 16))).seats == (0, 0)
    assert of(request, setting(Release(1, 28, 0))).seats == (1, 10)


def test_a_token_costs_the_same_however_many_watch() -> None:
    found = of(asked("POST", "/api/v1/namespaces/a/serviceaccounts/web/token"))

    assert (found.seats, found.seats_why) == ((1, 1), "however many watch what it changes")


def test_a_long_request_timeout_is_capped_at_a_minute() -> None:
    assert of(asked("GET", "/api/v1/pods"), replace(setting(), request_timeout_s=600.0)).limit_s == 60.0


def test_a_timeout_that_is_none_is_refused_before_flow_control() -> None:
    found = of(asked("GET", "/api/v1/pods", query="timeout=soon"))

    assert not found.seen
    assert found.unseen == "its timeout soon is no duration such as 10s: servers refuse it before with status 400"


def test_a_watch_has_no_timeout_of_its_own_and_holds_seats_only_at_first() -> None:
    found = of(asked("GET", "/api/v1/pods", query="watch=1&timeout=10s"))

    assert found.limit_s == 15.0
    assert found.seats == (1, 1)
    assert "until its first events are sent: from then on it holds none" in found.seats_why


def test_only_releases_since_1_35_count_the_objects_of_a_plain_watch() -> None:
    request = asked("GET", "/api/v1/pods", query="watch=1")

    assert of(request, setting(Release(1, 34, 0))).seats == (1, 1)
    assert of(request, setting(Release(1, 35, 0))).seats[1] > 1


def test_exempt_requests_never_wait() -> None:
    found = classified(Asked("it", attributes("GET", "/version", "", "adm", ("system:masters",))), setting())

    assert (found.level, found.limit_s, found.limit_why) == ("exempt", None, "exempt requests are served at once")


def test_a_list_costs_what_is_stored_as_far_as_that_is_known() -> None:
    request = asked("GET", "/api/v1/pods", query="resourceVersion=0")

    assert of(request).seats == (1, 10)
    assert of(request, replace(setting(), objects=250)).seats == (3, 3)
    assert of(asked("GET", "/api/v1/namespaces/a/pods/x")).seats == (1, 1)
    change = of(asked("POST", "/api/v1/namespaces/a/pods"), replace(setting(), watchers=35))
    assert change.seats == (4, 4)
    assert change.seats_why == "with 35 watchers of what it changes, held for 5ms beyond its end"


def test_since_1_34_a_list_costs_by_bytes_and_unknown_sizes_leave_it_open() -> None:
    request, its = asked("GET", "/api/v1/pods", query="resourceVersion=0"), setting(Release(1, 37, 0))

    assert of(request, replace(its, objects=250)).seats == (1, 10)
    assert of(request, replace(its, objects=250)).seats_why == "with 250 stored objects, by their size"
    assert of(request, replace(its, objects=250, average_bytes=2000)).seats == (5, 5)
    assert of(request, replace(its, objects=0)).seats == (1, 1)
    stored = asked("GET", "/api/v1/pods", query="resourceVersionMatch=Exact&resourceVersion=7")
    assert of(stored, replace(its, objects=250, average_bytes=9000)).seats == (23, 23)


def test_each_schema_that_was_tried_says_why_not() -> None:
    found = of(asked("GET", "/api/v1/namespaces/kube-system/pods"))
    why = {one.schema: one.why for one in found.tried}

    assert [one.outcome for one in found.tried][-1] == "matched"
    assert why["probes"] == ("rules[0].resourceRules: none, and the request is for pods",)
    assert why["system-nodes"] == (f"rules[0].subjects: only Group system:nodes; not user {ACCOUNT} or a group of it",)
    assert why["service-accounts"] == ("rules[0] matches",)


def test_an_expected_schema_behind_the_match_says_whether_it_would_have_matched() -> None:
    request = asked("GET", "/api/v1/pods")

    assert of(request, expect="global-default").tried[-1].why == (
        "service-accounts (precedence 9000) comes before it and matches",
        "else its rules[0] would match",
    )
    only = a_schema("later", "workload-low", 9500)
    nodes = replace(only, rules=builtin_schemas(RELEASE)["system-nodes"].rules)
    assert of(request, setting(RELEASE, nodes), expect="later").tried[-1].why[1:] == (
        "it would not match either:",
        f"rules[0].subjects: only Group system:nodes; not user {ACCOUNT} or a group of it",
    )


def test_an_expected_schema_behind_an_exempting_one_says_what_it_would_do() -> None:
    request = Asked("it", attributes("GET", "/api/v1/pods", "", "adm", ("system:masters", "system:authenticated")))

    assert of(request, expect="catch-all").tried[-1].why[-1] == "else its rules[0] would match"


def test_of_schemas_with_one_precedence_the_first_name_goes_first() -> None:
    request = asked("GET", "/api/v1/pods")
    both = [a_schema(name, "workload-low", 700) for name in ("bb", "aa")]
    found = of(request, setting(RELEASE, *both), expect="bb")

    assert found.schema == "aa"
    assert found.expected is not None
    assert found.expected.why[0] == "aa (precedence 700, first by its name) comes before it and matches"


def test_a_schema_without_its_level_is_told_where_it_would_be_tried() -> None:
    found = of(asked("GET", "/api/v1/pods"), setting(RELEASE, a_schema("lost", "nowhere", 850)), expect="lost")

    names = [one.schema for one in found.tried]
    assert names.index("kube-scheduler") < names.index("lost") < names.index("kube-system-service-accounts")
    assert next(one for one in found.tried if one.schema == "lost").outcome == "dangling"
    assert "not lost: its level nowhere does not exist, so servers leave it out" in list(lines([found]))


def test_a_schema_that_is_not_there_has_names_that_are_near() -> None:
    found = of(asked("GET", "/api/v1/pods"), expect="global").expected
    level = of(asked("GET", "/api/v1/pods"), expect="workload-low").expected

    assert found is not None
    assert (found.outcome, found.near) == ("absent", ("global-default",))
    assert found.why == ("there is no such flow schema; did you mean global-default?",)
    assert level is not None
    assert level.why == ("there is no such flow schema; it is a priority level, of the flow schemas service-accounts",)


def test_each_rule_says_the_first_of_its_fields_that_fails() -> None:
    everybody = (Subject("Group", "system:authenticated"),)
    only = replace(
        a_schema("mine", "workload-low", 600),
        rules=(
            Rule((Subject("User", "jane"),), (ResourceRule(("*",), ("*",), ("*",), ("*",)),)),
            Rule(everybody, (ResourceRule(("list",), ("*",), ("*",), ("*",)),)),
            Rule(
                everybody,
                (
                    ResourceRule(("get", "*"), ("",), ("pods",), ("shop",)),
                    ResourceRule(("*",), ("",), ("pods/*",), ("shop",)),
                    ResourceRule(("*",), ("apps",), ("pods/status",), ("shop",)),
                    ResourceRule(("*",), ("",), ("pods/status",), ("shop",)),
                ),
            ),
            Rule(everybody, (), (NonResourceRule(("*",), ("*",)),)),
        ),
    )
    found = of(asked("GET", "/api/v1/namespaces/web/pods/x/status"), setting(RELEASE, only), expect="mine")

    assert found.expected is not None
    assert found.expected.why == (
        "it is tried (precedence 600), but no rule matches:",
        f"rules[0].subjects: only User jane; not user {ACCOUNT} or a group of it",
        "rules[1].resourceRules[0].verbs: only list; not get",
        "rules[2].resourceRules[0].resources: only pods; not pods/status (which pods does not cover)",
        "rules[2].resourceRules[1].resources: only pods/*; not pods/status (no pattern holds here but * alone)",
        'rules[2].resourceRules[2].apiGroups: only apps; not "" (core)',
        "rules[2].resourceRules[3].namespaces: only shop; not web",
        "rules[3].resourceRules: none, and the request is for pods/status",
    )


def test_what_fails_for_all_namespaces_and_for_a_path() -> None:
    everybody = (Subject("Group", "system:authenticated"),)
    rules = (
        Rule(everybody, (ResourceRule(("*",), ("*",), ("*",), ("*",)),), (NonResourceRule(("get",), ("/api/*",)),)),
        Rule(everybody, (), (NonResourceRule(("post", "*"), ("*",)),)),
    )
    its = setting(RELEASE, replace(a_schema("mine", "workload-low", 600), rules=rules))
    across = of(asked("GET", "/api/v1/pods"), its, expect="mine").expected
    path = of(asked("GET", "/version"), its, expect="mine").expected

    assert across is not None
    assert across.why[1] == "rules[0].resourceRules[0].clusterScope: not true, and the request has no namespace"
    assert path is not None
    assert path.why[1:] == (
        "rules[0].nonResourceRules[0].nonResourceURLs: only /api/*; not /version",
        'rules[1].nonResourceRules[0].verbs: only post, *; not get ("*" stands for all only where it is alone)',
    )


def test_the_hands_that_are_shown_are_those_of_the_hashes_of_the_library() -> None:
    shown = 0
    for vector in vectors("classify"):
        scenario = vector["scenario"]
        levels = levels_of(scenario["priority_levels"])
        its = Setting(Classifier(schemas_of(scenario["flow_schemas"]), levels), RELEASE)
        for request, wanted in zip(scenario["requests"], vector["expected"]["results"], strict=True):
            found = classified(Asked("it", attributes_of(request)), its)
            if not found.seen:
                continue
            assert (found.schema, found.level) == (wanted["fs"], wanted["pl"])
            queuing = its.classifier.levels[found.level].queuing
            if wanted["nq"] < 2 or queuing is None:
                assert found.hand == ()
                continue
            shown += 1
            assert found.hash == wanted["hash"]
            assert found.hand == deal(wanted["hash"], wanted["nq"], queuing.hand_size)
    assert shown > 100
