"""Who stands behind a user: the processes that send its requests, by the logs, or how to find them without logs."""

from __future__ import annotations

import ipaddress
import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from apftop.apf.identity import NODE_PREFIX, SERVICE_ACCOUNT_PREFIX, account_of
from apftop.findings.scene import Scene
from apftop.present import percent, plain, whole
from apftop.records.logs import OTHERS, Caller

COMPONENT = "system:kube-"
MOST = 3
"""So many callers of one user are named."""


@dataclass(frozen=True, slots=True)
class Process:
    """What one user sends with one user agent from one address, in all levels. Requests by the logs."""

    user: str
    user_agent: str
    source: str
    requests: int
    refused: int

    @property
    def name(self) -> str:
        """`argo/v3.5 from 10.0.3.17`, safe for a terminal."""
        agent = plain(self.user_agent, 80) or "something without a user agent"
        return f"{agent} from {plain(self.source, 80) or 'an unknown address'}"


def behind(scene: Scene, user: str) -> tuple[str, ...]:
    """Who sends the requests of a user: lines of evidence by the logs, else one of advice on where to look.

    A line a user agent and address, most requests first, with counts out of all requests of this user in the logs.
    Without logs that name the user: the command that lists the pods of a service account, or the name of the node.
    Empty where neither helps.
    """
    found = processes(one for one in scene.logs.callers if user and one.user == user)
    if found:
        return _by_logs(found)
    if account := account_of(user):
        return (f"find its pods: {pods_of(*account)}",)
    if user.startswith(NODE_PREFIX) and user != NODE_PREFIX:
        return (f"it is the kubelet of node {plain(user.removeprefix(NODE_PREFIX))}",)
    return ()


def processes(callers: Iterable[Caller]) -> tuple[Process, ...]:
    """Callers without regard to their levels, most requests first; those that the logs do not tell apart come last."""
    counts: dict[tuple[str, str, str], tuple[int, int]] = {}
    for one in callers:
        at = (one.user, one.user_agent, one.source)
        requests, refused = counts.get(at, (0, 0))
        counts[at] = requests + one.requests, refused + one.refused
    found = [Process(*at, requests, refused) for at, (requests, refused) in counts.items() if requests]
    return tuple(sorted(found, key=lambda one: (one.user_agent == OTHERS, -one.requests, one.user_agent, one.source)))


def pods_of(namespace: str, account: str) -> str:
    """The command that lists the pods that run as a service account, with their nodes and addresses."""
    selector = shlex.quote(plain(f"spec.serviceAccountName={account}"))
    return f"kubectl get pods -n {shlex.quote(plain(namespace))} --field-selector {selector} -o wide"


def of_the_cluster(user: str) -> bool:
    """Whether a user is a part of the cluster: a component, a node, or a service account of kube-system."""
    account = user.removeprefix(SERVICE_ACCOUNT_PREFIX)
    return user.startswith("system:") and (account == user or account.startswith("kube-system:"))


def process_of(user: str) -> str:
    """A line that ends with the command which names the process behind a `system:` user."""
    if account := account_of(user):
        return f"see which pods it is: {pods_of(*account)}"
    if user.startswith(NODE_PREFIX) and user != NODE_PREFIX:
        node = shlex.quote(plain(user.removeprefix(NODE_PREFIX)))
        return f"it is the kubelet of a node, whose address and release this tells: kubectl get node {node} -o wide"
    if user.startswith(COMPONENT):
        label = shlex.quote(plain(f"component={user.removeprefix('system:')}"))
        return f"see which pods it is, where they are static pods: kubectl get pods -n kube-system -l {label} -o wide"
    known = shlex.quote(plain(f'"username":"{user}"'))
    return (
        "the servers' audit log names its process and address: "
        f"grep -F {known} AUDIT_LOG | grep -oE '\"(userAgent|sourceIPs)\":[^,]*' | sort | uniq -c | sort -rn"
    )


def pod_at(source: str) -> str:
    """The command that finds the pod with an address; empty for what is no address of a pod."""
    try:
        address = ipaddress.ip_address(source)
    except ValueError:
        return ""
    if address.is_loopback or address.is_unspecified:
        return ""
    return f"kubectl get pods -A --field-selector status.podIP={address} -o wide"


def _by_logs(found: tuple[Process, ...]) -> tuple[str, ...]:
    total = sum(one.requests for one in found)
    named = [one for one in found if one.user_agent != OTHERS][:MOST]
    lines = [
        f"{one.name}: {whole(one.requests)} of {whole(total)} requests in the log ({percent(one.requests / total)})"
        + (f", {whole(one.refused)} of them answered 429" if one.refused else "")
        for one in named
    ]
    rest = total - sum(one.requests for one in named)
    if rest:
        lines.append(f"others: {whole(rest)} of {whole(total)} requests in the log")
    if named and (command := pod_at(named[0].source)):
        lines.append(f"which pod that is (none if it is on a node's own network): {command}")
    return tuple(lines)
