"""A request by its resource, as people name one, and what was taken for granted of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from apftop.apf.attributes import Attributes
from apftop.classifying.by_path import METHODS
from apftop.classifying.resources import of_plural, resource
from apftop.records.parsed import ParseError

VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "proxy")
ACROSS = ("list", "watch")
"""The verbs that a resource of namespaces has without one."""

SUBRESOURCES = (
    *("approval", "attach", "binding", "ephemeralcontainers", "eviction", "exec", "finalize", "log", "portforward"),
    *("proxy", "resize", "scale", "status", "token"),
)
_VERSION = re.compile(r"v[0-9]+((alpha|beta)[0-9]+)?\.")


@dataclass(frozen=True, slots=True)
class Named:
    """A resource as it was named: `group` is None where nobody said, empty for the core group."""

    plural: str
    subresource: str
    group: str | None


def by_resource(
    verb: str,
    text: str,
    group: str | None,
    namespace: str,
    name: str,
    user: str,
    groups: tuple[str, ...],
) -> tuple[Attributes, tuple[str, ...]]:
    """The request, and notes.

    `text` is `pods`, `pods/status`, `deployments.apps`, `deployments.v1.apps`, `deployments.apps/scale`, or a short
    name of Kubernetes' own; `group` is None where it is not given besides. Raises ParseError where there is no such
    request.
    """
    named, notes = _group_of(_taken_apart(text, group))
    notes += _also_said(named)
    scoped = of_plural(named.plural).get(named.group or "")
    its_verb = _verb(verb, named=name != "")
    if its_verb != verb.lower():
        notes.append(f"{verb} is the verb {its_verb}")
    if bad := next((one for one in (namespace, name) if "/" in one or "%" in one), ""):
        raise ParseError(f"nothing is named {bad!r}: names have no / and no %")
    if its_verb == "deletecollection" and name:
        raise ParseError(f"what deletes {name!r} alone has the verb delete")
    is_namespace = named.plural == "namespaces" and not named.group
    if is_namespace and name and named.subresource in ("", "status", "finalize") and not namespace:
        namespace = name
        notes.append(f"servers take the namespace {name} to be in itself")
    elif scoped is False and namespace and not is_namespace:
        raise ParseError(f"{named.plural} have no namespace: leave {namespace!r} out")
    elif scoped and not namespace and its_verb not in ACROSS:
        notes.append(f"no namespace is given, and outside of one there is no {its_verb} of {named.plural}")
    request = Attributes(
        user,
        groups,
        its_verb,
        "",
        resource_request=True,
        api_group=named.group or "",
        namespace=namespace,
        resource=named.plural,
        subresource=named.subresource,
        name=name,
    )
    return request, tuple(notes)


def _verb(verb: str, *, named: bool) -> str:
    """The verb of a request; an HTTP method in capitals is what a server makes of it."""
    made = {"POST": "create", "PUT": "update", "HEAD": "get"}.get(verb.upper(), verb.lower())
    if verb == "GET":
        made = "get" if named else "list"
    if verb == "DELETE":
        made = "delete" if named else "deletecollection"
    if made not in VERBS:
        raise ParseError(f"unknown verb {verb!r}: one of {', '.join(VERBS)}, or of {', '.join(METHODS[:6])}")
    return made


def _taken_apart(text: str, group: str | None) -> Named:
    head, _, subresource = text.strip("/").partition("/")
    plural, _, own = head.lower().partition(".")
    if not own and subresource:
        subresource, _, own = subresource.partition(".")
    own = _VERSION.sub("", own, count=1)
    if not plural or "/" in subresource:
        raise ParseError(f"{text!r} is no resource: name it as pods, pods/status or deployments.apps")
    if own and group is not None and own != group:
        raise ParseError(f"{text} is of the API group {own}, not of {group or 'the core group'}")
    return Named(plural, subresource, own or group)


def _group_of(named: Named) -> tuple[Named, list[str]]:
    """The resource by its own name and with its group, where they are known."""
    known = resource(named.plural)
    if known is None:
        if named.group is None:
            where = f"taken as one of the core group: name it as {named.plural}.GROUP"
            return named, [f"{named.plural} is not known here, and {where}"]
        return named, []
    its_group = known.api_version.rpartition("/")[0]
    if named.group is not None and named.group not in of_plural(known.name):
        return named, []
    notes = [f"{named.plural} stands for {known.name}"] if known.name != named.plural else []
    if named.group is not None:
        return Named(known.name, named.subresource, named.group), notes
    if its_group:
        notes.append(f"{known.name} are of the API group {its_group}")
    if others := [other for other in of_plural(known.name) if other != its_group]:
        notes.append(f"there are {known.name} in the API group {', '.join(others)} too")
    return Named(known.name, named.subresource, its_group), notes


def _also_said(named: Named) -> list[str]:
    """What a person may not have meant."""
    notes = []
    groups = of_plural(named.plural)
    if groups and named.group not in groups:
        its = ", ".join(group or "the core group" for group in groups)
        notes.append(f"Kubernetes has {named.plural} in {its}, not in {named.group or 'the core group'}")
    if groups and named.subresource and named.subresource not in SUBRESOURCES:
        notes.append(f"{named.subresource} is taken as a subresource: the name of an object is given apart")
    return notes
