"""Webhook configurations and APIServices: the services in the cluster that API servers call while they serve."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from apftop.parse.documents import Item, read_documents
from apftop.parse.fields import FieldError, Node
from apftop.records.backend import Callback, CallbackRule
from apftop.records.parsed import ParseError

ADMISSION = "admissionregistration.k8s.io"
AGGREGATION = "apiregistration.k8s.io"
WEBHOOKS: dict[str, Literal["validating", "mutating"]] = {
    "ValidatingWebhookConfiguration": "validating",
    "MutatingWebhookConfiguration": "mutating",
}
KINDS = (*WEBHOOKS, "APIService")

DEFAULT_TIMEOUT_S = 10
LONGEST_TIMEOUT_S = 30
"""Of admissionregistration.k8s.io/v1: what a webhook without `timeoutSeconds` has, and the most that one may have."""

POLICIES = ("Fail", "Ignore")


@dataclass(frozen=True, slots=True)
class Callbacks:
    """What one file or answer tells of callbacks, and what in it could not be read."""

    callbacks: tuple[Callback, ...]
    problems: tuple[str, ...]


def parse_callbacks(body: bytes) -> Callbacks:
    """Read any mix of webhook configurations and APIServices; an empty list says that there are none.

    Only what leads to a service in the cluster is a callback: webhooks by URL and APIs that a server has itself are
    not. Raises ParseError where the body holds no such objects but others, or none that can be read.
    """
    items, said = read_documents(body)
    problems = list(said)
    found: list[Callback] = []
    others: set[str] = set()
    read = 0
    for item in items:
        if not _known(item):
            others.add(item.kind)
            continue
        read += 1
        for one in _callbacks(item):
            if isinstance(one, Callback):
                found.append(one)
            else:
                problems.append(one)
    if others and not read:
        raise ParseError(f"no webhook configuration or APIService but {', '.join(sorted(others))}")
    return Callbacks(tuple(dict.fromkeys(found)), tuple(problems))


def _known(item: Item) -> bool:
    group = item.api_version.rpartition("/")[0]
    return item.kind in KINDS and group == (AGGREGATION if item.kind == "APIService" else ADMISSION)


def _callbacks(item: Item) -> Iterator[Callback | str]:
    """The callbacks of one object, and a sentence for each that cannot be read."""
    label = item.kind + (f" ({item.place})" if item.place else "")
    try:
        root = Node(item.fields)
        name = root.required("metadata").text("name")
        label = f"{item.kind}/{name}"
        if item.kind == "APIService":
            yield from _apiservice(root, name)
            return
        webhooks = root.nodes("webhooks")
    except FieldError as error:
        yield f"{label}: {error}"
        return
    for webhook in webhooks:
        try:
            yield from _webhook(webhook, WEBHOOKS[item.kind], name)
        except FieldError as error:
            yield f"{label}: {error}"


def _webhook(webhook: Node, kind: Literal["validating", "mutating"], config: str) -> Iterator[Callback]:
    service = webhook.required("clientConfig").node("service")
    if service is None:
        return
    yield Callback(
        kind=kind,
        config=config,
        name=webhook.text("name"),
        namespace=service.text("namespace"),
        service=service.text("name"),
        timeout_s=_timeout_s(webhook),
        fails_closed=_fails_closed(webhook),
        rules=tuple(_rule(rule) for rule in webhook.nodes("rules")),
    )


def _timeout_s(webhook: Node) -> float:
    seconds = webhook.integer("timeoutSeconds")
    if seconds is None:
        return float(DEFAULT_TIMEOUT_S)
    if not 0 < seconds <= LONGEST_TIMEOUT_S:
        raise FieldError(f"{webhook.at('timeoutSeconds')} is {seconds}, not between 1 and {LONGEST_TIMEOUT_S}")
    return float(seconds)


def _fails_closed(webhook: Node) -> bool:
    policy = webhook.text("failurePolicy", "Fail")
    if policy not in POLICIES:
        raise FieldError(f"{webhook.at('failurePolicy')} is {policy[:60]!r}, neither Fail nor Ignore")
    return policy == "Fail"


def _rule(rule: Node) -> CallbackRule:
    return CallbackRule(rule.texts("operations"), rule.texts("apiGroups"), rule.texts("resources"))


def _apiservice(root: Node, name: str) -> Iterator[Callback]:
    """All requests for the group and version go to the service; a server's own group has none."""
    spec = root.required("spec")
    service = spec.node("service")
    if service is not None:
        yield Callback(
            kind="apiservice",
            config=name,
            name=name,
            namespace=service.text("namespace"),
            service=service.text("name"),
            rules=(CallbackRule(("*",), (spec.text("group", ""),), ("*",)),),
        )
