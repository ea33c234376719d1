"""Which requests wait for which callbacks while they execute: admission webhooks and aggregated APIs."""

from __future__ import annotations

from apftop.apf.identity import account_of
from apftop.records.backend import Callback, CallbackRule
from apftop.records.frame import Request

OPERATIONS = {
    "create": ("CREATE",),
    "update": ("UPDATE",),
    # Server-side apply patches what is not there yet: it is then a creation.
    "patch": ("UPDATE", "CREATE"),
    "delete": ("DELETE",),
    "deletecollection": ("DELETE",),
}
"""The operations of admission that a request verb may be; reads are not admitted."""


def intercepts(callback: Callback, row: Request) -> bool:
    """Whether a server calls this service for that request, as far as rules tell (selectors are not known).

    As admissionregistration.k8s.io/v1 reads them: `pods` is without its subresources, `pods/*` is with them, `*` all
    resources without, `*/*` all with.
    """
    if not row.verb or not row.resource:
        return False
    if callback.kind == "apiservice":
        return any(_group(row) in rule.groups for rule in callback.rules)
    operations = OPERATIONS.get(row.verb, ())
    return any(
        ("*" in rule.operations or any(one in rule.operations for one in operations)) and _about(rule, row)
        for rule in callback.rules
        if operations
    )


def _about(rule: CallbackRule, row: Request) -> bool:
    if "*" not in rule.groups and _group(row) not in rule.groups:
        return False
    return any(_resource(one, row) for one in rule.resources)


def _resource(pattern: str, row: Request) -> bool:
    resource, _, subresource = pattern.partition("/")
    return resource in ("*", row.resource) and subresource in ("*", row.subresource or "")


def _group(row: Request) -> str:
    return (row.api_version or "").rpartition("/")[0]


def account(user: str | None) -> tuple[str, str] | None:
    """The namespace and name of a service account; None for other users."""
    return account_of(user or "")
