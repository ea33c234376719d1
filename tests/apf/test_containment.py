"""Rules that cover others, against requests tried one by one."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.apf.attributes import Attributes, attributes
from apftop.apf.builtins import builtin_levels, builtin_schemas
from apftop.apf.classify import Classifier, classify
from apftop.apf.containment import covers, groups_by_name, overlap, shadowed, subject_covers
from apftop.apf.matching import subject_matches, target_matches
from apftop.apf.objects import FlowSchema, Meta, NonResourceRule, ResourceRule, Rule, Subject
from apftop.apf.release import Release

STAR = "*"
ACCOUNT = "system:serviceaccount:"
NAMES = ("u", "v", "system:anonymous", "system:node:n1", f"{ACCOUNT}a:x", f"{ACCOUNT}a:y", f"{ACCOUNT}b:x")
GROUPS = ("system:masters", "system:nodes", "g")
PATHS = ("/healthz", "/healthz/", "/healthz/etcd", "/healthz/etcd/x", "/x", "/x/y", "/metrics", "/")

USER_SUBJECTS = tuple(Subject("User", name) for name in (*NAMES[:4], f"{ACCOUNT}a:x", STAR))
GROUP_SUBJECTS = tuple(
    Subject("Group", name)
    for name in (
        *GROUPS,
        "system:authenticated",
        "system:unauthenticated",
        "system:serviceaccounts",
        "system:serviceaccounts:a",
        STAR,
    )
)
ACCOUNT_SUBJECTS = tuple(Subject("ServiceAccount", name, "a") for name in ("x", STAR))
SUBJECTS = (*USER_SUBJECTS, *GROUP_SUBJECTS, *ACCOUNT_SUBJECTS)


def people() -> list[tuple[str, tuple[str, ...]]]:
    """Users with their groups as servers give them; some whom no rule names."""
    found = [(name, groups_by_name(name)) for name in (*NAMES, "nobody", f"{ACCOUNT}a:z", f"{ACCOUNT}c:z")]
    more = [(name, (*groups_by_name(name), group)) for name in (*NAMES[:2], NAMES[3], "nobody") for group in GROUPS]
    return [*found, *more, ("w", (*groups_by_name("w"), *GROUPS))]


def universe() -> list[Attributes]:
    """Every request of a small world that has a value of each kind which no rule lists."""
    targets = [
        Attributes("", (), verb, "/api", True, group, "v1", namespace, resource, "")
        for verb in ("get", "list", "create")
        for group in ("", "apps", "batch")
        for namespace in ("", "a", "b", "c")
        for resource in ("pods", "nodes", "jobs")
    ]
    targets += [attributes(method, path) for method in ("GET", "POST", "PUT") for path in PATHS]
    return targets


TARGETS = universe()
PEOPLE = people()


def matches(rules: tuple[Rule, ...], user: str, groups: tuple[str, ...], target: Attributes) -> bool:
    asked = Attributes(user, groups, "", "", False)
    return any(
        any(subject_matches(one, asked) for one in rule.subjects) and target_matches(rule, target) for rule in rules
    )


def tried(rules: tuple[Rule, ...], others: tuple[Rule, ...]) -> tuple[bool, bool]:
    """Whether `rules` match all requests of the world that `others` match, and whether they match one of them."""
    whole, some = True, False
    for (user, groups), target in product(PEOPLE, TARGETS):
        if matches(others, user, groups, target):
            found = matches(rules, user, groups, target)
            whole, some = whole and found, some or found
    return whole, some


def lists(*values: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.just((STAR,)) | st.lists(st.sampled_from(values), min_size=1, max_size=2, unique=True).map(tuple)


subjects = st.sampled_from(SUBJECTS)
resource_rules = st.builds(
    ResourceRule,
    lists("get", "list"),
    lists("", "apps"),
    lists("pods", "nodes"),
    lists("a", "b") | st.just(()),
    st.booleans(),
)
url_rules = st.builds(
    NonResourceRule,
    lists("get", "post"),
    st.just((STAR,))
    | st.lists(st.sampled_from(("/healthz", "/healthz/*", "/healthz/etcd", "/x", "/x/*")), min_size=1, max_size=2).map(
        tuple
    ),
)
rules = st.builds(
    Rule,
    st.lists(subjects, min_size=1, max_size=2).map(tuple),
    st.lists(resource_rules, max_size=2).map(tuple),
    st.lists(url_rules, max_size=1).map(tuple),
)
many = st.lists(rules, min_size=1, max_size=3).map(tuple)


@given(many, many)
def test_covering_and_overlap_are_what_trying_every_request_of_a_small_world_says(
    some: tuple[Rule, ...], others: tuple[Rule, ...]
) -> None:
    assert (covers(some, others), overlap(some, others)) == tried(some, others)


@given(many, st.lists(resource_rules, min_size=1, max_size=3).map(tuple), st.sampled_from(SUBJECTS))
def test_what_several_rules_cover_together_is_covered(
    some: tuple[Rule, ...], parts: tuple[ResourceRule, ...], subject: Subject
) -> None:
    apart = tuple(Rule((subject,), (one,)) for one in parts)
    together = (Rule((subject,), parts),)

    assert covers(apart, together)
    assert covers(together, apart)
    assert covers((*some, *together), apart)


@given(st.lists(many, min_size=2, max_size=4), st.sampled_from(PEOPLE), st.sampled_from(TARGETS))
def test_no_request_reaches_a_schema_that_is_shadowed(
    given_: list[tuple[Rule, ...]], who: tuple[str, tuple[str, ...]], target: Attributes
) -> None:
    schemas = [FlowSchema(Meta(f"s{n}"), "workload-low", 10 + n, None, one) for n, one in enumerate(given_)]
    asked = Attributes(
        *who,
        target.verb,
        target.path,
        target.resource_request,
        target.api_group,
        "v1",
        target.namespace,
        target.resource,
    )
    met = classify(Classifier(schemas, builtin_levels().values()), asked).schema.name

    for at, schema in enumerate(schemas):
        by = shadowed(schema, schemas[:at])
        assert not by or met != schema.name
        assert not by or covers([rule for one in by for rule in one.rules], schema.rules)


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
