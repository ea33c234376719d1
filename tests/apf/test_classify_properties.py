"""The index of rules against a look at every rule in turn."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from apftop.apf.attributes import Attributes, attributes
from apftop.apf.builtins import builtin_levels
from apftop.apf.classify import Classifier, classify, explain
from apftop.apf.objects import FlowSchema, Meta, NonResourceRule, ResourceRule, Rule, Subject

STAR = "*"
RESOURCES = ("/api/v1/pods", "/api/v1/namespaces/a/pods/p/status", "/api/v1/nodes/n", "/apis/apps/v1/namespaces/b/pods")
PATHS = (*RESOURCES, "/healthz", "/healthz/etcd", "/x/y", "/xy")
GROUPS = ("system:masters", "system:authenticated", "g", "*")
USERS = ("u", "*", "", "system:serviceaccount:a:b", "system:serviceaccount:a:", "system:serviceaccount:ab:b", "g")


def lists(*values: str) -> st.SearchStrategy[tuple[str, ...]]:
    """A star alone, among others, or none."""
    return st.just((STAR,)) | st.lists(st.sampled_from((*values, STAR)), max_size=2).map(tuple)


subjects = st.one_of(
    st.builds(Subject, st.just("User"), st.sampled_from(USERS)),
    st.builds(Subject, st.just("Group"), st.sampled_from(GROUPS)),
    st.builds(Subject, st.just("ServiceAccount"), st.sampled_from(("b", STAR)), st.sampled_from(("a", "ab"))),
)
resource_rules = st.builds(
    ResourceRule,
    lists("get", "list", "watch"),
    lists("", "apps"),
    lists("pods", "pods/status", "nodes"),
    lists("a", "b"),
    st.booleans(),
)
url_rules = st.builds(NonResourceRule, lists("get"), lists("/healthz", "/healthz/*", "/", "/x*"))
rules = st.builds(
    Rule,
    st.lists(subjects, max_size=2).map(tuple),
    st.lists(resource_rules, max_size=2).map(tuple),
    st.lists(url_rules, max_size=2).map(tuple),
)
schemas = st.lists(
    st.builds(
        FlowSchema,
        st.sampled_from(("s", "t", "a-b", "a.b", "exempt", "catch-all")).map(Meta),
        st.sampled_from(("system", "workload-low", "catch-all", "exempt", "nowhere")),
        st.sampled_from((1, 10, 20)),
        st.sampled_from((None, "ByUser", "ByNamespace")),
        st.lists(rules, max_size=2).map(tuple),
    ),
    unique_by=lambda schema: schema.name,
    max_size=5,
)
requests = st.builds(
    attributes,
    st.sampled_from(("GET", "POST")),
    st.sampled_from(PATHS),
    user=st.sampled_from(USERS),
    groups=st.lists(st.sampled_from(GROUPS), max_size=2).map(tuple),
)


@settings(max_examples=60, deadline=None)
@given(schemas, st.lists(requests, max_size=5))
def test_the_first_schema_that_matches_is_found(given_: list[FlowSchema], asked: list[Attributes]) -> None:
    classifier = Classifier(given_, builtin_levels().values())
    for request in asked:
        told = explain(classifier, request)
        matched = [one.schema for one in told if one.outcome == "matched"]
        last_resort = [schema for schema in classifier.schemas if schema.name == "catch-all"]
        assert [classify(classifier, request).schema] == (matched or last_resort)
