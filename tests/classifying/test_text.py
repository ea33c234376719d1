"""What a person reads of a classified request: the answer first, whatever there is to say besides, in 80 columns."""

from __future__ import annotations

from dataclasses import replace

from apftop.apf.attributes import attributes
from apftop.apf.objects import FlowSchema, ResourceRule, Rule, Subject
from apftop.classifying.classified import classified
from apftop.classifying.text import WIDTH, lines
from apftop.records.classified import Asked, Classified
from tests.classifying.test_classified import RELEASE, asked, of, setting
from tests.findings.cluster import a_schema

ACCOUNT = "system:serviceaccount:a-namespace-with-quite-a-long-name:an-account-with-a-long-name-too"


def many(count: int) -> list[FlowSchema]:
    """Schemas that are all tried first: of other users, and each third with a rule for another namespace."""
    everybody, only = (Subject("Group", "system:authenticated"),), ResourceRule(("*",), ("*",), ("*",), ("shop",))
    return [
        replace(
            a_schema(f"team-{number:04}", "workload-low", 600),
            rules=(
                Rule(
                    everybody if number % 3 == 0 else (Subject("User", f"user-{number}"),),
                    (only if number % 6 else replace(only, namespaces=(f"shop-{number}",)),),
                ),
            ),
        )
        for number in range(count)
    ]


def told(one: Classified, *, every: bool = False) -> list[str]:
    return list(lines([one], every=every))


def test_the_answer_comes_first_and_all_of_it_in_80_columns() -> None:
    found = told(of(asked("GET", "/api/v1/pods", user=ACCOUNT)))

    assert found[:2] == ["flow schema service-accounts -> priority level workload-low, flow", f"  {ACCOUNT}"]
    assert all(len(line) <= WIDTH or line.split()[-1] in (ACCOUNT, f"{ACCOUNT},") for line in found)


def test_what_a_hundred_words_would_say_is_said_in_a_few() -> None:
    assert told(of(asked("GET", "/api/v1/namespaces/a/pods/b", user="jane"))) == [
        "flow schema global-default -> priority level global-default, flow jane",
        "  request    get pods, in namespace a",
        "  user       jane, in system:authenticated",
        "  queue      one of 24, 0, 86, 104, 74, 31 of 128, the hand of its flow",
        "  seats      1, like each get",
        "  wait       at most 15s: a quarter of the default --request-timeout of 60 s",
        "  matched by global-default (precedence 9900), rules[0] matches",
        "not matched by the 11 flow schemas tried before:",
        "  probes (2): rules[0].resourceRules: none, and the request is for pods",
        "  exempt (1), system-leader-election (100), endpoint-controller (150),",
        "    workload-leader-election (200), system-node-high (400), system-nodes (500)",
        "    and 4 more: no rule is for this user or a group of it (rules[*].subjects)",
        "  (--all tells each)",
    ]


def test_two_thousand_schemas_do_not_bury_the_answer() -> None:
    its = setting(RELEASE, *many(2000))
    request = asked("GET", "/api/v1/namespaces/web/pods", user="jane")
    found, every = told(classified(request, its)), told(classified(request, its), every=True)

    assert len(found) < 40
    assert "not matched by the 2011 flow schemas tried before:" in found
    text = " ".join(line.strip() for line in found)
    assert "rules[0].resourceRules[0].namespaces: only shop; not web" in text
    assert "and others for 328 more reasons" in text
    assert "no rule is for this user or a group of it" in text
    assert found[-1] == "  (--all tells each)"
    assert sum(line.endswith("-> workload-low: does not match") for line in every) == 2001


def test_a_schema_of_many_rules_tells_some_of_them_and_how_many_more() -> None:
    rules = tuple(Rule((Subject("User", f"user-{number}"),)) for number in range(50))
    its = setting(RELEASE, replace(a_schema("mine", "workload-low", 600), rules=rules))
    found = told(classified(asked("GET", "/api/v1/pods", user="jane"), its, "mine"))

    assert found[1] == "not mine: it is tried (precedence 600), but no rule matches:"
    assert found[2] == "  rules[0].subjects: only User user-0; not user jane or a group of it"
    assert "  and 42 more (--all)" in found


def test_what_was_expected_is_said_right_after_the_answer() -> None:
    request = asked("GET", "/api/v1/pods", user="jane")

    assert told(of(request, expect="global-default"))[1] == "as expected: global-default"
    assert told(of(request, expect="catch-all"))[1:3] == [
        "not catch-all: global-default (precedence 9900) comes before it and matches",
        "  else its rules[0] would match",
    ]
    assert told(of(request, expect="catch"))[1] == ("not catch: there is no such flow schema; did you mean catch-all?")


def test_of_several_requests_those_that_differ_are_named_at_the_top() -> None:
    its = setting()
    found = list(
        lines(
            [
                classified(replace(asked("GET", "/api/v1/pods"), name="one"), its, "service-accounts"),
                classified(replace(asked("GET", "/api/v1/pods", user="jane"), name="two"), its, "service-accounts"),
                classified(
                    replace(asked("GET", "/api/v1/namespaces/a/pods/b/log"), name="three"), its, "service-accounts"
                ),
            ],
            by={"policy": "the built-in one"},
        )
    )

    assert found[0] == "2 of 3 requests do not get service-accounts: two, three"
    assert "two: flow schema global-default -> priority level global-default, flow jane" in found
    assert found[-2:] == ["all of them:", "  policy     the built-in one"]
    assert not any("not matched by" in line for line in found)


def test_a_request_that_flow_control_does_not_see_says_why() -> None:
    found = told(of(asked("POST", "/api/v1/namespaces/a/pods/b/exec"), expect="service-accounts"))

    assert found[0] == "not seen by flow control: no flow schema, no priority level, no seat, no wait"
    assert found[1] == "not service-accounts: flow control does not see the request"
    assert "why servers count each create of pods/exec as long-running, and pass it by" in " ".join(
        " ".join(found).split()
    )


def test_flows_by_namespace_and_those_of_no_namespace() -> None:
    user = "system:serviceaccount:kube-system:coredns"

    assert told(of(asked("GET", "/api/v1/namespaces/shop/pods", user=user)))[1] == "  shop"
    assert told(of(asked("GET", "/api/v1/pods", user=user)))[1] == "  of all requests without a namespace"


def test_what_matches_nothing_goes_to_catch_all_and_says_so() -> None:
    found = told(classified(Asked("it", attributes("GET", "/version", "", "odd", ())), setting()))

    assert found[0] == "flow schema catch-all -> priority level catch-all, flows not told apart"
    assert "  user       odd, in no group" in found
    text = " ".join(line.strip() for line in found)
    assert "never waits: its level has no queues, so it is served or refused at once" in text
    assert "catch-all (precedence 10000), where requests go that no flow schema matches" in text


def test_a_schema_without_its_level_is_told_among_those_before() -> None:
    found = told(of(asked("GET", "/api/v1/pods"), setting(RELEASE, a_schema("lost", "nowhere", 850))))
    text = " ".join(line.strip() for line in found)

    assert "lost (850): its level nowhere does not exist, so servers leave it out" in text


def test_what_a_terminal_would_act_on_is_escaped() -> None:
    hostile = replace(a_schema("x\x1b[31m", "l\x1b[0m", 600), rules=(Rule((Subject("User", "\x1b[2J"),)),))
    request = Asked("\x1b]0;", attributes("GET", "/\x1b[1m", "", "e\x1b[5m", ("g\x1b",)), "", ("n\x1b",))
    for one in (
        classified(request, setting(RELEASE, hostile), "x\x1b[31m"),
        classified(request, setting(RELEASE, hostile), "y\x1b[31m"),
        classified(replace(request, query="timeout=\x1b"), setting()),
    ):
        for every in (False, True):
            assert "\x1b" not in "\n".join(lines([one, one], every=every))
            assert "\x1b" not in "\n".join(lines([one], every=every))
