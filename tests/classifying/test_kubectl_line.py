"""The requests of kubectl lines, as kubectl sends them."""

from __future__ import annotations

import pytest

from apftop.classifying.kubectl_line import kubectl_requests
from apftop.records.parsed import ParseError

LINES = {
    "kubectl get pods": ["GET /api/v1/namespaces/default/pods?limit=500"],
    "kubectl get po -A": ["GET /api/v1/pods?limit=500"],
    "get pods -n shop web-0": ["GET /api/v1/namespaces/shop/pods/web-0"],
    "kubectl get deploy/web svc/web -nshop": [
        "GET /apis/apps/v1/namespaces/shop/deployments/web",
        "GET /api/v1/namespaces/shop/services/web",
    ],
    "kubectl get pods,nodes --chunk-size=0": ["GET /api/v1/namespaces/default/pods", "GET /api/v1/nodes"],
    "kubectl get pods -l app=web -w": [
        "GET /api/v1/namespaces/default/pods?labelSelector=app%3Dweb&limit=500",
        "GET /api/v1/namespaces/default/pods?labelSelector=app%3Dweb&watch=true",
    ],
    "kubectl get widgets.example.com": ["GET /apis/example.com/v1/namespaces/default/widgets?limit=500"],
    "kubectl get widgets.v1beta1.example.com -A": ["GET /apis/example.com/v1beta1/widgets?limit=500"],
    "kubectl get --raw '/readyz?verbose'": ["GET /readyz?verbose"],
    "kubectl describe node n7": ["GET /api/v1/nodes/n7", "GET /api/v1/events?fieldSelector=involvedObject.name%3Dn7"],
    "kubectl delete pod web-0 --request-timeout=8s": ["DELETE /api/v1/namespaces/default/pods/web-0?timeout=8s"],
    "kubectl delete pods --all -n a": ["DELETE /api/v1/namespaces/a/pods"],
    "kubectl create configmap x --from-literal=a=b": ["POST /api/v1/namespaces/default/configmaps"],
    "kubectl scale deploy web --replicas 3": [
        "GET /apis/apps/v1/namespaces/default/deployments/web",
        "PATCH /apis/apps/v1/namespaces/default/deployments/web/scale",
    ],
    "kubectl label pod web-0 a=b": [
        "GET /api/v1/namespaces/default/pods/web-0",
        "PATCH /api/v1/namespaces/default/pods/web-0",
    ],
    "kubectl logs web-0": [
        "GET /api/v1/namespaces/default/pods/web-0",
        "GET /api/v1/namespaces/default/pods/web-0/log",
    ],
    "kubectl exec web-0 -- ls -l": [
        "GET /api/v1/namespaces/default/pods/web-0",
        "POST /api/v1/namespaces/default/pods/web-0/exec",
    ],
    "kubectl top nodes": ["GET /apis/metrics.k8s.io/v1beta1/nodes"],
    "kubectl auth can-i list pods": ["POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews"],
    "kubectl version -o json": ["GET /version"],
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_sends_its_requests(line: str) -> None:
    assert [one.name for one in kubectl_requests(line, "dev", ())] == LINES[line]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("kubectl apply -f x.yaml", "depends on more than the line"),
        ("kubectl create -f x.yaml", "stands in the file"),
        ("kubectl delete -f x.yaml", "stands in the file"),
        ("kubectl get", "a resource is missing"),
        ("kubectl get widgets", "'widgets' is no resource of Kubernetes itself"),
        ("kubectl delete pods", "what to delete is missing"),
        ("kubectl get pods -n", "-n lacks its value"),
        ("kubectl get 'pods", "cannot read the line"),
        ("kubectl", "no kubectl command"),
        ("kubectl label", "a resource is missing"),
    ],
)
def test_a_line_that_does_not_say_its_requests_is_refused(line: str, why: str) -> None:
    with pytest.raises(ParseError, match=why):
        kubectl_requests(line, "dev", ())


def test_who_asks_is_who_the_line_impersonates() -> None:
    (one,) = kubectl_requests("kubectl get pods --as=system:serviceaccount:shop:web", "admin", ("system:masters",))

    assert one.request.user == "system:serviceaccount:shop:web"
    assert one.request.groups == ("system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated")


def test_a_watch_is_one_by_its_query() -> None:
    listed, watched = kubectl_requests("kubectl get pods -A -w", "dev", ())

    assert (listed.request.verb, watched.request.verb) == ("list", "watch")
    assert (listed.request.namespace, listed.request.resource) == ("", "pods")
