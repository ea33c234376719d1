"""Classification by the model against real servers: what random requests get under random policies."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import unquote

from apftop.apf.attributes import Attributes, attributes, bypasses
from apftop.apf.classify import Classifier
from apftop.apf.identity import UNAUTHENTICATED, impersonated_groups
from apftop.apf.release import parse_release
from apftop.classifying.classified import classified
from apftop.classifying.setting import Setting
from apftop.parse.objects import parse_objects
from apftop.probe import harmless
from apftop.records.classified import Asked
from tests.planes.flow import flow_schema
from tests.planes.impersonated import Sent, Told, ask_as
from tests.planes.objects import allow, revoke, wait_on_replicas
from tests.planes.observe import priority_levels
from tests.planes.plane import Plane
from tests.planes.random_policies import LEVELS, random_levels, random_schemas
from tests.planes.random_requests import IDENTITIES, NO_KIND, Identity, random_requests

SEED = 11
REQUESTS = 1000
API = "/apis/flowcontrol.apiserver.k8s.io/v1/"
REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
LAST, LAST_USER = "random-last", "the-last"
"""Servers hear of schemas in the order of their making: one that goes by this one knows all others."""


@dataclass(frozen=True)
class Policy:
    """The objects of a control plane as the model takes them, and their names by uid."""

    setting: Setting
    names: Mapping[str, str]

    def said(self, told: Told) -> tuple[str, str] | None:
        """Schema and level by the headers; None where there are none."""
        if told.schema is None or told.level is None:
            assert told.schema is told.level
            return None
        return self.names[told.schema], self.names[told.level]

    def model(self, request: Sent, groups: tuple[str, ...]) -> tuple[str, str] | None:
        """Schema and level by the model; None where flow control does not see the request."""
        found = classified(Asked("it", attributes_of(request, groups), request.query), self.setting)
        return (found.schema, found.level) if found.seen else None


def attributes_of(request: Sent, groups: tuple[str, ...]) -> Attributes:
    """What servers are to make of a request."""
    return attributes(request.method, unquote(request.path), request.query, request.user, groups)


def read_policy(plane: Plane) -> Policy:
    schemas = parse_objects(plane.client().get(f"{API}flowschemas").expect(200).body).schemas
    levels = parse_objects(plane.client().get(f"{API}prioritylevelconfigurations").expect(200).body).configs
    release = parse_release(plane.version)
    assert release is not None
    names = {schema.meta.uid: schema.name for schema in schemas} | {level.meta.uid: level.name for level in levels}
    return Policy(Setting(Classifier(schemas, levels), release), names)


@contextmanager
def random_policy(plane: Plane) -> Iterator[Policy]:
    """Random objects that are in force on every server."""
    admin = plane.client()
    every = (*random_levels(), *random_schemas(SEED), flow_schema(LAST, LEVELS[0], users=[LAST_USER], precedence=2))
    last = Sent("GET", "/version", "", LAST_USER)
    try:
        uid = [admin.apply(one) for one in every][-1]["metadata"]["uid"]
        wait_on_replicas(plane, "levels there", lambda _, client: set(LEVELS) <= priority_levels(client).keys())
        wait_on_replicas(plane, "schemas there", lambda at, _: ask_as(plane, [last], at)[0].schema == uid)
        yield read_policy(plane)
    finally:
        for one in reversed(every):
            admin.remove(one)
        wait_on_replicas(plane, "levels gone", lambda _, client: not set(LEVELS) & priority_levels(client).keys())
        wait_on_replicas(plane, "schemas gone", lambda at, _: ask_as(plane, [last], at)[0].schema != uid)


def groups_of(plane: Plane) -> dict[Identity, tuple[str, ...]]:
    """All groups of each identity, as servers see them."""
    rules = [{"apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"], "verbs": ["create"]}]
    body = json.dumps({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}).encode()
    allow(plane, "classify-live", "Group", UNAUTHENTICATED, rules)
    try:
        answers = ask_as(plane, [Sent("POST", REVIEWS, "", user, groups, body) for user, groups in IDENTITIES])
    finally:
        revoke(plane, "classify-live")
    assert {one.status for one in answers} == {201}
    infos = [json.loads(one.body)["status"]["userInfo"] for one in answers]
    assert [info["username"] for info in infos] == [user for user, _ in IDENTITIES]
    return {who: tuple(info["groups"]) for who, info in zip(IDENTITIES, infos, strict=True)}


def test_random_requests_are_classified_as_servers_do(plane: Plane) -> None:
    requests = random_requests(SEED, REQUESTS)
    with random_policy(plane) as policy:
        groups = groups_of(plane)
        answers = ask_as(plane, requests)
        gets = {one: get for one in requests if (get := probe_of(one, groups[one.user, one.groups])) is not None}
        probes = ask_as(plane, list(gets.values()))
    classified = {one: told for one, told in zip(requests, answers, strict=True) if one.path not in NO_KIND}
    said = {one: policy.said(told) for one, told in classified.items()}
    hit = Counter(said.values())

    assert {one: told for one, told in said.items() if told != policy.model(one, groups[one.user, one.groups])} == {}
    # Servers fail over paths that have no kind, before flow control sees them, and over nothing else.
    assert {one.path for one, told in zip(requests, answers, strict=True) if told.status == 500} == set(NO_KIND)
    assert len(classified) >= 500
    # What was asked tells much apart.
    assert len({schema for schema, _ in filter(None, hit)}) > 40
    assert {level for _, level in filter(None, hit)} >= {*LEVELS, "exempt", "global-default", "workload-low"}
    assert hit[None] > 5
    assert policy.setting.classifier.dangling
    # A probe of a request goes where the request goes.
    assert {one: told for one, told in zip(gets, map(policy.said, probes), strict=True) if told != said[one]} == {}
    assert len(gets) > 0.3 * len(said)


def probe_of(request: Sent, groups: tuple[str, ...]) -> Sent | None:
    """The harmless GET that stands for a request; None where there is none, or flow control does not see it."""
    its = attributes_of(request, groups)
    path = None if request.path in NO_KIND or bypasses(its) else harmless(its)
    return None if path is None else Sent("GET", path, "", request.user, request.groups)


def test_whoever_is_impersonated_is_in_the_groups_of_the_model(plane: Plane) -> None:
    for (user, given), groups in groups_of(plane).items():
        assert set(impersonated_groups(user, given)) == set(groups), (user, given)
