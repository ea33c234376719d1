"""What flags make of one request."""

from __future__ import annotations

from typing import Any

import pytest

from apftop.classifying.asked import requests_asked
from apftop.records.classified import Asked
from apftop.records.parsed import ParseError

NONE: dict[str, Any] = {
    **dict.fromkeys(("user", "account", "verb", "url_path", "resource", "api_group", "namespace", "object_name")),
    **dict.fromkeys(("kubectl", "requests", "timeout", "stored", "bytes_each", "watchers")),
    "groups": (),
}


def asked(**flags: Any) -> Asked:
    (one,) = requests_asked(None, {**NONE, **flags})
    return one


@pytest.mark.parametrize("account", ["shop/web", "system:serviceaccount:shop:web"])
def test_a_service_account_is_named_either_way(account: str) -> None:
    one = asked(account=account, resource="pods", verb="list")

    assert one.request.user == "system:serviceaccount:shop:web"
    assert one.request.groups == ("system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated")
    assert one.notes == ("every server adds these groups",)


def test_a_user_that_is_a_service_account_is_in_the_groups_of_one() -> None:
    one = asked(user="system:serviceaccount:shop:web", groups=("a",), resource="pods", verb="list")

    assert one.request.groups == (
        "a",
        "system:serviceaccounts",
        "system:serviceaccounts:shop",
        "system:authenticated",
    )
    assert one.notes == ("every server adds system:serviceaccounts, system:serviceaccounts:shop, system:authenticated",)


def test_a_node_is_in_the_group_of_nodes() -> None:
    one = asked(user="system:node:n7", resource="nodes", verb="get", object_name="n7")

    assert one.request.groups == ("system:nodes", "system:authenticated")
    assert one.notes[0] == "a node's certificate has the group system:nodes"


def test_nobody_is_anonymous() -> None:
    one = asked(url_path="/livez")

    assert (one.request.user, one.request.groups) == ("system:anonymous", ("system:unauthenticated",))
    assert one.notes[0] == "nobody is named, so system:anonymous asks"


def test_a_path_is_what_a_server_makes_of_it() -> None:
    one = asked(user="jane", url_path="/api/v1/namespaces/x/pods/y/status?watch=1")

    assert (one.request.verb, one.request.target, one.request.name) == ("get", "pods/status", "y")
    assert asked(user="jane", url_path="/api/v1/namespaces/a%20b/pods").request.namespace == "a b"


@pytest.mark.parametrize(
    ("verb", "path", "made"),
    [
        (None, "/api/v1/pods", "list"),
        ("get", "/api/v1/pods", "list"),
        ("list", "/api/v1/pods", "list"),
        ("watch", "/api/v1/pods", "watch"),
        ("watch", "/api/v1/pods?watch=1", "watch"),
        ("WATCH", "/api/v1/watch/pods", "watch"),
        ("create", "/api/v1/namespaces/a/pods", "create"),
        ("update", "/api/v1/namespaces/a/pods/b", "update"),
        ("DELETE", "/api/v1/namespaces/a/pods", "deletecollection"),
        ("deletecollection", "/api/v1/namespaces/a/pods", "deletecollection"),
        ("POST", "/version", "post"),
    ],
)
def test_a_path_takes_methods_and_verbs(verb: str | None, path: str, made: str) -> None:
    assert asked(user="jane", url_path=path, verb=verb).request.verb == made


@pytest.mark.parametrize(
    ("verb", "name", "made"),
    [
        ("list", None, "list"),
        ("GET", None, "list"),
        ("GET", "web", "get"),
        ("get", None, "get"),
        ("post", None, "create"),
        ("PUT", "web", "update"),
        ("DELETE", None, "deletecollection"),
        ("Delete", "web", "delete"),
        ("patch", "web", "patch"),
    ],
)
def test_a_resource_takes_verbs_and_methods(verb: str, name: str | None, made: str) -> None:
    assert asked(user="jane", resource="pods", namespace="a", verb=verb, object_name=name).request.verb == made


@pytest.mark.parametrize(
    ("resource", "group", "made", "note"),
    [
        ("pods", None, ("", "pods"), ""),
        ("deployments", None, ("apps", "deployments"), "deployments are of the API group apps"),
        ("deploy", None, ("apps", "deployments"), "deploy stands for deployments"),
        ("deploy.apps", None, ("apps", "deployments"), "deploy stands for deployments"),
        ("deployments.v1.apps", None, ("apps", "deployments"), ""),
        ("deployments.apps/scale", None, ("apps", "deployments/scale"), ""),
        ("deployments/scale.apps", None, ("apps", "deployments/scale"), ""),
        ("events", None, ("", "events"), "there are events in the API group events.k8s.io too"),
        ("events", "events.k8s.io", ("events.k8s.io", "events"), ""),
        ("pods", "apps", ("apps", "pods"), "Kubernetes has pods in the core group, not in apps"),
        ("deployments", "", ("", "deployments"), "Kubernetes has deployments in apps, not in the core group"),
        ("pods/web-0", None, ("", "pods/web-0"), "web-0 is taken as a subresource"),
        ("foos", None, ("", "foos"), "foos is not known here, and taken as one of the core group"),
        ("foos.example.com", None, ("example.com", "foos"), ""),
        ("foos.v1alpha1.example.com", None, ("example.com", "foos"), ""),
    ],
)
def test_a_resource_is_found_by_any_of_its_names(
    resource: str, group: str | None, made: tuple[str, str], note: str
) -> None:
    one = asked(user="jane", resource=resource, api_group=group, verb="list")

    assert (one.request.api_group, one.request.target) == made
    assert note in "\n".join(one.notes[1:])
    assert bool(note) == (len(one.notes) > 1)


def test_what_stands_behind_a_hash_is_never_sent() -> None:
    assert asked(user="j", url_path="/api/v1/pods#x?watch=1").request.target == "pods"
    assert asked(user="j", url_path="/api/v1/pods#x?watch=1").request.verb == "list"


def test_groups_of_a_certificate_or_a_token_are_said_to_be_unknown() -> None:
    assert "certificate or token are named besides" in asked(user="j", url_path="/api").notes[0]
    assert "certificate" not in asked(user="j", groups=("dev",), url_path="/api").notes[0]


def test_a_namespace_is_in_itself() -> None:
    one = asked(user="jane", resource="ns", verb="get", object_name="shop")

    assert one.request.namespace == "shop"
    assert "servers take the namespace shop to be in itself" in one.notes


def test_a_resource_that_needs_a_namespace_and_has_none_is_noted() -> None:
    assert "outside of one there is no create of pods" in asked(user="j", resource="pods", verb="create").notes[-1]
    assert len(asked(user="j", resource="pods", verb="list").notes) == 1


def test_the_timeout_is_part_of_the_query() -> None:
    assert asked(user="j", resource="pods", verb="list", timeout="10s").query == "timeout=10s"
    assert asked(user="j", url_path="/api/v1/pods?limit=5", timeout="10s").query == "limit=5&timeout=10s"


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        ({}, "name a request: --verb and --resource, --path, --kubectl, or --requests FILE"),
        ({"user": "jane"}, "--user is given, but no request"),
        ({"resource": "pods"}, "--resource needs --verb, such as list"),
        ({"resource": "pods", "url_path": "/api"}, "--resource and --path each name a request: give one of them"),
        ({"kubectl": "get po", "requests": "x"}, "--kubectl and --requests each name a request"),
        ({"user": "jane", "account": "a/b", "url_path": "/"}, "--user and --as both say who asks: give one of them"),
        ({"requests": "x", "groups": ("g",)}, "--group does not go with --requests: the file says it of each request"),
        ({"url_path": "/api", "namespace": "x"}, "--namespace does not go with --path: leave one of them out"),
        ({"kubectl": "get po", "verb": "list"}, "--verb does not go with --kubectl"),
        ({"kubectl": "get po", "timeout": "1s"}, "--timeout does not go with --kubectl: give --request-timeout in"),
        ({"account": "web", "url_path": "/"}, "--as is a service account, as NAMESPACE/NAME, not 'web'; for others"),
        ({"account": "a/b/c", "url_path": "/"}, "--as is a service account"),
        ({"resource": "pods", "verb": "fetch"}, "unknown verb 'fetch': one of get, list, watch"),
        ({"url_path": "/api/v1/pods", "verb": "fetch"}, "unknown verb 'fetch': a path has an HTTP method"),
        ({"url_path": "/version", "verb": "list"}, "/version is no resource: it has an HTTP method such as get"),
        ({"url_path": "/api/v1/namespaces/a/pods/b", "verb": "list"}, "has the verb get, never list"),
        ({"url_path": "api/v1/pods"}, "a path begins with /"),
        ({"url_path": "/api/v1/%zz"}, "'/api/v1/%zz' is no path of a URL: servers refuse '%' there with status 400"),
        ({"url_path": "/api/v1/pods "}, "'/api/v1/pods ' is no path of a URL: servers refuse ' ' there"),
        ({"url_path": "/api/v1/po\nds"}, "is no path of a URL"),
        ({"url_path": "/api/v1/%ff"}, "the escapes of '/api/v1/%ff' are no UTF-8"),
        ({"url_path": "/apis/apps/v1/watch"}, "names nothing to watch or proxy: servers refuse it with status 500"),
        ({"user": "", "url_path": "/"}, "--user is empty: name one, or leave it out"),
        ({"groups": ("",), "url_path": "/"}, "--group is empty"),
        ({"namespace": "", "resource": "pods", "verb": "list"}, "--namespace is empty"),
        ({"object_name": "a/b", "resource": "pods", "verb": "get"}, "nothing is named 'a/b': names have no / and no %"),
        ({"object_name": "b", "resource": "pods", "verb": "deletecollection"}, "deletes 'b' alone has the verb delete"),
        ({"resource": "nodes", "verb": "list", "namespace": "x"}, "nodes have no namespace: leave 'x' out"),
        ({"resource": "deploy.apps", "api_group": "batch", "verb": "list"}, "is of the API group apps, not of batch"),
        ({"resource": "pods/a/b", "verb": "list"}, "'pods/a/b' is no resource: name it as pods"),
        ({"resource": "pods", "verb": "list", "timeout": "10"}, "--timeout is a duration such as 10s, not '10'"),
        ({"url_path": "/api/v1/pods?timeout=5s", "timeout": "10s"}, "the path has the timeout 5s already"),
        ({"resource": "pods", "verb": "list", "bytes_each": 9}, "--bytes-each goes with --stored"),
        ({"resource": "pods", "verb": "get", "stored": 9}, "--stored is for requests with the verb list or watch"),
        (
            {"resource": "pods", "verb": "list", "watchers": 9},
            "--watchers is for requests with one of the verbs create",
        ),
    ],
)
def test_flags_that_do_not_fit_are_refused_in_a_line(flags: dict[str, Any], why: str) -> None:
    with pytest.raises(ParseError) as refused:
        requests_asked(None, {**NONE, **flags})

    assert why in str(refused.value)
    assert "\n" not in str(refused.value)
