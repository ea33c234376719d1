"""A narrow policy to start from: a small level of its own for the reads of one account in one namespace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from apftop.apf.builtins import builtin_levels, builtin_schemas
from apftop.apf.identity import account_of
from apftop.apf.release import Release
from apftop.classifying.resources import of_plural
from apftop.findings.changes.patches import a_level, a_schema, user_subject
from apftop.parse.objects import GROUP

SHARES = 5
"""Few seats, and none of them lent or borrowed: what one batch reader needs, and what it can take from others."""

PRECEDENCE = 1000
"""Before `service-accounts` (9000), and behind all built-in schemas of the control plane (100 to 900)."""

KUBE_SYSTEM_PRECEDENCE = 890
"""Before `kube-system-service-accounts` (900), which matches all accounts of that namespace."""

READS = ("pods", "deployments.apps")
SINCE, V1_SINCE = Release(1, 26), Release(1, 29)
_ACCOUNT = "system:serviceaccount"


@dataclass(frozen=True, slots=True)
class Wish:
    """Whose lists are meant, of what (API group and plural) in which namespace, and the name of level and schema."""

    user: str
    namespace: str
    resources: tuple[tuple[str, str], ...]
    name: str
    target: Release

    @property
    def account(self) -> tuple[str, str] | None:
        """Namespace and name of a service account; None for any other user."""
        return account_of(self.user)


def wish_of(user: str, namespace: str | None, resources: Sequence[str], name: str, target: Release) -> Wish:
    """What the options ask for; raises UsageError where no policy can be made of them."""
    account = account_of(user)
    if account is None and (user == _ACCOUNT or user.startswith(f"{_ACCOUNT}:")):
        raise click.UsageError(f"a service account is system:serviceaccount:NAMESPACE:NAME, not {user!r}")
    within = namespace or (account[0] if account else None)
    if within is None:
        raise click.UsageError(
            "--starter for a user that is no service account needs --namespace: whose objects it lists"
        )
    if "*" in (user, within):
        raise click.UsageError("--starter is for one account in one namespace, and not for *")
    if target < SINCE:
        raise click.UsageError(f"--starter needs Kubernetes {SINCE.major}.{SINCE.minor} or newer")
    if name in builtin_levels() or name in builtin_schemas(target):
        raise click.UsageError(f"--name {name} is the name of a built-in object: give another")
    return Wish(user, within, tuple(dict.fromkeys(map(_resource, resources or READS))), name, target)


def starter(wish: Wish) -> tuple[dict[str, Any], ...]:
    """The level and the schema. Lists of the resources in that namespace alone are matched.

    A list over all namespaces is not: it stays where it is today.
    """
    version = f"{GROUP}/{'v1' if wish.target >= V1_SINCE else 'v1beta3'}"
    groups: dict[str, list[str]] = {}
    for group, plural in wish.resources:
        groups.setdefault(group, []).append(plural)
    rules = [
        {
            "verbs": ["list"],
            "apiGroups": [group],
            "resources": plurals,
            "namespaces": [wish.namespace],
            "clusterScope": False,
        }
        for group, plurals in groups.items()
    ]
    subjects = [user_subject(wish.user)]
    level = a_level(wish.name, SHARES)
    schema = a_schema(wish.name, wish.name, precedence(wish), subjects, resource_rules=rules)
    return tuple({"apiVersion": version, **one} for one in (level, schema))


def precedence(wish: Wish) -> int:
    """Where the schema is tried: before the built-in one that has the account today."""
    return KUBE_SYSTEM_PRECEDENCE if wish.account and wish.account[0] == "kube-system" else PRECEDENCE


def _resource(text: str) -> tuple[str, str]:
    """The API group and plural of `pods`, `deployments.apps` or `deployments`."""
    plural, dot, group = text.partition(".")
    known = of_plural(plural)
    if not plural or "/" in text or "*" in text:
        raise click.UsageError(f"--resource is a plural such as pods or deployments.apps, not {text!r}")
    if not dot:
        if not known:
            raise click.UsageError(f"--resource {text}: say its API group too, as in {text}.GROUP")
        group = "" if "" in known else next(iter(known))
    if known.get(group) is False:
        raise click.UsageError(f"--resource {text} has no namespace, and a list of it is no small read")
    return group, plural
