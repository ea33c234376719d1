"""Which subjects of rules mean each request that others mean, and which may mean one together (1.26 to 1.37).

It goes by what API servers give out; `containment` says what that takes for granted.
"""

from __future__ import annotations

from functools import cache

from apftop.apf.identity import (
    ACCOUNTS,
    ANONYMOUS,
    AUTHENTICATED,
    SERVICE_ACCOUNT_PREFIX,
    UNAUTHENTICATED,
    account_of,
    groups_by_name,
)
from apftop.apf.objects import Subject

EVERYBODY = "*"

Key = str
"""Who is meant: `*`, or `u`, `g` or `s` before the name of a user, a group, or the namespace of service accounts."""


USER = "u"
"""How the key of a single user begins: two of them that differ mean different requests."""


def key_of(subject: Subject) -> Key:
    """Who is meant; two subjects that mean the same users have the same key."""
    if subject.kind == "ServiceAccount":
        if subject.name == "*":
            return "s" + subject.namespace
        return f"u{SERVICE_ACCOUNT_PREFIX}{subject.namespace}:{subject.name}"
    if subject.name == "*":
        return EVERYBODY
    return ("u" if subject.kind == "User" else "g") + subject.name


def halves(key: Key) -> tuple[Key, ...]:
    """The key; everybody by the two groups of which each request is in one."""
    return ("g" + AUTHENTICATED, "g" + UNAUTHENTICATED) if key == EVERYBODY else (key,)


@cache
def covering(key: Key) -> frozenset[Key]:
    """The keys that mean each request which this one means: itself, everybody, and what its members all are in."""
    found = {EVERYBODY, key, *("g" + group for group in _groups(key))}
    kind, name = key[:1], key[1:]
    if kind == "u" and name.startswith(SERVICE_ACCOUNT_PREFIX):
        namespace, colon, _ = name.removeprefix(SERVICE_ACCOUNT_PREFIX).partition(":")
        # This is a comparison of names, of whoever has one that begins so.
        found |= {"s" + namespace} if colon else set()
    elif kind == "g" and name == UNAUTHENTICATED:
        found.add("u" + ANONYMOUS)
    elif kind == "g" and name.startswith(f"{ACCOUNTS}:"):
        found.add("s" + name.removeprefix(f"{ACCOUNTS}:"))
    return frozenset(found)


def meet(one: Key, other: Key) -> bool:
    """Whether a request can be of both."""
    if one == EVERYBODY or other == EVERYBODY or one in covering(other) or other in covering(one):
        return True
    # Their groups are known, and there are no others.
    if _closed(one) or _closed(other):
        return False
    return not one[0] == other[0] == "u"


def _closed(key: Key) -> bool:
    name = key[1:]
    if key[0] == "u":
        return name == ANONYMOUS or account_of(name) is not None
    return key[0] == "s" or name in (UNAUTHENTICATED, ACCOUNTS) or name.startswith(f"{ACCOUNTS}:")


def _groups(key: Key) -> tuple[str, ...]:
    """The groups that all of a key are in."""
    kind, name = key[:1], key[1:]
    if key == EVERYBODY:
        return ()
    if kind == "u":
        return groups_by_name(name)
    if kind == "s":
        return (ACCOUNTS, f"{ACCOUNTS}:{name}", AUTHENTICATED)
    if name == UNAUTHENTICATED:
        return ()
    return (ACCOUNTS, AUTHENTICATED) if name.startswith(f"{ACCOUNTS}:") else (AUTHENTICATED,)
