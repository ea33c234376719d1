"""Names of users and groups that servers give out, and the groups that follow from them (1.26 to 1.37)."""

from __future__ import annotations

import re

ANONYMOUS = "system:anonymous"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
ACCOUNTS = "system:serviceaccounts"
MASTERS = "system:masters"
NODES = "system:nodes"
NODE_PREFIX = "system:node:"
SERVICE_ACCOUNT_PREFIX = "system:serviceaccount:"

_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def account_of(user: str) -> tuple[str, str] | None:
    """Namespace and name of a service account's user name; None for any other user, also one that only looks like it.

    Servers read the name so too when it is impersonated.
    """
    if not user.startswith(SERVICE_ACCOUNT_PREFIX):
        return None
    namespace, _, name = user.removeprefix(SERVICE_ACCOUNT_PREFIX).partition(":")
    return (namespace, name) if _NAMESPACE.fullmatch(namespace) and _NAME.fullmatch(name) else None


def added_groups(user: str, groups: tuple[str, ...] = ()) -> tuple[str, ...]:
    """All groups of a user with those given by its credentials: every server adds the other ones.

    Anonymous requests are in `system:unauthenticated` and all others in `system:authenticated`; service accounts are in
    `system:serviceaccounts` and that of their namespace.
    """
    added = [*groups]
    account = account_of(user)
    if account is not None:
        added += [ACCOUNTS, f"{ACCOUNTS}:{account[0]}"]
    if UNAUTHENTICATED not in groups and AUTHENTICATED not in groups:
        added.append(UNAUTHENTICATED if user == ANONYMOUS else AUTHENTICATED)
    return tuple(dict.fromkeys(added))


def impersonated_groups(user: str, groups: tuple[str, ...] = ()) -> tuple[str, ...]:
    """All groups of a user who is impersonated with some, as measured on 1.30 and 1.37.

    Unlike those who authenticate, service accounts are in no group of accounts where any group is given, and
    `system:anonymous` is in `system:unauthenticated` whatever is given. With no group given, 1.37 takes nodes for
    members of `system:nodes` at times; this does not.
    """
    if user == ANONYMOUS:
        return tuple(dict.fromkeys((*groups, UNAUTHENTICATED)))
    if not groups:
        return added_groups(user)
    return groups if UNAUTHENTICATED in groups else tuple(dict.fromkeys((*groups, AUTHENTICATED)))


def groups_by_name(user: str) -> tuple[str, ...]:
    """The groups of a user by its name alone: those that servers add, and that of every node's certificate."""
    return added_groups(user, (NODES,) if user.startswith(NODE_PREFIX) and user != NODE_PREFIX else ())
