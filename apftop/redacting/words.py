"""Names that are made of others: users, groups, paths, versions, queries, and what labels hold."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode

from apftop.apf.identity import ACCOUNTS, NODE_PREFIX, SERVICE_ACCOUNT_PREFIX
from apftop.redacting.pseudonyms import Kind, Naming, kept, staying

_VERSION = re.compile(r"v\d+(?:(?:alpha|beta)\d+)?|\*|__internal")
_PLAIN = re.compile(
    r"[0-9]{0,24}|(?:[0-9]+(?:\.[0-9]+)?(?:[mun]s|[hms])){1,4}|"
    r"true|false|Exact|NotOlderThan|All|Foreground|Background|Orphan"
)
_CAMEL = re.compile(r"[A-Z][A-Za-z0-9]{1,80}")
_NUMBER = re.compile(r"[+-]?(?:Inf|NaN|[0-9]+(?:\.[0-9]*)?(?:e[+-]?[0-9]+)?)\+?|")
_CONSTANT = re.compile(r"[A-Za-z-]{0,40}")
_WORD = re.compile(r"[A-Za-z0-9][\w.+:/-]{0,80}|")
_KEPT_QUERY = (
    *("limit", "resourceVersion", "resourceVersionMatch", "timeoutSeconds", "timeout", "watch", "dryRun", "follow"),
    *("allowWatchBookmarks", "sendInitialEvents", "pretty", "propagationPolicy", "gracePeriodSeconds"),
)
_TYPES = (
    *("admit", "validate", "regular", "watch", "apiserver", "cluster", "namespace", "resource"),
    *("ALPHA", "BETA", "DEPRECATED"),
)
_FIELDS = {
    "metadata.name": Kind.OBJECT,
    "metadata.namespace": Kind.NAMESPACE,
    "spec.nodeName": Kind.OBJECT,
    "involvedObject.name": Kind.OBJECT,
    "involvedObject.namespace": Kind.NAMESPACE,
}


def user(name: str, naming: Naming) -> str:
    """A user: of service accounts namespace and name, of nodes the name, else the whole."""
    if name.startswith(SERVICE_ACCOUNT_PREFIX):
        namespace, colon, account = name.removeprefix(SERVICE_ACCOUNT_PREFIX).partition(":")
        return f"{SERVICE_ACCOUNT_PREFIX}{naming(Kind.NAMESPACE, namespace)}{colon}{naming(Kind.OBJECT, account)}"
    for front in (NODE_PREFIX, "system:bootstrap:"):
        if name.startswith(front):
            return front + naming(Kind.OBJECT, name.removeprefix(front))
    return naming(Kind.USER, name)


def group(name: str, naming: Naming) -> str:
    """A group: of the service accounts of a namespace this, else the whole."""
    if name.startswith(f"{ACCOUNTS}:"):
        return f"{ACCOUNTS}:{naming(Kind.NAMESPACE, name.removeprefix(f'{ACCOUNTS}:'))}"
    return naming(Kind.GROUP, name)


def version(text: str, naming: Naming) -> str:
    """A group and version such as `apps/v1`, or a version alone."""
    head, slash, last = text.rpartition("/")
    return f"{naming(Kind.API_GROUP, head)}{slash}{_version(last, naming)}"


def _version(text: str, naming: Naming) -> str:
    return text if not text or _VERSION.fullmatch(text) else naming(Kind.LABEL, text)


def resource(text: str, naming: Naming) -> str:
    """A resource, with its subresource where it has one."""
    head, slash, below = text.partition("/")
    return f"{naming(Kind.RESOURCE, head)}{slash}{naming(Kind.SUBRESOURCE, below)}"


def verb(text: str, naming: Naming) -> str:
    """A verb of requests or of metrics."""
    return text if text.lower() in staying(Kind.VERB) else naming(Kind.VERB, text)


def named(name: str, of: str, naming: Naming) -> str:
    """The name of an object of a resource."""
    return naming(Kind.NAMESPACE if of == "namespaces" else Kind.OBJECT, name)


def path(text: str, naming: Naming) -> str:
    """A path without its query (decoded): what it says of a resource, or as a whole."""
    front = text[: len(text) - len(text.lstrip("/"))]
    parts = text.removeprefix(front).split("/")
    if text in kept().paths:
        return text
    at = {"api": 1, "apis": 2}.get(parts[0]) if front else None
    if at is None:
        made = naming(Kind.PATH, text)
        return made if front else made.removeprefix("/")
    if parts[0] == "apis" and len(parts) > 1:
        parts[1] = naming(Kind.API_GROUP, parts[1])
    if len(parts) > at:
        parts[at] = _version(parts[at], naming)
    return front + "/".join((*parts[: at + 1], *_below(parts[at + 1 :], naming)))


def _below(parts: list[str], naming: Naming) -> list[str]:
    """What follows the version: `watch` or `proxy`, a namespace, a resource, a name, a subresource, and more."""
    made: list[str] = []
    if parts and parts[0] in ("watch", "proxy"):
        made.append(parts.pop(0))
    if parts[:1] == ["namespaces"] and len(parts) > 1:
        made += [parts[0], naming(Kind.NAMESPACE, parts[1])]
        if len(parts) > 2 and parts[2] not in ("status", "finalize"):
            parts = parts[2:]
        else:
            # The namespace itself is what is asked for.
            return made + [naming(Kind.SUBRESOURCE, one) for one in parts[2:3]] + _rest(parts[3:], naming)
    if parts:
        made.append(naming(Kind.RESOURCE, parts[0]))
    if len(parts) > 1:
        made.append(named(parts[1], parts[0], naming))
    if len(parts) > 2:
        made.append(naming(Kind.SUBRESOURCE, parts[2]))
    return made + _rest(parts[3:], naming)


def _rest(parts: list[str], naming: Naming) -> list[str]:
    return [naming(Kind.LABEL, one) for one in parts]


def path_rule(text: str, naming: Naming) -> str:
    """A path of a rule, which may end with `*`."""
    if text in kept().paths:
        return text
    star = "*" if text.endswith("*") else ""
    return path(text.removesuffix("*").rstrip("/") or "/", naming) + ("/*" if star else "")


def query(text: str, naming: Naming) -> str:
    """A query: what decides how much is asked for stays, what selects by names or labels does not."""
    return urlencode([(key, _value(key, value, naming)) for key, value in parse_qsl(text, keep_blank_values=True)])


def _value(key: str, value: str, naming: Naming) -> str:
    if key in _KEPT_QUERY and _PLAIN.fullmatch(value):
        return value
    if key == "fieldSelector":
        return ",".join(_field(one, naming) for one in value.split(","))
    return naming(Kind.LABEL, value)


def _field(text: str, naming: Naming) -> str:
    found = re.fullmatch(r"([A-Za-z.]+)(!=|==|=)(.*)", text)
    if found and found[1] in _FIELDS:
        return f"{found[1]}{found[2]}{naming(_FIELDS[found[1]], found[3])}"
    return naming(Kind.LABEL, text)


def host(text: str, naming: Naming) -> str:
    """A server, by the name or the address by which it is known; that of federated data has two parts."""
    return "/".join(naming(Kind.SERVER, one) for one in text.split("/"))


def label_name(text: str, naming: Naming) -> str:
    """The name of a label; one that no server gives may tell who runs it."""
    known = any(text in names for names in kept().labels.values())
    return text if known else f"label_{naming(Kind.LABEL, text).rpartition('-')[2]}" if text else text


def label_value(family: str, name: str, text: str, naming: Naming) -> str:
    """What a label of a family holds."""
    kind = next((kind for kind, names in kept().labels.items() if name in names), "")
    match kind:
        case "schema":
            return naming(Kind.SCHEMA, text)
        case "level":
            return naming(Kind.LEVEL, text)
        case "verb":
            return verb(text, naming)
        case "api_group":
            return naming(Kind.API_GROUP, text)
        case "resource":
            return resource(text, naming)
        case "subresource":
            return path(text, naming) if text.startswith("/") else naming(Kind.SUBRESOURCE, text)
        case "server":
            return naming(Kind.SERVER, text)
        case "number" if _NUMBER.fullmatch(text):
            return text
        case "word" if _CONSTANT.fullmatch(text):
            return text
        case "build" if _WORD.fullmatch(text) and family.endswith("build_info"):
            return text
        case "version":
            return _version(text, naming)
        case "type":
            return text if text in staying(Kind.RESOURCE) or text in _TYPES else naming(Kind.LABEL, text)
        case "name":
            # Feature gates and admission plugins are named so, webhooks are not.
            return text if _CAMEL.fullmatch(text) and "webhook" not in family else naming(Kind.WEBHOOK, text)
    return naming(Kind.LABEL, text)
