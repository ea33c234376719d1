"""Subjects of rules that mean nobody, by what API servers give out (1.26 to 1.37)."""

from __future__ import annotations

from apftop.apf.identity import (
    ACCOUNTS,
    ANONYMOUS,
    AUTHENTICATED,
    MASTERS,
    NODE_PREFIX,
    NODES,
    SERVICE_ACCOUNT_PREFIX,
    UNAUTHENTICATED,
    account_of,
)
from apftop.apf.objects import Subject
from apftop.lint.policy import Document
from apftop.present import plain
from apftop.records.linting import Fault

GROUPS = frozenset({ACCOUNTS, AUTHENTICATED, UNAUTHENTICATED, MASTERS, NODES})
"""Names that only groups have."""


def nobody(document: Document, subject: Subject, at: str) -> Fault | None:
    """What is wrong with a subject that means nobody; None for others."""
    if subject.kind == "ServiceAccount" or subject.name in ("", "*"):
        return None
    text, advice = _of_group(subject.name) if subject.kind == "Group" else _of_user(subject.name)
    return document.fault("matches-nobody", "warning", text, advice, at) if text else None


def _of_group(name: str) -> tuple[str, str]:
    shown = plain(name)
    if account_of(name) is not None:
        return f"{shown} is the name of a user, not of a group", "use kind ServiceAccount, with namespace and name"
    if name.startswith(SERVICE_ACCOUNT_PREFIX):
        right = f"{ACCOUNTS}:{plain(name.removeprefix(SERVICE_ACCOUNT_PREFIX).partition(':')[0])}"
        return f"no group is named {shown}: those of service accounts begin with {ACCOUNTS}", f"write {right}"
    if name == ANONYMOUS or name.startswith(NODE_PREFIX):
        return f"{shown} is the name of a user, not of a group", "use kind User"
    namespace = name.removeprefix(f"{ACCOUNTS}:")
    if "*" not in name and namespace != name and account_of(f"{SERVICE_ACCOUNT_PREFIX}{namespace}:any") is None:
        return f"{shown} is no group: {ACCOUNTS}: is followed by a namespace alone", "name the namespace alone"
    return _pattern(name)


def _of_user(name: str) -> tuple[str, str]:
    shown = plain(name)
    if name in GROUPS or name.startswith(f"{ACCOUNTS}:"):
        return f"{shown} is the name of a group, not of a user", "use kind Group"
    if name.startswith(SERVICE_ACCOUNT_PREFIX) and account_of(name) is None:
        text = f"{shown} is no service account, whose users are {SERVICE_ACCOUNT_PREFIX}NAMESPACE:NAME"
        return text, "use kind ServiceAccount, where the name may be * for all of a namespace"
    return _pattern(name)


def _pattern(name: str) -> tuple[str, str]:
    if "*" not in name:
        return "", ""
    return f"{plain(name)} is no pattern: * stands for everybody only where it is all of the name", "name each"
