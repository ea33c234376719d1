"""The requests that the command line asks about: by flags, by a kubectl line, or in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from apftop.apf.durations import go_duration_ns
from apftop.classifying.by_path import by_path
from apftop.classifying.by_resource import by_resource
from apftop.classifying.costs import CHANGES, LISTS, timeout_text
from apftop.classifying.identity import identity
from apftop.classifying.kubectl_line import kubectl_requests
from apftop.classifying.requests_file import read_requests
from apftop.classifying.saved import saved_requests
from apftop.errors import Trouble
from apftop.records.classified import Asked
from apftop.records.parsed import ParseError

WAYS = {"resource": "--resource", "url_path": "--path", "kubectl": "--kubectl", "requests": "--requests"}
"""The flags that name a request; one of them is given, or none for the requests of a bundle."""

FLAGS = {
    "user": "--user",
    "account": "--as",
    "groups": "--group",
    "verb": "--verb",
    "api_group": "--api-group",
    "namespace": "--namespace",
    "object_name": "--name",
    "timeout": "--timeout",
}
"""What says more of a request, and which of them each way takes."""

TAKES = {
    "resource": tuple(FLAGS),
    "url_path": ("user", "account", "groups", "verb", "timeout"),
    "kubectl": ("user", "account", "groups", "namespace"),
    "requests": (),
}


def requests_asked(path: Path | None, options: Mapping[str, Any]) -> tuple[Asked, ...]:
    """The requests in question.

    Raises ParseError for flags that name none, or contradict each other, and Trouble for a file that cannot be read.
    """
    way = _way(options)
    # A file says it all itself, which _way has seen to.
    who = identity(options["user"], options["account"], options["groups"]) if way != "requests" else ("", (), ())
    match way:
        case "resource":
            found: tuple[Asked, ...] = (_by_resource(options, *who),)
        case "url_path":
            found = (_by_path(options, *who),)
        case "kubectl":
            found = _by_kubectl(options, *who)
        case _:
            found = _in_file(path, options["requests"])
    _costs_fit(found, options)
    return found


def _way(options: Mapping[str, Any]) -> str:
    """The flag that names the request. Raises ParseError for two of them, and for flags that go with another."""
    ways = [name for name in WAYS if options[name] is not None]
    if len(ways) > 1:
        raise ParseError(f"{WAYS[ways[0]]} and {WAYS[ways[1]]} each name a request: give one of them")
    if options["user"] is not None and options["account"] is not None:
        raise ParseError("--user and --as both say who asks: give one of them")
    for name in ("user", "groups", "namespace", "object_name"):
        # As a variable of a shell is that nobody set.
        if options[name] == "" or (name == "groups" and "" in options[name]):
            raise ParseError(f"{FLAGS[name]} is empty: name one, or leave it out")
    way = ways[0] if ways else "requests"
    for name, flag in FLAGS.items():
        if options[name] in (None, ()) or name in TAKES[way]:
            continue
        if not ways:
            raise ParseError(f"{flag} is given, but no request: give --verb and --resource, --path, or --kubectl")
        if way == "requests":
            raise ParseError(f"{flag} does not go with --requests: the file says it of each request")
        told = (
            "give --request-timeout in the line" if (way, name) == ("kubectl", "timeout") else "leave one of them out"
        )
        raise ParseError(f"{flag} does not go with {WAYS[way]}: {told}")
    return way


def _by_resource(options: Mapping[str, Any], user: str, groups: tuple[str, ...], notes: tuple[str, ...]) -> Asked:
    if options["verb"] is None:
        raise ParseError("--resource needs --verb, such as list")
    found, more = by_resource(
        options["verb"],
        options["resource"],
        options["api_group"],
        options["namespace"] or "",
        options["object_name"] or "",
        user,
        groups,
    )
    return Asked(f"{found.verb} {options['resource']}", found, _with_timeout("", options["timeout"]), (*notes, *more))


def _by_path(options: Mapping[str, Any], user: str, groups: tuple[str, ...], notes: tuple[str, ...]) -> Asked:
    url, timeout, verb = options["url_path"], options["timeout"], options["verb"] or "GET"
    # What stands behind # stays with the client.
    path, _, query = url.partition("#")[0].partition("?")
    found, query = by_path(verb, path, query, user, groups)
    if timeout and (own := timeout_text(Asked("", found, query))):
        raise ParseError(f"the path has the timeout {own} already: leave --timeout out")
    return Asked(f"{verb.upper()} {url}", found, _with_timeout(query, timeout), notes)


def _with_timeout(query: str, timeout: str | None) -> str:
    if timeout is None:
        return query
    if go_duration_ns(timeout) is None:
        raise ParseError(f"--timeout is a duration such as 10s, not {timeout!r}")
    return "&".join(part for part in (query, f"timeout={timeout}") if part)


def _by_kubectl(
    options: Mapping[str, Any], user: str, groups: tuple[str, ...], notes: tuple[str, ...]
) -> tuple[Asked, ...]:
    found = kubectl_requests(options["kubectl"], user, groups, options["namespace"])
    # Who the line impersonates is nobody of whom the notes speak.
    return tuple(replace(one, notes=(*notes, *one.notes)) if one.request.user == user else one for one in found)


def _in_file(path: Path | None, file: Path | None) -> tuple[Asked, ...]:
    """The requests of `--requests`, else those that lie in a bundle."""
    try:
        found = read_requests(file.read_bytes()) if file else saved_requests(path) if path else None
    except ParseError as error:
        raise Trouble("the requests cannot be read", str(file or path), str(error)) from error
    except OSError as error:
        raise Trouble("the requests cannot be read", str(file or path), (error.strerror or "").lower()) from error
    if found is None:
        raise ParseError("name a request: --verb and --resource, --path, --kubectl, or --requests FILE")
    if not found:
        raise Trouble("there is no request", str(file or path), "a request has user and verb, and path or resource")
    return found


def _costs_fit(found: tuple[Asked, ...], options: Mapping[str, Any]) -> None:
    """Whether what is told of stored objects can matter. Raises ParseError."""
    verbs = {one.request.verb for one in found}
    if options["bytes_each"] is not None and options["stored"] is None:
        raise ParseError("--bytes-each goes with --stored")
    if options["stored"] is not None and verbs.isdisjoint(LISTS):
        raise ParseError("--stored is for requests with the verb list or watch")
    if options["watchers"] is not None and verbs.isdisjoint(CHANGES):
        raise ParseError(f"--watchers is for requests with one of the verbs {', '.join(CHANGES)}")
