"""What each kubectl command sends (kubectl 1.37)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile

from apftop.classifying.kubectl_targets import EACH, HOW, OF_EACH, Sent, Target, chosen, each, noted, targets
from apftop.classifying.kubectl_words import Line
from apftop.classifying.resources import Resource, resource
from apftop.records.parsed import ParseError

PAGE = "500"
"""What kubectl asks for at a time: its --chunk-size."""

WITH_OTHERS = (
    *("daemonsets", "deployments", "ingresses", "jobs", "namespaces", "persistentvolumeclaims", "replicasets"),
    *("replicationcontrollers", "serviceaccounts", "services", "statefulsets"),
)
"""What kubectl describes with what belongs to it, such as a deployment with its replica sets."""

OF_THE_LIST = "VERSION"
"""Stands for the version of the list that a watch goes on from."""

Sends = Callable[[Line, tuple[str, ...], str], Iterator[Sent]]


def sent(line: Line, namespace: str) -> Iterator[Sent]:
    """The requests of a line; an empty namespace stands for all. Raises ParseError where the line does not say them."""
    command, words = line.words[0], line.words[1:]
    send = COMMANDS.get(command)
    if send is None:
        why = f"depends on {NEEDS[command]}" if command in NEEDS else "is not known here"
        raise ParseError(f"what `kubectl {command}` sends {why}: {HOW}")
    if line.flag("file"):
        raise ParseError(f"what `kubectl {command}` asks for stands in the file: {HOW}")
    requests = send(line, words, namespace)
    return _of_a_trial(requests) if line.value("trial") not in ("", "none", "server") else requests


def _of_a_trial(requests: Iterator[Sent]) -> Iterator[Sent]:
    """What is sent with --dry-run=client, which changes nothing."""
    reads = [one for one in requests if one.method == "GET"]
    if not reads:
        raise ParseError("with --dry-run=client kubectl asks for nothing but what the server has")
    return iter(reads)


NEEDS = {
    "apply": "the files, and on what is there (a GET, then a PATCH or a POST, of each object)",
    "replace": "the files (a GET, then a PUT, of each object)",
    "diff": "the files (a GET, then a PATCH that changes nothing, of each object)",
    "run": "its options (a POST of pods at least)",
    "expose": "what is exposed (a GET of it, then a POST of services)",
    "wait": "what is waited for (a GET, then a list and a watch, of each object)",
    "cp": "the pod (an exec into it, which flow control does not see)",
    "debug": "what is debugged",
    "autoscale": "what is scaled (a GET of it, then a POST of horizontalpodautoscalers)",
    "set": "what is set (a GET, then a PATCH, of each object)",
}
"""What commands depend on that a line does not tell."""


def _get(line: Line, words: tuple[str, ...], namespace: str) -> Iterator[Sent]:
    if line.flag("raw"):
        if not line.value("raw").startswith("/"):
            raise ParseError("--raw is a path that begins with /")
        yield Sent("GET", line.value("raw"))
        return
    found = list(targets(words))
    if line.flag("watch") and len(found) > 1:
        raise ParseError("kubectl watches one resource type, or one object, at a time")
    for target in found:
        if target.name and line.flag("all"):
            raise ParseError("kubectl gets nothing by name from all namespaces: leave -A or the name out")
        yield from noted(target, _get_one(line, target, namespace))


def _get_one(line: Line, target: Target, namespace: str) -> Iterator[Sent]:
    one, name = target.resource, target.name
    if name:
        yield Sent("GET", one.path(namespace, name, line.value("subresource")))
        if line.flag("watch"):
            query = {"fieldSelector": f"metadata.name={name}", "resourceVersion": "0", "watch": "true"}
            yield Sent("GET", one.path(namespace), query)
        return
    yield Sent("GET", one.path(namespace), {**chosen(line), **_paged(line)})
    if line.flag("watch"):
        query = {**chosen(line), "resourceVersion": OF_THE_LIST, "watch": "true"}
        yield Sent("GET", one.path(namespace), query, (f"{OF_THE_LIST} stands for that of the list before",))


def _paged(line: Line) -> dict[str, str]:
    page = line.value("chunk") or PAGE
    return {"limit": page} if page != "0" else {}


def _of_each(one: Callable[[Line, Target, str], Iterator[Sent]]) -> Sends:
    """What is sent for a whole line, by what is sent for each of its targets."""

    def send(line: Line, words: tuple[str, ...], namespace: str) -> Iterator[Sent]:
        for target in targets(words):
            yield from noted(target, one(line, target, namespace))

    return send


def _describe(line: Line, target: Target, namespace: str) -> Iterator[Sent]:
    one, name = target.resource, target.name
    notes: tuple[str, ...] = ()
    if not name:
        yield Sent("GET", one.path(namespace), {**chosen(line), **_paged(line)})
        if one.namespaced and not namespace:
            # The namespaces of what is found are not known.
            return
        name, notes = EACH, OF_EACH
    also = ("a list of what belongs to it follows",) if one.name in WITH_OTHERS else ()
    yield Sent("GET", one.path(namespace, name), {}, (*notes, *also))
    if one.name == "nodes":
        lease = Resource("leases", "coordination.k8s.io/v1", namespaced=True).path("kube-node-lease", name)
        alive = f"spec.nodeName={name},status.phase!=Failed,status.phase!=Succeeded"
        yield Sent("GET", lease, {}, notes)
        yield Sent("GET", "/api/v1/pods", {"fieldSelector": alive, **_paged(line)}, notes)
    if line.flag("no events"):
        return
    events = Resource("events", "v1", namespaced=True)
    query = {"fieldSelector": f"involvedObject.name={name}", **_paged(line)}
    yield Sent("GET", events.path(namespace if one.namespaced else ""), query, notes)


def _delete(line: Line, target: Target, namespace: str) -> Iterator[Sent]:
    one = target.resource
    for name, notes in each(line, target, namespace, needed="what to delete"):
        if notes:
            yield Sent("GET", one.path(namespace), chosen(line))
        yield Sent("DELETE", one.path(namespace, name), {}, notes)
        if not (line.flag("no wait") or line.value("trial") not in ("", "none")):
            yield Sent(
                "GET", one.path(namespace, name), {}, (*notes, "if it is there still, a list and a watch of it follow")
            )


def _create(line: Line, words: tuple[str, ...], namespace: str) -> Iterator[Sent]:
    if words[:1] == ("token",):
        if len(words) < 2:
            raise ParseError("the name of the service account is missing")
        yield Sent("POST", Resource("serviceaccounts", "v1", namespaced=True).path(namespace, words[1], "token"))
        return
    target = next(targets(words[:1]))
    yield from noted(target, iter((Sent("POST", target.resource.path(namespace)),)))


def _change(line: Line, words: tuple[str, ...], namespace: str) -> Iterator[Sent]:
    yield from _of_each(_change_one)(line, _named(words), namespace)


def _named(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words before labels and the like."""
    return tuple(takewhile(lambda word: "=" not in word and not word.endswith("-"), words))


def _change_one(line: Line, target: Target, namespace: str) -> Iterator[Sent]:
    one = target.resource
    for name, notes in each(line, target, namespace, needed="what to change"):
        if notes:
            yield Sent("GET", one.path(namespace), chosen(line))
        else:
            yield Sent("GET", one.path(namespace, name))
        yield Sent("PATCH", one.path(namespace, name), {}, notes)


def _of_nodes(line: Line, words: tuple[str, ...], namespace: str) -> Iterator[Sent]:
    """cordon, uncordon, taint."""
    if words[:1] in (("node",), ("nodes",)):
        words = words[1:]
    names = _named(words)
    if not names:
        raise ParseError("the name of the node is missing")
    yield from _change(line, tuple(f"nodes/{name.rpartition('/')[2]}" for name in names), namespace)


def _drain(line: Line, words: tuple[str, ...], namespace: str) -> Iterator[Sent]:
    yield from _of_nodes(line, words, namespace)
    then = "each pod that is found is then evicted in its namespace: --verb create --resource pods/eviction"
    for word in words:
        node = word.rpartition("/")[2]
        selectors = {"fieldSelector": f"spec.nodeName={node}", "labelSelector": line.value("pods"), **_paged(line)}
        query = {key: value for key, value in selectors.items() if value}
        yield Sent("GET", "/api/v1/pods", query, (then,))


def _scale(line: Line, target: Target, namespace: str) -> Iterator[Sent]:
    if not target.name:
        raise ParseError("the name of what to scale is missing")
    yield Sent("GET", target.resource.path(namespace, target.name))
    yield Sent("PATCH", target.resource.path(namespace, target.name, "scale"))


def _rollout(line: Line, words: tuple[str, ...], namespace: str) -> Iterator[Sent]:
    action, rest = words[:1], words[1:]
    if action not in (("status",), ("restart",), ("pause",), ("resume",)):
        raise ParseError(f"kubectl rollout has status, restart, pause and resume here: {HOW}")
    for target in targets(rest):
        if not target.name:
            raise ParseError("the name of what is rolled out is missing")
        one, name = target.resource, target.name
        requests = [Sent("GET", one.path(namespace, name))]
        if action == ("status",):
            its = {"fieldSelector": f"metadata.name={name}"}
            watched = {**its, "resourceVersion": OF_THE_LIST, "watch": "true"}
            note = f"{OF_THE_LIST} stands for that of the list before"
            requests += [Sent("GET", one.path(namespace), its), Sent("GET", one.path(namespace), watched, (note,))]
        else:
            requests.append(Sent("PATCH", one.path(namespace, name)))
        yield from noted(target, iter(requests))


def _of_a_pod(subresource: str, method: str) -> Sends:
    def send(line: Line, words: tuple[str, ...], namespace: str) -> Iterator[Sent]:
        kind, slash, name = words[0].rpartition("/") if words else ("", "", "")
        if not name:
            raise ParseError("the name of the pod is missing")
        if slash and (found := resource(kind)) is not None and found.name != "pods":
            raise ParseError(f"which pods are those of {words[0]} depends on more than the line: name one of them")
        pods = Resource("pods", "v1", namespaced=True)
        yield Sent("GET", pods.path(namespace, name))
        yield Sent(method, pods.path(namespace, name, subresource))

    return send


def _top(line: Line, words: tuple[str, ...], namespace: str) -> Iterator[Sent]:
    kind = resource(words[0]) if words else None
    if kind is None or kind.name not in ("pods", "nodes"):
        raise ParseError("kubectl top has pods and nodes")
    metrics = Resource(kind.name, "metrics.k8s.io/v1beta1", kind.namespaced)
    query = {} if words[1:] else chosen(line)
    yield Sent("GET", metrics.path(namespace, *words[1:2]), query)
    if kind.name == "nodes":
        yield Sent("GET", kind.path(namespace, *words[1:2]), query)


def _auth(line: Line, words: tuple[str, ...], namespace: str) -> Iterator[Sent]:
    match words[:1]:
        case ("can-i",):
            review = "selfsubjectrulesreviews" if line.flag("list") else "selfsubjectaccessreviews"
            yield Sent("POST", f"/apis/authorization.k8s.io/v1/{review}")
        case ("whoami",):
            yield Sent("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews")
        case _:
            raise ParseError(f"kubectl auth has can-i and whoami here: {HOW}")


def _paths(*paths: str) -> Sends:
    def send(line: Line, words: tuple[str, ...], namespace: str) -> Iterator[Sent]:
        if words:
            raise ParseError(f"what `kubectl {line.words[0]} {words[0]}` sends is not known here: {HOW}")
        return (Sent("GET", path) for path in paths)

    return send


COMMANDS: Mapping[str, Sends] = {
    "get": _get,
    "describe": _of_each(_describe),
    "delete": _of_each(_delete),
    "create": _create,
    **dict.fromkeys(("patch", "label", "annotate", "edit"), _change),
    **dict.fromkeys(("cordon", "uncordon", "taint"), _of_nodes),
    "drain": _drain,
    "scale": _of_each(_scale),
    "rollout": _rollout,
    "logs": _of_a_pod("log", "GET"),
    # Older ones than 1.31 send a POST; flow control sees neither.
    "exec": _of_a_pod("exec", "GET"),
    "attach": _of_a_pod("attach", "GET"),
    "port-forward": _of_a_pod("portforward", "GET"),
    "top": _top,
    "auth": _auth,
    "version": _paths("/version"),
    "cluster-info": _paths(
        "/api/v1/namespaces/kube-system/services?labelSelector=kubernetes.io%2Fcluster-service%3Dtrue"
    ),
    "api-resources": _paths("/api", "/apis"),
    "api-versions": _paths("/api", "/apis"),
}
