"""The groups that a user is in whatever its credentials say: those that every server adds (1.26 to 1.37)."""

from __future__ import annotations

ANONYMOUS = "system:anonymous"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
ACCOUNTS = "system:serviceaccounts"
MASTERS = "system:masters"
NODES = "system:nodes"
NODE_PREFIX = "system:node:"
_ACCOUNT_PREFIX = "system:serviceaccount:"


def account_of(user: str) -> tuple[str, str] | None:
    """Namespace and name of a service account's user name; None for any other user."""
    if not user.startswith(_ACCOUNT_PREFIX):
        return None
    namespace, _, name = user.removeprefix(_ACCOUNT_PREFIX).partition(":")
    return (namespace, name) if namespace and name and ":" not in name else None


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
