"""What lets somebody read what is denied: roles of RBAC as kubectl commands, printed and never run."""

from __future__ import annotations

import shlex

from apftop.present import plain
from apftop.records.findings import Change

OBJECTS_RULES = (
    "--verb=get,list,watch"
    " --resource=flowschemas.flowcontrol.apiserver.k8s.io,prioritylevelconfigurations.flowcontrol.apiserver.k8s.io"
)
DUMPS_RULES = "--verb=get --non-resource-url='/debug/api_priority_and_fairness/*'"
METRICS_RULES = "--verb=get --non-resource-url=/metrics"
SOMEBODY = "USER"
"""Stands for a name that nobody told: the reader puts theirs."""


def granted(name: str, user: str | None, rules: str) -> Change:
    """A ClusterRole with its binding to a user or service account; `rules` are options of `create clusterrole`."""
    who = _subject(user)
    return Change(
        f"let {plain(user) if user else f'{SOMEBODY} (put who asks)'} do this by a ClusterRole {name} and its binding",
        f"kubectl create clusterrole {name} {rules}"
        f" && kubectl create clusterrolebinding {name} --clusterrole={name} {who}",
        f"kubectl delete clusterrolebinding/{name} clusterrole/{name}",
    )


def _subject(user: str | None) -> str:
    parts = (user or "").split(":")
    if parts[:2] == ["system", "serviceaccount"] and len(parts) == 4:
        return f"--serviceaccount={shlex.quote(plain(f'{parts[2]}:{parts[3]}'))}"
    return f"--user={shlex.quote(plain(user or SOMEBODY))}"
