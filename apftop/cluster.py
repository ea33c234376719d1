"""Where the API servers are: those named by hand, that of a kubeconfig's context, or that of the pod we run in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from apftop.access import Access, Overrides, Unreachable, checked_url, server_name
from apftop.credentials import fixed, token_file
from apftop.kubeconfig import GIVE, kubeconfig_files, load_context


@dataclass(frozen=True)
class Reach:
    """The ways to the servers, whether further replicas may be looked for, and in words whom that is about."""

    ways: tuple[Access, ...]
    discover: bool
    source: str


def reach(
    servers: Sequence[str] = (),
    kubeconfig: str | None = None,
    context: str | None = None,
    over: Overrides | None = None,
) -> Reach:
    """The servers to ask: those named, else the one of the kubeconfig's context, else that of the pod we run in.

    Named servers are asked with the credentials and the CA of the kubeconfig's context (or the pod), if there is one,
    where `over` has none; APFTOP_TOKEN counts as `over.token`. An exec plugin runs once at most. Raises Unreachable.
    """
    over = over or Overrides()
    if not over.credentials:
        over = replace(over, token=os.environ.get("APFTOP_TOKEN") or None)
    _check_distinct(servers)
    if servers and not any(checked_url(url).startswith("https:") for url in servers):
        return _named(servers, over)
    files = kubeconfig_files(kubeconfig)
    base: Access | None = None
    source = ""
    if kubeconfig or context or any(map(os.path.isfile, files)):
        found = load_context(kubeconfig, context, credentials=not over.credentials)
        base, source = found.access, f"context {found.name}, cluster {found.cluster}"
    elif os.environ.get("KUBERNETES_SERVICE_HOST"):
        base, source = in_cluster(), "the cluster of this pod"
    if servers:
        return _named(servers, over, base)
    if base is None:
        raise Unreachable("no kubeconfig", f"looked for {', '.join(files)} and for a pod's service account", GIVE)
    return Reach((_overridden(base, over),), base.url.startswith("https:"), source)


def _named(servers: Sequence[str], over: Overrides, base: Access | None = None) -> Reach:
    """Servers named by hand: whoever names them wants these and no others."""
    ways = tuple(from_server(url, over, base) for url in servers)
    return Reach(ways, discover=False, source=", ".join(way.name for way in ways))


def _check_distinct(servers: Sequence[str]) -> None:
    """Raise Unreachable where two URLs mean the same server, whose answers would be taken for those of one replica."""
    names: set[str] = set()
    for url in servers:
        name = server_name(checked_url(url))
        if name in names:
            raise Unreachable("the same server twice", url, "give each server once")
        names.add(name)


def from_server(url: str, over: Overrides, base: Access | None = None) -> Access:
    """A server named by its URL; `base` lends what `over` does not say. Raises Unreachable.

    As with kubectl, the certificate must then be for the host of this URL or for `over.tls_server_name`, and the
    credentials of a kubeconfig are not sent over plain http.
    """
    url = checked_url(url)
    base = base if base and url.startswith("https:") else Access("", url)
    return _overridden(replace(base, name=server_name(url), url=url, server_hostname=None), over)


def _overridden(access: Access, over: Overrides) -> Access:
    """The Access with what flags and environment say; a CA of theirs is also verified with."""
    changes: dict[str, Any] = {}
    if over.credentials:
        bearer = (("Authorization", f"Bearer {over.token.strip()}"),) if over.token else ()
        auth = token_file(over.token_file) if over.token_file else fixed(bearer)
        changes = {"auth": auth, "cert_file": over.cert_file, "key_file": over.key_file}
    return replace(
        access,
        ca_file=over.ca_file or access.ca_file,
        insecure=over.insecure or (access.insecure and not over.ca_file),
        server_hostname=over.tls_server_name or access.server_hostname,
        **changes,
    )


def in_cluster() -> Access:
    """The server of the pod that we run in, as its service account. Raises Unreachable."""
    from kubernetes.client import Configuration
    from kubernetes.config import ConfigException, incluster_config

    config = Configuration()
    try:
        incluster_config.load_incluster_config(config)  # type: ignore[no-untyped-call]
    except (ConfigException, OSError) as exc:
        raise Unreachable("no in-cluster access", f"service account of this pod ({exc})", GIVE) from None
    auth = token_file(incluster_config.SERVICE_TOKEN_FILENAME)
    return Access(server_name(config.host), config.host, ca_file=config.ssl_ca_cert, auth=auth)
