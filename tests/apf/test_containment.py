"""Rules that cover others, against requests tried one by one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.apf import containment
from apftop.apf.attributes import Attributes, attributes, bypasses
from apftop.apf.builtins import builtin_levels, builtin_schemas, mandatory_schema
from apftop.apf.classify import Classifier
from apftop.apf.containment import Order, covers, overlap, shadowed, subject_covers
from apftop.apf.identity import groups_by_name, impersonated_groups
from apftop.apf.objects import FlowSchema, Meta, NonResourceRule, ResourceRule, Rule, Subject
from apftop.apf.release import Release
from tests.apf.small_world import (
    ODD_PEOPLE,
    PEOPLE,
    STAR,
    SUBJECTS,
    TARGETS,
    Person,
    asked,
    by_name,
    many,
    means_prefix,
    requests,
    resource_rules,
    rules,
    tried,
)


@given(many, many)
def test_covering_is_what_trying_every_request_of_a_small_world_says(
    some: tuple[Rule, ...], others: tuple[Rule, ...]
) -> None:
    assert covers(some, others) == tried(some, others)


@given(rules, rules)
def test_rules_overlap_where_they_share_a_request_of_a_small_world(one: Rule, other: Rule) -> None:
    pairs = [
        (replace(one, subjects=(mine,)), replace(other, subjects=(its,)))
        for mine, its in product(one.subjects, other.subjects)
    ]

    assert overlap((one,), (other,)) == overlap((other,), (one,)) == any(_shared(*pair) for pair in pairs)


def _shared(one: Rule, other: Rule) -> bool:
    """Whether two rules of one subject each share a request; no service account is in a group of its own choice."""
    subjects = (*one.subjects, *other.subjects)
    by_prefix = any(map(means_prefix, subjects)) and not any(subject.kind == "User" for subject in subjects)
    who = PEOPLE if by_prefix else [*PEOPLE, *ODD_PEOPLE]
    return bool(requests((one,), who) & requests((other,), who))


@given(many, st.lists(resource_rules, min_size=1, max_size=3).map(tuple), st.sampled_from(SUBJECTS))
def test_what_several_rules_cover_together_is_covered(
    some: tuple[Rule, ...], parts: tuple[ResourceRule, ...], subject: Subject
) -> None:
    apart = tuple(Rule((subject,), (one,)) for one in parts)
    together = (Rule((subject,), parts),)

    assert covers(apart, together)
    assert covers(together, apart)
    assert covers((*some, *together), apart)


@given(st.lists(st.tuples(many, st.integers(10, 12)), min_size=2, max_size=5))
def test_a_schema_is_shadowed_if_the_classifier_gives_it_no_request_of_those_that_it_matches(
    several: list[tuple[tuple[Rule, ...], int]],
) -> None:
    schemas = [FlowSchema(Meta(f"s{n}"), "workload-low", at, None, rules) for n, (rules, at) in enumerate(several)]
    classifier = Classifier(schemas, builtin_levels().values())
    order = Order.of(classifier.schemas)
    reached = {classifier.schema_of(asked(person, target)).name for person in PEOPLE for target in TARGETS}

    for at, schema in enumerate(classifier.schemas):
        by = order.shadowed(at)
        odd = requests(by_name(schema.rules), ODD_PEOPLE)
        gets = schema.name in reached or any(
            classifier.schema_of(asked(ODD_PEOPLE[who], TARGETS[what])) is schema for who, what in odd
        )
        assert bool(by) == (not gets and bool(odd or requests(schema.rules)))
        assert by == shadowed(schema, classifier.schemas[:at])
        for one in by:
            rest = [rule for other in by if other is not one for rule in other.rules]
            assert not tried(rest, schema.rules)


EVERY = ResourceRule((STAR,), (STAR,), (STAR,), (STAR,), cluster_scope=True)


def a_rule(*subjects: Subject, urls: tuple[str, ...] = (), verbs: tuple[str, ...] = (STAR,)) -> Rule:
    return Rule(subjects, () if urls else (EVERY,), (NonResourceRule(verbs, urls),) if urls else ())


@pytest.mark.parametrize(
    ("one", "other", "covered"),
    [
        (Subject("Group", "system:authenticated"), Subject("Group", "system:nodes"), True),
        (Subject("Group", "system:authenticated"), Subject("ServiceAccount", STAR, "kube-system"), True),
        (Subject("Group", "system:serviceaccounts"), Subject("Group", "system:serviceaccounts:a"), True),
        (Subject("Group", "system:serviceaccounts:a"), Subject("ServiceAccount", "x", "a"), True),
        (Subject("ServiceAccount", STAR, "a"), Subject("Group", "system:serviceaccounts:a"), True),
        (Subject("ServiceAccount", STAR, "a"), Subject("User", "system:serviceaccount:a:x"), True),
        (Subject("ServiceAccount", STAR, "a"), Subject("ServiceAccount", "x", "ab"), False),
        (Subject("Group", "system:nodes"), Subject("User", "system:node:n7"), True),
        (Subject("Group", "system:authenticated"), Subject("User", "system:anonymous"), False),
        (Subject("Group", "system:unauthenticated"), Subject("User", "system:anonymous"), True),
        (Subject("Group", "system:authenticated"), Subject("User", STAR), False),
        (Subject("User", STAR), Subject("Group", "system:unauthenticated"), True),
        (Subject("User", "u"), Subject("Group", "g"), False),
    ],
)
def test_subjects_cover_those_that_are_members_by_what_servers_give_out(
    one: Subject, other: Subject, covered: bool
) -> None:
    assert subject_covers(one, other) is covered


def test_everybody_is_covered_by_the_two_groups_of_all_requests() -> None:
    both = (a_rule(Subject("Group", "system:authenticated"), Subject("Group", "system:unauthenticated")),)

    assert covers(both, (a_rule(Subject("User", STAR)),))
    assert not covers((a_rule(Subject("Group", "system:authenticated")),), (a_rule(Subject("User", STAR)),))


@pytest.mark.parametrize(
    ("urls", "others", "covered"),
    [
        (("/healthz",), ("/healthz/*",), True),
        (("/healthz/*",), ("/healthz",), False),
        (("/",), ("/healthz/*",), True),
        (("/healthz",), ("/healthzz",), False),
        (("*",), ("/",), True),
        (("/",), ("*",), False),
    ],
)
def test_urls_cover_what_is_below_them(urls: tuple[str, ...], others: tuple[str, ...], covered: bool) -> None:
    anyone = Subject("User", STAR)

    assert covers((a_rule(anyone, urls=urls),), (a_rule(anyone, urls=others),)) is covered


def test_of_the_built_in_schemas_only_the_last_resort_is_shadowed() -> None:
    found = sorted(builtin_schemas(Release(1, 30, 4)).values(), key=lambda one: (one.precedence, one.name))
    by = {one.name: [other.name for other in shadowed(one, found[:at])] for at, one in enumerate(found)}

    assert {name for name, ones in by.items() if ones} == {"catch-all"}
    assert by["catch-all"] == ["global-default"]


def test_several_schemas_shadow_one_together_and_none_is_named_that_is_not_needed() -> None:
    def schema(name: str, rule: Rule) -> FlowSchema:
        return FlowSchema(Meta(name), "workload-low", 10, None, (rule,))

    subject = Subject("ServiceAccount", "x", "a")
    reads = Rule((subject,), (ResourceRule(("get", "list"), (STAR,), (STAR,), (STAR,)),))
    writes = Rule((subject,), (ResourceRule(("create",), (STAR,), (STAR,), (STAR,)),))
    late = Rule((subject,), (ResourceRule(("list", "create"), ("",), ("pods",), (STAR,)),))
    others = [schema("reads", reads), schema("urls", a_rule(subject, urls=("*",))), schema("writes", writes)]

    assert [one.name for one in shadowed(schema("late", late), others)] == ["reads", "writes"]
    assert shadowed(schema("late", late), others[:2]) == ()
    assert shadowed(FlowSchema(Meta("empty"), "workload-low"), others) == ()


PODS = ResourceRule((STAR,), ("",), ("pods",), ("shop",))


@pytest.mark.parametrize(
    ("subject", "group", "asked_as"),
    [
        (Subject("ServiceAccount", "x", "a"), "system:serviceaccounts", "system:serviceaccount:a:x"),
        (Subject("User", "system:node:n1"), "system:nodes", "system:node:n1"),
    ],
)
def test_what_is_taken_for_granted_does_not_hold_for_who_is_impersonated_with_other_groups(
    subject: Subject, group: str, asked_as: str
) -> None:
    wide, late = (Rule((Subject("Group", group),), (PODS,)),), (Rule((subject,), (PODS,)),)
    person = (asked_as, impersonated_groups(asked_as, ("team",)))
    target = attributes("GET", "/api/v1/namespaces/shop/pods")

    assert covers(wide, late)
    assert requests(late, [person], [target]) and not requests(wide, [person], [target])


ANYONE = Subject("User", STAR)
JANE, TEAM = Subject("User", "jane"), Subject("Group", "team")
OF_TEAM = ("jane", ("team", "system:authenticated"))
A_LIST = attributes("GET", "/api/v1/namespaces/shop/pods")

# Each class of the module's words: rules that cover others in a cluster with these clients and requests alone.
MISSED: Mapping[str, tuple[tuple[Rule, ...], tuple[Rule, ...], list[Person], list[Attributes]]] = {
    "members": ((Rule((JANE,), (PODS,)),), (Rule((TEAM,), (PODS,)),), [OF_TEAM], [A_LIST]),
    "accounts": (
        (Rule((Subject("ServiceAccount", STAR, "a"),), (PODS,)),),
        (Rule((Subject("Group", "system:serviceaccounts"),), (PODS,)),),
        [("system:serviceaccount:a:x", groups_by_name("system:serviceaccount:a:x"))],
        [A_LIST],
    ),
    "namespaces": (
        (Rule((JANE,), (PODS,)),),
        (Rule((JANE,), (ResourceRule((STAR,), ("",), ("pods",), (STAR,)),)),),
        [OF_TEAM],
        [A_LIST],
    ),
    "resources": (
        (Rule((JANE,), (PODS,)),),
        (Rule((JANE,), (ResourceRule((STAR,), ("",), (STAR,), ("shop",)),)),),
        [OF_TEAM],
        [A_LIST],
    ),
    "unserved": (
        (Rule((JANE,), (PODS,)),),
        (Rule((JANE,), (ResourceRule((STAR,), ("", "apps"), ("pods",), ("shop",)),)),),
        [OF_TEAM],
        [A_LIST],
    ),
    "unseen": (
        (Rule((JANE,), (PODS,)),),
        (Rule((JANE,), (ResourceRule((STAR,), ("",), ("pods", "pods/exec"), ("shop",)),)),),
        [OF_TEAM],
        [one for one in (A_LIST, attributes("POST", "/api/v1/namespaces/shop/pods/p/exec")) if not bypasses(one)],
    ),
}


@pytest.mark.parametrize("missed", MISSED)
def test_a_class_of_false_negatives_is_named_and_what_it_says(missed: str) -> None:
    some, others, who, targets = MISSED[missed]

    assert set() < requests(others, who, targets) <= requests(some, who, targets)
    assert not covers(some, others)


def test_each_class_of_false_negatives_that_is_named_has_a_pair_that_shows_it() -> None:
    assert re.findall(r"^- ([a-z]+):", containment.__doc__ or "", re.MULTILINE) == list(MISSED)


def test_so_many_parts_as_no_list_of_them_could_hold_are_told_from_a_whole_that_lacks_one() -> None:
    names = [f"r{n}" for n in range(60)]
    parts = [
        Rule((JANE,), (ResourceRule((verb,), (group,), (name,), (STAR,), cluster_scope=scope),))
        for name in names
        for verb in ("get", "list", "watch")
        for group in ("", "apps")
        for scope in (True, False)
    ]
    whole = Rule((JANE,), (ResourceRule(("get", "list", "watch"), ("", "apps"), tuple(names), (STAR,), True),))

    assert covers(parts, (whole,))
    assert not covers(parts[2:], (whole,))


def test_a_request_without_a_path_is_of_every_url_and_not_below_the_root() -> None:
    everything, below = (a_rule(ANYONE, urls=(STAR,)),), (a_rule(ANYONE, urls=("/",)),)

    assert requests(below) < requests(everything)
    assert covers(everything, below) and not covers(below, everything)


def test_rules_for_urls_of_resources_are_left_out_of_account() -> None:
    pods = (a_rule(ANYONE, urls=("/api/v1/pods",)),)

    assert not requests(pods)
    assert not overlap(pods, (a_rule(ANYONE, urls=(STAR,)),))
    assert not shadowed(FlowSchema(Meta("urls"), "workload-low", 10, None, pods), [mandatory_schema("exempt")])


def test_one_rule_of_a_schema_is_judged_alone() -> None:
    reads = Rule((JANE,), (ResourceRule(("get", "list"), ("",), ("pods",), (STAR,)),))
    writes = Rule((JANE,), (ResourceRule(("create",), ("",), ("pods",), (STAR,)),))
    first = FlowSchema(Meta("first"), "workload-low", 10, None, (reads,))
    order = Order.of([first, FlowSchema(Meta("second"), "workload-low", 20, None, (reads, writes))])

    assert order.shadowed(1) == ()
    assert order.shadowed(1, 0) == (first,)
    assert order.shadowed(1, 1) == ()
