"""Who asks, with the groups that every server adds, and what was taken for granted of it."""

from __future__ import annotations

from apftop.apf.identity import (
    ANONYMOUS,
    NODE_PREFIX,
    NODES,
    SERVICE_ACCOUNT_PREFIX,
    account_of,
    added_groups,
)
from apftop.records.parsed import ParseError

Who = tuple[str, tuple[str, ...], tuple[str, ...]]
"""User, all groups, notes."""


def identity(user: str | None, account: str | None, groups: tuple[str, ...]) -> Who:
    """The one who asks; `account` is a service account as NAMESPACE/NAME or by its user name.

    Given groups are added to those that its credentials have anyway. Raises ParseError for what names no account.
    """
    notes = []
    if account is not None:
        user = _user_of(account)
    if user is None:
        user = ANONYMOUS
        notes.append(f"nobody is named, so {ANONYMOUS} asks")
    if user.startswith(SERVICE_ACCOUNT_PREFIX) and account_of(user) is None:
        notes.append(f"no service account has this name, which is {SERVICE_ACCOUNT_PREFIX}NAMESPACE:NAME")
    if user.startswith(NODE_PREFIX) and NODES not in groups:
        groups = (*groups, NODES)
        notes.append(f"a node's certificate has the group {NODES}")
    every = added_groups(user, groups)
    if added := [one for one in every if one not in groups]:
        notes.append(f"every server adds {', '.join(added) if groups else f'these groups{_its_own(user)}'}")
    return user, every, tuple(notes)


def _its_own(user: str) -> str:
    """What is not known of somebody who is neither a service account nor anonymous."""
    return "" if user == ANONYMOUS or account_of(user) else "; those of its certificate or token are named besides"


def _user_of(account: str) -> str:
    namespace, slash, name = account.partition("/")
    user = f"{SERVICE_ACCOUNT_PREFIX}{namespace}:{name}" if slash else account
    if account_of(user) is None:
        raise ParseError(f"--as is a service account, as NAMESPACE/NAME, not {account!r}; for others use --user")
    return user
