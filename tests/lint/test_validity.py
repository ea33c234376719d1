"""What servers refuse of an object's own spec, and fields that they do not know."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lint.policies import codes, exempt, level, lint, resources, rule, schema, user

URLS = {"verbs": ["get"], "nonResourceURLs": ["/metrics"]}
NOT_SENT = {"broken", "unknown-field", "wrong-field"}
RELEASES = [f"1.{minor}" for minor in range(26, 38)]


def version(target: str) -> str:
    """The version that a release serves best."""
    return "v1" if int(target.partition(".")[2]) >= 29 else "v1beta3"


def refused(text: str, target: str = "1.34") -> set[str]:
    """The codes of what servers refuse, and of fields that strict clients refuse."""
    return {code for code in codes(text, target) if code.startswith("invalid-") or code in NOT_SENT}


def with_rule(**fields: Any) -> str:
    return schema(rules=[rule(**fields)])


def with_resources(**fields: Any) -> str:
    return with_rule(resourceRules=[resources(**fields)])


def with_urls(*urls: str) -> str:
    return with_rule(resourceRules=None, nonResourceRules=[{"verbs": ["get"], "nonResourceURLs": list(urls)}])


def account(namespace: str, name: str) -> dict[str, Any]:
    return {"kind": "ServiceAccount", "serviceAccount": {"namespace": namespace, "name": name}}


@pytest.mark.parametrize("target", RELEASES)
def test_a_schema_and_a_level_as_servers_take_them_have_no_error(target: str) -> None:
    assert refused(schema(version=version(target)) + level(version=version(target)), target) == set()


@pytest.mark.fires("invalid-name")
@pytest.mark.parametrize("name", ["Mine", "mine_too", "-mine", "mine.", "a" * 254])
def test_a_name_that_is_no_subdomain_is_refused(name: str) -> None:
    assert refused(schema(name)) == {"invalid-name"}
    assert refused(level(name)) == {"invalid-name"}


@pytest.mark.spares("invalid-name")
@pytest.mark.parametrize("name", ["0", "mine.too", "a" * 253])
def test_a_name_with_digits_and_dots_is_a_subdomain(name: str) -> None:
    assert refused(schema(name)) == set()


@pytest.mark.fires("invalid-precedence")
@pytest.mark.parametrize("precedence", [-1, 1, 10_001])
def test_a_precedence_out_of_bounds_is_refused(precedence: int) -> None:
    assert refused(schema(matchingPrecedence=precedence)) == {"invalid-precedence"}


@pytest.mark.spares("invalid-precedence")
@pytest.mark.parametrize("precedence", [None, 0, 2, 10_000])
def test_a_precedence_within_the_bounds_or_left_out_is_taken(precedence: int | None) -> None:
    assert refused(schema(matchingPrecedence=precedence)) == set()


@pytest.mark.fires("invalid-reference")
@pytest.mark.parametrize("name", ["", "Low", "low_"])
def test_a_reference_that_names_no_possible_level_is_refused(name: str) -> None:
    assert "invalid-reference" in refused(schema(priorityLevelConfiguration={"name": name}))


@pytest.mark.spares("invalid-reference")
def test_a_reference_to_a_name_with_dots_is_taken() -> None:
    assert refused(schema(priorityLevelConfiguration={"name": "low.shop"}) + level("low.shop")) == set()


@pytest.mark.fires("invalid-rule")
@pytest.mark.parametrize(
    "text",
    [
        with_rule(subjects=[]),
        with_rule(resourceRules=[]),
        with_resources(verbs=[]),
        with_resources(apiGroups=[]),
        with_resources(resources=[]),
        with_resources(namespaces=None),
        with_resources(verbs=["*", "get"]),
        with_resources(apiGroups=["", "*"]),
        with_resources(resources=["*", "pods"]),
        with_resources(namespaces=["*", "shop"]),
        with_resources(namespaces=["Shop"]),
        with_resources(namespaces=["shop.eu"]),
        with_resources(namespaces=["s" * 64]),
        with_urls(),
        with_urls("*", "/metrics"),
    ],
)
def test_a_rule_that_lacks_something_or_has_a_star_beside_others_is_refused(text: str) -> None:
    assert refused(text) == {"invalid-rule"}


@pytest.mark.spares("invalid-rule")
@pytest.mark.parametrize(
    "text",
    [
        with_resources(namespaces=None, clusterScope=True),
        with_resources(namespaces=[], clusterScope=True),
        with_resources(namespaces=["*"]),
        with_resources(verbs=["*"], apiGroups=["*"], resources=["*"]),
        with_resources(resources=["pods/log", "pods/*"]),
        with_rule(nonResourceRules=[URLS]),
    ],
)
def test_a_rule_that_says_all_it_must_is_taken(text: str) -> None:
    assert refused(text) == set()


@pytest.mark.fires("invalid-subject")
@pytest.mark.parametrize(
    "subject",
    [
        user(""),
        {"kind": "Group", "group": {"name": ""}},
        account("*", "runner"),
        account("", "runner"),
        account("shop", ""),
        account("shop", "Runner"),
        account("shop.eu", "runner"),
        {**user("jane"), "group": {"name": "admins"}},
        {**account("shop", "runner"), "user": {"name": "jane"}},
    ],
)
def test_a_subject_that_names_nobody_or_two_is_refused(subject: dict[str, Any]) -> None:
    assert refused(with_rule(subjects=[user("jane"), subject])) == {"invalid-subject"}


@pytest.mark.spares("invalid-subject")
@pytest.mark.parametrize("subject", [user("*"), user("Jane Doe"), account("shop", "*"), account("shop", "run.ner")])
def test_a_subject_that_names_somebody_is_taken(subject: dict[str, Any]) -> None:
    assert refused(with_rule(subjects=[subject])) == set()


@pytest.mark.fires("invalid-verb")
@pytest.mark.parametrize("verb", ["GET", "connect", "use", ""])
def test_a_verb_that_the_api_lacks_is_refused(verb: str) -> None:
    assert refused(with_resources(verbs=["get", verb])) == {"invalid-verb"}


@pytest.mark.spares("invalid-verb")
def test_all_verbs_of_the_api_are_taken() -> None:
    verbs = ["get", "list", "create", "update", "delete", "deletecollection", "patch", "watch", "proxy"]

    assert refused(with_resources(verbs=verbs)) == set()


@pytest.mark.fires("invalid-url")
@pytest.mark.parametrize("url", ["", "metrics", "/a b", "/a//b", "/a*", "/*/a", "/*/*"])
def test_a_url_that_no_request_can_have_is_refused(url: str) -> None:
    assert refused(with_urls(url)) == {"invalid-url"}


@pytest.mark.spares("invalid-url")
@pytest.mark.parametrize("url", ["*", "/", "/*", "/metrics/", "/metrics/*"])
def test_a_path_and_a_last_star_are_taken(url: str) -> None:
    assert refused(with_urls(url)) == set()


@pytest.mark.fires("invalid-type")
def test_an_exempt_level_of_another_name_is_refused() -> None:
    assert "invalid-type" in refused(exempt().replace("name: exempt", "name: mine"))
    assert "invalid-type" in refused(level("exempt"))


@pytest.mark.spares("invalid-type")
def test_the_exempt_level_is_of_the_type_exempt() -> None:
    assert refused(exempt()) == set()


@pytest.mark.fires("invalid-shares")
@pytest.mark.parametrize("target", RELEASES)
def test_shares_below_zero_are_refused_by_each_release(target: str) -> None:
    assert "invalid-shares" in refused(level(version=version(target), nominalConcurrencyShares=-1), target)


@pytest.mark.spares("invalid-shares")
@pytest.mark.parametrize("target", RELEASES)
def test_zero_shares_are_refused_by_1_29_alone(target: str) -> None:
    assert ("invalid-shares" in refused(level(nominalConcurrencyShares=0), target)) is (target == "1.29")


@pytest.mark.spares("invalid-shares")
def test_zero_shares_stay_zero_in_1_29_where_they_were_before() -> None:
    empty = level(nominalConcurrencyShares=0)

    assert "invalid-shares" not in codes(empty, "1.29", before=empty)
    assert "invalid-shares" in codes(empty, "1.29", before=level())


@pytest.mark.fires("invalid-percent")
@pytest.mark.parametrize("fields", [{"lendablePercent": 101}, {"lendablePercent": -1}, {"borrowingLimitPercent": -1}])
def test_a_percentage_out_of_bounds_is_refused(fields: dict[str, Any]) -> None:
    assert refused(level(**fields)) == {"invalid-percent"}


@pytest.mark.fires("invalid-percent")
def test_the_exempt_level_lends_no_more_than_all() -> None:
    assert "invalid-percent" in refused(exempt(lendablePercent=101))


@pytest.mark.spares("invalid-percent")
@pytest.mark.parametrize("fields", [{"lendablePercent": 100}, {"borrowingLimitPercent": 1000}])
def test_all_may_be_lent_and_more_than_itself_borrowed(fields: dict[str, Any]) -> None:
    assert refused(level(**fields)) == set()


@pytest.mark.fires("invalid-hand")
@pytest.mark.parametrize(("queues", "hand"), [(4, 0), (4, 5), (4, -1), (-1, 1), (128, 9), (64, 11), (10_000_001, 1)])
def test_a_hand_that_cannot_be_dealt_is_refused(queues: int, hand: int) -> None:
    assert refused(level(queuing={"queues": queues, "handSize": hand})) == {"invalid-hand"}


@pytest.mark.spares("invalid-hand")
@pytest.mark.parametrize(
    ("queues", "hand"), [(1, 1), (16, 15), (64, 10), (128, 8), (4096, 5), (10_000_000, 2), (0, 0), (8, 0)]
)
def test_a_hand_of_60_bits_is_dealt_and_zeros_take_the_default(queues: int, hand: int) -> None:
    assert refused(level(queuing={"queues": queues, "handSize": hand})) == set()


@pytest.mark.fires("invalid-queues")
def test_a_queue_of_less_than_nothing_is_refused() -> None:
    assert refused(level(queuing={"queueLengthLimit": -1})) == {"invalid-queues"}


@pytest.mark.spares("invalid-queues")
@pytest.mark.parametrize("length", [0, 1])
def test_a_queue_of_one_and_the_default_are_taken(length: int) -> None:
    assert refused(level(queuing={"queueLengthLimit": length})) == set()


@pytest.mark.fires("no-rules")
def test_a_schema_without_rules_is_valid_and_of_no_use() -> None:
    found = lint(schema(rules=[]))

    assert "no-rules" in {fault.code for fault in found.faults}
    assert refused(schema(rules=[])) == set()


@pytest.mark.spares("no-rules")
def test_a_schema_with_a_rule_has_rules() -> None:
    assert "no-rules" not in codes(schema())
