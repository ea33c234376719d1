"""Files of requests."""

from __future__ import annotations

import pytest

from apftop.classifying.requests_file import read_requests
from apftop.records.parsed import ParseError

ACCOUNT = ("system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated")


def test_json_and_yaml_read_alike() -> None:
    text = b"- {id: one, user: 'system:serviceaccount:a:b', verb: list, resource: pods, namespace: a}"
    same = b'[{"id": "one", "user": "system:serviceaccount:a:b", "verb": "list", "resource": "pods", "namespace": "a"}]'

    assert read_requests(text) == read_requests(same)
    assert read_requests(text)[0].request.groups == ACCOUNT


def test_groups_that_are_given_are_all_that_there_are() -> None:
    (one,) = read_requests(b'[{"user": "odd", "groups": [], "verb": "get", "path": "/version"}]')

    assert one.request.groups == ()
    assert one.name == "1"


def test_a_node_without_groups_is_in_that_of_its_certificate() -> None:
    (one,) = read_requests(b'[{"user": "system:node:n7", "verb": "get", "path": "/api/v1/nodes/n7"}]')

    assert one.request.groups == ("system:nodes", "system:authenticated")


def test_a_request_of_nobody_is_anonymous() -> None:
    (one,) = read_requests(b'[{"verb": "get", "path": "/livez"}]')

    assert (one.request.user, one.request.groups) == ("system:anonymous", ("system:unauthenticated",))


def test_a_method_on_an_api_path_is_read_as_the_server_does() -> None:
    (one,) = read_requests(b'[{"user": "u", "verb": "GET", "path": "/api/v1/namespaces/a/pods?watch=1"}]')

    assert (one.request.verb, one.request.resource, one.request.namespace) == ("watch", "pods", "a")
    assert one.query == "watch=1"


def test_a_verb_on_an_api_path_is_one_too() -> None:
    (one,) = read_requests(b'[{"user": "u", "verb": "list", "path": "/api/v1/pods"}]')

    assert (one.request.verb, one.request.resource_request) == ("list", True)


def test_a_resource_without_its_group_gets_it_and_an_empty_group_is_the_core_group() -> None:
    bare = b'[{"user": "u", "verb": "list", "resource": "deployments"}]'
    core = b'[{"user": "u", "verb": "list", "resource": "deployments", "apiGroup": ""}]'

    assert read_requests(bare)[0].request.api_group == "apps"
    assert read_requests(bare)[0].notes[-1] == "deployments are of the API group apps"
    assert read_requests(core)[0].request.api_group == ""


def test_a_subresource_may_stand_apart() -> None:
    (one,) = read_requests(b'[{"user": "u", "verb": "patch", "resource": "nodes", "subresource": "status"}]')

    assert one.request.target == "nodes/status"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"{}", "no list of requests"),
        (b"[1]", "request 1 is no object"),
        (b'[{"id": "x", "user": "u", "verb": "get"}]', "request x: a request has user and verb"),
        (b'[{"id": "x", "verb": "get", "path": "/", "group": "a"}]', "request x: unknown key 'group'"),
        (b'[{"id": "x", "verb": "get", "path": "/", "groups": "a"}]', "request x: groups is no list of texts"),
        (b'[{"id": "x", "verb": 5, "path": "/"}]', "request x: verb is "),
        (b'[{"id": "x", "verb": "get", "path": "/"}, {"id": "x", "verb": "get", "path": "/a"}]', "two requests have"),
        (b'[{"id": "x", "verb": "fetch", "resource": "pods"}]', "request x: unknown verb 'fetch'"),
        (b'[{"id": "x", "verb": "list", "path": "/version"}]', "request x: /version is no resource"),
        (b"<html>", "neither JSON nor YAML"),
        (b"\xff\xfe\x00", "neither JSON nor YAML"),
    ],
)
def test_what_is_wrong_is_named(body: bytes, why: str) -> None:
    with pytest.raises(ParseError, match=why):
        read_requests(body)
