"""The requests of kubectl lines, as kubectl sends them."""

from __future__ import annotations

import pytest

from apftop.classifying.kubectl_line import kubectl_requests
from apftop.records.parsed import ParseError

LINES = {
    "kubectl get pods": ["GET /api/v1/namespaces/default/pods?limit=500"],
    "k get po": ["GET /api/v1/namespaces/default/pods?limit=500"],
    "/usr/local/bin/kubectl get po -A": ["GET /api/v1/pods?limit=500"],
    "kubectl get po --all-namespaces": ["GET /api/v1/pods?limit=500"],
    "kubectl -n x get po": ["GET /api/v1/namespaces/x/pods?limit=500"],
    "get pods -n shop web-0": ["GET /api/v1/namespaces/shop/pods/web-0"],
    "kubectl get deploy/web svc/web -nshop": [
        "GET /apis/apps/v1/namespaces/shop/deployments/web",
        "GET /api/v1/namespaces/shop/services/web",
    ],
    "kubectl get pods,nodes --chunk-size=0": ["GET /api/v1/namespaces/default/pods", "GET /api/v1/nodes"],
    "kubectl get cm,secret a -oyaml": [
        "GET /api/v1/namespaces/default/configmaps/a",
        "GET /api/v1/namespaces/default/secrets/a",
    ],
    "kubectl get pods -l app=web -w": [
        "GET /api/v1/namespaces/default/pods?labelSelector=app%3Dweb&limit=500",
        "GET /api/v1/namespaces/default/pods?labelSelector=app%3Dweb&resourceVersion=VERSION&watch=true",
    ],
    "kubectl get po -wA": [
        "GET /api/v1/pods?limit=500",
        "GET /api/v1/pods?resourceVersion=VERSION&watch=true",
    ],
    "kubectl get po web-0 --watch-only": [
        "GET /api/v1/namespaces/default/pods/web-0",
        "GET /api/v1/namespaces/default/pods?fieldSelector=metadata.name%3Dweb-0&resourceVersion=0&watch=true",
    ],
    "kubectl get po --watch=false": ["GET /api/v1/namespaces/default/pods?limit=500"],
    "kubectl get po --field-selector spec.nodeName=n7 -A -o wide": [
        "GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn7&limit=500"
    ],
    "kubectl get deploy web --subresource=scale": ["GET /apis/apps/v1/namespaces/default/deployments/web/scale"],
    "kubectl get widgets.example.com": ["GET /apis/example.com/v1/namespaces/default/widgets?limit=500"],
    "kubectl get widgets.v1beta1.example.com -A": ["GET /apis/example.com/v1beta1/widgets?limit=500"],
    "kubectl get ns shop": ["GET /api/v1/namespaces/shop"],
    "kubectl get --raw '/readyz?verbose'": ["GET /readyz?verbose"],
    "kubectl describe node n7": [
        "GET /api/v1/nodes/n7",
        "GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n7",
        "GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn7%2Cstatus.phase%21%3DFailed%2Cstatus.phase%21%3DSucceeded"
        "&limit=500",
        "GET /api/v1/events?fieldSelector=involvedObject.name%3Dn7&limit=500",
    ],
    "kubectl describe pods -A": ["GET /api/v1/pods?limit=500"],
    "kubectl describe pods": [
        "GET /api/v1/namespaces/default/pods?limit=500",
        "GET /api/v1/namespaces/default/pods/NAME",
        "GET /api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3DNAME&limit=500",
    ],
    "kubectl delete pod web-0 --request-timeout=8s --wait=false": [
        "DELETE /api/v1/namespaces/default/pods/web-0?timeout=8s"
    ],
    "kubectl delete pod web-0": [
        "DELETE /api/v1/namespaces/default/pods/web-0",
        "GET /api/v1/namespaces/default/pods/web-0",
    ],
    "kubectl delete pods --all -n a --wait=false": [
        "GET /api/v1/namespaces/a/pods",
        "DELETE /api/v1/namespaces/a/pods/NAME",
    ],
    "kubectl create configmap x --from-literal=a=b": ["POST /api/v1/namespaces/default/configmaps"],
    "kubectl create token builder": ["POST /api/v1/namespaces/default/serviceaccounts/builder/token"],
    "kubectl scale deploy web --replicas 3": [
        "GET /apis/apps/v1/namespaces/default/deployments/web",
        "PATCH /apis/apps/v1/namespaces/default/deployments/web/scale",
    ],
    "kubectl label pod web-0 a=b": [
        "GET /api/v1/namespaces/default/pods/web-0",
        "PATCH /api/v1/namespaces/default/pods/web-0",
    ],
    "kubectl annotate pods --all a=b": [
        "GET /api/v1/namespaces/default/pods",
        "PATCH /api/v1/namespaces/default/pods/NAME",
    ],
    "kubectl patch deploy/web -p '{}'": [
        "GET /apis/apps/v1/namespaces/default/deployments/web",
        "PATCH /apis/apps/v1/namespaces/default/deployments/web",
    ],
    "kubectl cordon n7": ["GET /api/v1/nodes/n7", "PATCH /api/v1/nodes/n7"],
    "kubectl taint nodes n7 a=b:NoSchedule": ["GET /api/v1/nodes/n7", "PATCH /api/v1/nodes/n7"],
    "kubectl uncordon n7 n8": [
        "GET /api/v1/nodes/n7",
        "PATCH /api/v1/nodes/n7",
        "GET /api/v1/nodes/n8",
        "PATCH /api/v1/nodes/n8",
    ],
    "kubectl label ns a b x=y z-": [
        "GET /api/v1/namespaces/a",
        "PATCH /api/v1/namespaces/a",
        "GET /api/v1/namespaces/b",
        "PATCH /api/v1/namespaces/b",
    ],
    "kubectl delete ns a --dry-run=server": ["DELETE /api/v1/namespaces/a"],
    "kubectl cordon n7 --dry-run=client": ["GET /api/v1/nodes/n7"],
    "kubectl create token --duration 1h web -n a": ["POST /api/v1/namespaces/a/serviceaccounts/web/token"],
    "kubectl get ns --request-timeout 10": ["GET /api/v1/namespaces?limit=500&timeout=10s"],
    "kubectl get ns --request-timeout=0": ["GET /api/v1/namespaces?limit=500"],
    "kubectl describe ns a --show-events=false": ["GET /api/v1/namespaces/a"],
    "kubectl drain --skip-wait-for-delete-timeout 5 n7": [
        "GET /api/v1/nodes/n7",
        "PATCH /api/v1/nodes/n7",
        "GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn7&limit=500",
    ],
    "kubectl drain n7 --ignore-daemonsets": [
        "GET /api/v1/nodes/n7",
        "PATCH /api/v1/nodes/n7",
        "GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn7&limit=500",
    ],
    "kubectl rollout status deploy/web": [
        "GET /apis/apps/v1/namespaces/default/deployments/web",
        "GET /apis/apps/v1/namespaces/default/deployments?fieldSelector=metadata.name%3Dweb",
        "GET /apis/apps/v1/namespaces/default/deployments"
        "?fieldSelector=metadata.name%3Dweb&resourceVersion=VERSION&watch=true",
    ],
    "kubectl rollout restart sts web": [
        "GET /apis/apps/v1/namespaces/default/statefulsets/web",
        "PATCH /apis/apps/v1/namespaces/default/statefulsets/web",
    ],
    "kubectl logs web-0": [
        "GET /api/v1/namespaces/default/pods/web-0",
        "GET /api/v1/namespaces/default/pods/web-0/log",
    ],
    "kubectl logs -p -f web-0 -c app": [
        "GET /api/v1/namespaces/default/pods/web-0",
        "GET /api/v1/namespaces/default/pods/web-0/log",
    ],
    "kubectl exec -it web-0 -- ls -l": [
        "GET /api/v1/namespaces/default/pods/web-0",
        "GET /api/v1/namespaces/default/pods/web-0/exec",
    ],
    "kubectl port-forward pod/web-0 8080:80": [
        "GET /api/v1/namespaces/default/pods/web-0",
        "GET /api/v1/namespaces/default/pods/web-0/portforward",
    ],
    "kubectl top nodes": ["GET /apis/metrics.k8s.io/v1beta1/nodes", "GET /api/v1/nodes"],
    "kubectl top pod -A": ["GET /apis/metrics.k8s.io/v1beta1/pods"],
    "kubectl auth can-i list pods": ["POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews"],
    "kubectl auth can-i --list": ["POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews"],
    "kubectl auth whoami": ["POST /apis/authentication.k8s.io/v1/selfsubjectreviews"],
    "kubectl version -o json": ["GET /version"],
    "kubectl api-resources": ["GET /api", "GET /apis"],
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_sends_its_requests(line: str) -> None:
    assert [one.name for one in kubectl_requests(line, "dev", ())] == LINES[line]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("kubectl apply -f x.yaml", "a GET, then a PATCH or a POST"),
        ("kubectl get -f x.yaml", "stands in the file"),
        ("kubectl get pods/a svc", "'svc' is no TYPE/NAME"),
        ("kubectl get pods svc/a", "do not go together"),
        ("kubectl get pods,svc -w", "watches one resource type"),
        ("kubectl get pods web-0 -A", "nothing by name from all namespaces"),
        ("kubectl get --raw healthz", "begins with /"),
        ("kubectl delete pods --all -A", "namespaces of what is found are not known"),
        ("kubectl label pods a=b", "what to change is missing"),
        ("kubectl logs deploy/web", "which pods are those of deploy/web"),
        ("kubectl rollout undo deploy/web", "status, restart, pause and resume"),
        ("kubectl drain", "the name of the node is missing"),
        ("kubectl top", "top has pods and nodes"),
        ("kubectl get pods --as-group g", "--as-group goes with --as"),
        ("kubectl create -f x.yaml", "stands in the file"),
        ("kubectl delete -f x.yaml", "stands in the file"),
        ("kubectl get", "a resource is missing"),
        ("kubectl get widgets", "'widgets' is none of the resources that are known here"),
        ("kubectl delete pods", "what to delete is missing"),
        ("kubectl get pods -n", "-n lacks its value"),
        ("kubectl get 'pods", "cannot read the line"),
        ("kubectl", "no kubectl command"),
        ("kubectl label", "a resource is missing"),
        ("kubectl gte pods", "what `kubectl gte` sends is not known here"),
        ("kubectl cluster-info dump", "what `kubectl cluster-info dump` sends is not known here"),
        ("kubectl create deployment x --dry-run=client -o yaml", "kubectl asks for nothing but what the server has"),
        ("kubectl taint nodes a=b:NoSchedule --all", "the name of the node is missing"),
        ("kubectl get pods --request-timeout=soon", "--request-timeout is a duration such as 10s, not 'soon'"),
    ],
)
def test_a_line_that_does_not_say_its_requests_is_refused(line: str, why: str) -> None:
    with pytest.raises(ParseError, match=why):
        kubectl_requests(line, "dev", ())


def test_who_asks_is_who_the_line_impersonates() -> None:
    (one,) = kubectl_requests("kubectl get pods --as=system:serviceaccount:shop:web", "admin", ("system:masters",))

    assert one.request.user == "system:serviceaccount:shop:web"
    assert one.request.groups == ("system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated")


def test_groups_of_who_is_impersonated_are_all_that_it_is_in() -> None:
    line = "kubectl get pods --as=system:serviceaccount:shop:web --as-group=a"
    (one,) = kubectl_requests(line, "admin", ())

    assert one.request.groups == ("a", "system:authenticated")


def test_all_are_the_resources_that_kubectl_means() -> None:
    names = [one.request.resource for one in kubectl_requests("kubectl get all", "dev", ())]

    assert names[:3] == ["pods", "replicationcontrollers", "services"]
    assert len(names) == 10


def test_what_was_taken_for_granted_is_noted() -> None:
    (bare,) = kubectl_requests("kubectl get pods", "dev", ())
    (known,) = kubectl_requests("kubectl get pods", "dev", (), "shop")
    (custom,) = kubectl_requests("kubectl get widgets.example.com -A", "dev", ())

    assert bare.notes == ("no -n is given, so it is the namespace default unless the context names another",)
    assert known.request.namespace == "shop"
    assert known.notes == ()
    assert "widgets.example.com is not known here" in custom.notes[0]


def test_a_watch_is_one_by_its_query() -> None:
    listed, watched = kubectl_requests("kubectl get pods -A -w", "dev", ())

    assert (listed.request.verb, watched.request.verb) == ("list", "watch")
    assert (listed.request.namespace, listed.request.resource) == ("", "pods")
