"""The requests that a kubectl command line sends, as far as they are the same for everybody."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlencode

from apftop.apf.attributes import attributes
from apftop.apf.identity import added_groups
from apftop.classifying.resources import Resource, resource
from apftop.records.classified import Asked
from apftop.records.parsed import ParseError

PAGE = "500"
"""What kubectl asks for at a time: its --chunk-size."""

VALUED = {
    "-n": "namespace",
    "--namespace": "namespace",
    "-l": "selector",
    "--selector": "selector",
    "--field-selector": "fields",
    "--as": "user",
    "--as-group": "groups",
    "--raw": "raw",
    "--chunk-size": "chunk",
    "--request-timeout": "timeout",
    "--subresource": "subresource",
    **dict.fromkeys(
        ("-o", "--output", "-c", "--container", "--context", "--kubeconfig", "--cluster", "--user", "-s", "--server"),
        "",
    ),
    **dict.fromkeys(("-v", "--v", "--sort-by", "--tail", "--since", "-p", "--patch", "--type", "--replicas"), ""),
    **dict.fromkeys(("--token", "--image", "--grace-period", "--timeout", "--template", "-L", "--label-columns"), ""),
}
FLAGS = {
    "-A": "all",
    "--all-namespaces": "all",
    "-w": "watch",
    "--watch": "watch",
    "--watch-only": "only",
    "--all": "each",
}
HOW = "name the request instead: --verb and --resource, or --path"


@dataclass(frozen=True, slots=True)
class Line:
    """A command line taken apart: words without options, and the values of options that decide about requests."""

    words: tuple[str, ...]
    values: Mapping[str, tuple[str, ...]]

    def value(self, name: str) -> str:
        return next(iter(self.values.get(name, ())), "")

    def flag(self, name: str) -> bool:
        return name in self.values


Sent = tuple[str, str, Mapping[str, str]]
"""Method, path, query."""


def kubectl_requests(text: str, user: str, groups: tuple[str, ...], namespace: str = "default") -> tuple[Asked, ...]:
    """The requests of a line, in the order in which they are sent; `--as` in it comes before `user`.

    Raises ParseError for a line that it cannot read, or whose requests depend on more than it says.
    """
    line = _taken_apart(text)
    if line.value("user"):
        user, groups = line.value("user"), line.values.get("groups", ())
    if not line.words:
        raise ParseError(f"no kubectl command in {text!r}")
    command, words = line.words[0], line.words[1:]
    send = _COMMANDS.get(command)
    if send is None:
        raise ParseError(f"what `kubectl {command}` sends depends on more than the line: {HOW}")
    if any(name in line.values for name in ("-f", "--filename", "-k", "--kustomize")) and command not in ("logs",):
        raise ParseError(f"what `kubectl {command}` asks for stands in the file: {HOW}")
    ours = "" if line.flag("all") else line.value("namespace") or namespace
    asked: list[Asked] = []
    for method, path, query in send(line, words, ours):
        timeout = line.value("timeout")
        all_of_it = urlencode({**query, **({"timeout": timeout} if timeout and timeout != "0" else {})})
        bare, _, own = path.partition("?")
        whole = "&".join(part for part in (own, all_of_it) if part)
        found = attributes(method, unquote(bare), whole, user, added_groups(user, groups))
        asked.append(Asked(f"{method} {bare}" + (f"?{whole}" if whole else ""), found, whole))
    return tuple(asked)


def _taken_apart(text: str) -> Line:
    try:
        parts = shlex.split(text)
    except ValueError as error:
        raise ParseError(f"cannot read the line: {error}") from None
    parts = parts[1:] if parts[:1] == ["kubectl"] else parts
    words: list[str] = []
    values: dict[str, list[str]] = {}
    left = iter(parts)
    for part in left:
        if part == "--":
            break
        name, equals, value = part.partition("=")
        if not part.startswith("-") or part == "-":
            words.append(part)
        elif name in FLAGS:
            if value != "false":
                values.setdefault(FLAGS[name], [])
        elif name in VALUED:
            given = value if equals else next(left, None)
            if given is None:
                raise ParseError(f"{name} lacks its value")
            values.setdefault(VALUED[name], []).append(given)
        elif part[:2] in VALUED and not part.startswith("--"):
            values.setdefault(VALUED[part[:2]], []).append(part[2:].removeprefix("="))
        else:
            # Any other option is taken as one without a value: it changes no request that is told of here.
            values.setdefault(name, [])
    return Line(tuple(words), {name: tuple(its) for name, its in values.items()})


def _targets(words: tuple[str, ...]) -> Iterator[tuple[Resource, str]]:
    """Each resource with a name, or an empty one for all: `TYPE`, `TYPE NAME...`, `TYPE/NAME...`, `TYPE,TYPE`."""
    if not words:
        raise ParseError(f"a resource is missing: {HOW}")
    if "/" in words[0]:
        for word in words:
            kind, _, name = word.partition("/")
            yield _known(kind), name
        return
    for kind in words[0].split(","):
        for name in words[1:] or ("",):
            yield _known(kind), name


def _known(kind: str) -> Resource:
    found = resource(kind)
    if found is None:
        raise ParseError(f"{kind!r} is no resource of Kubernetes itself: name it as PLURAL.GROUP, or {HOW}")
    return found


def _get(line: Line, words: tuple[str, ...], namespace: str) -> Iterator[Sent]:
    if line.value("raw"):
        yield "GET", line.value("raw"), {}
        return
    for one, name in _targets(words):
        if name:
            path = one.path(namespace, name, line.value("subresource"))
            if not line.flag("only"):
                yield "GET", path, {}
            if line.flag("watch") or line.flag("only"):
                yield "GET", one.path(namespace), {"fieldSelector": f"metadata.name={name}", "watch": "true"}
            continue
        chosen = {"labelSelector": line.value("selector"), "fieldSelector": line.value("fields")}
        query = {key: value for key, value in chosen.items() if value}
        page = line.value("chunk") or PAGE
        if not line.flag("only"):
            yield "GET", one.path(namespace), {**query, **({"limit": page} if page != "0" else {})}
        if line.flag("watch") or line.flag("only"):
            yield "GET", one.path(namespace), {**query, "watch": "true"}


def _describe(line: Line, words: tuple[str, ...], namespace: str) -> Iterator[Sent]:
    for one, name in _targets(words):
        if not name:
            yield "GET", one.path(namespace), {"limit": PAGE}
            continue
        yield "GET", one.path(namespace, name), {}
        events = Resource("events", "v1", namespaced=True)
        yield "GET", events.path(namespace if one.namespaced else ""), {"fieldSelector": f"involvedObject.name={name}"}


def _delete(line: Line, words: tuple[str, ...], namespace: str) -> Iterator[Sent]:
    for one, name in _targets(words):
        if not name and not (line.flag("each") or line.value("selector")):
            raise ParseError("what to delete is missing: a name, -l or --all")
        yield "DELETE", one.path(namespace, name), {}


def _create(line: Line, words: tuple[str, ...], namespace: str) -> Iterator[Sent]:
    yield "POST", next(_targets(words[:1]))[0].path(namespace), {}


def _change(line: Line, words: tuple[str, ...], namespace: str) -> Iterator[Sent]:
    # What follows the first target are labels and the like.
    targets = words[:1] if words and "/" in words[0] else words[:2]
    for one, name in _targets(targets):
        if not name:
            raise ParseError("the name of what to change is missing")
        yield "GET", one.path(namespace, name), {}
        yield "PATCH", one.path(namespace, name), {}


def _scale(line: Line, words: tuple[str, ...], namespace: str) -> Iterator[Sent]:
    for one, name in _targets(words):
        yield "GET", one.path(namespace, name), {}
        yield "PATCH", one.path(namespace, name, "scale"), {}


def _of_a_pod(subresource: str, method: str) -> Callable[[Line, tuple[str, ...], str], Iterator[Sent]]:
    def send(line: Line, words: tuple[str, ...], namespace: str) -> Iterator[Sent]:
        if not words:
            raise ParseError("the name of the pod is missing")
        pods, name = Resource("pods", "v1", namespaced=True), words[0].rpartition("/")[2]
        yield "GET", pods.path(namespace, name), {}
        yield method, pods.path(namespace, name, subresource), {}

    return send


def _top(line: Line, words: tuple[str, ...], namespace: str) -> Iterator[Sent]:
    kind = resource(words[0]) if words else None
    if kind is None or kind.name not in ("pods", "nodes"):
        raise ParseError("kubectl top has pods and nodes")
    yield "GET", Resource(kind.name, "metrics.k8s.io/v1beta1", kind.namespaced).path(namespace, *words[1:2]), {}


def _auth(line: Line, words: tuple[str, ...], namespace: str) -> Iterator[Sent]:
    match words[:1]:
        case ("can-i",):
            yield "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {}
        case ("whoami",):
            yield "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}
        case _:
            raise ParseError(f"kubectl auth has can-i and whoami here: {HOW}")


def _paths(*paths: str) -> Callable[[Line, tuple[str, ...], str], Iterator[Sent]]:
    def send(line: Line, words: tuple[str, ...], namespace: str) -> Iterator[Sent]:
        for path in paths:
            yield "GET", path, {}

    return send


_COMMANDS: Mapping[str, Callable[[Line, tuple[str, ...], str], Iterator[Sent]]] = {
    "get": _get,
    "describe": _describe,
    "delete": _delete,
    "create": _create,
    **dict.fromkeys(("patch", "label", "annotate", "edit"), _change),
    "scale": _scale,
    "logs": _of_a_pod("log", "GET"),
    "exec": _of_a_pod("exec", "POST"),
    "attach": _of_a_pod("attach", "POST"),
    "port-forward": _of_a_pod("portforward", "POST"),
    "top": _top,
    "auth": _auth,
    "version": _paths("/version"),
    "api-resources": _paths("/api", "/apis"),
    "api-versions": _paths("/api", "/apis"),
}
