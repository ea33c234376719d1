"""Where the API servers are: those named by hand, that of a kubeconfig's context, or that of the pod we run in."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from apftop.access import Access, Headers, Overrides, Unreachable, auth_of, checked_url, read_token, server_name
from apftop.errors import reason
from apftop.plugin import run_plugin

GIVE = "give --kubeconfig FILE or --server URL"


def find(
    servers: Sequence[str], kubeconfig: str | None = None, context: str | None = None, over: Overrides | None = None
) -> list[Access]:
    """The servers to ask: those named, else the one of the kubeconfig's context, else that of the pod we run in.

    Named servers are asked with the credentials and the CA of the kubeconfig's context (or the pod), if there is one,
    where `over` has none; APFTOP_TOKEN counts as `over.token`. An exec plugin runs once at most. Raises Unreachable.
    """
    over = over or Overrides()
    if not over.credentials:
        over = replace(over, token=os.environ.get("APFTOP_TOKEN") or None)
    _check_distinct(servers)
    if servers and not any(checked_url(url).startswith("https:") for url in servers):
        return [from_server(url, over) for url in servers]
    files = kubeconfig_files(kubeconfig)
    base: Access | None = None
    if kubeconfig or context or any(map(os.path.isfile, files)):
        base = from_kubeconfig(kubeconfig, context, credentials=not over.credentials)
    elif os.environ.get("KUBERNETES_SERVICE_HOST"):
        base = in_cluster()
    if servers:
        return [from_server(url, over, base) for url in servers]
    if base is None:
        raise Unreachable("no kubeconfig", f"looked for {', '.join(files)} and for a pod's service account", GIVE)
    return [_overridden(base, over)]


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
        token = f"Bearer {over.token.strip()}" if over.token else None
        if over.token_file:
            read_token(over.token_file)
        changes = {"auth": auth_of((), token, over.token_file), "cert_file": over.cert_file, "key_file": over.key_file}
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
    auth = auth_of((), token_file=incluster_config.SERVICE_TOKEN_FILENAME)
    return Access(server_name(config.host), config.host, ca_file=config.ssl_ca_cert, auth=auth)


def kubeconfig_files(kubeconfig: str | None) -> list[str]:
    """The files to look for: those given, else $KUBECONFIG, else ~/.kube/config."""
    named = kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config"
    return [os.path.expanduser(path) for path in named.split(os.pathsep) if path]


def from_kubeconfig(kubeconfig: str | None = None, context: str | None = None, *, credentials: bool = True) -> Access:
    """The server of a kubeconfig's context, with its user if `credentials`; runs exec plugins. Raises Unreachable."""
    import yaml
    from kubernetes.config import ConfigException

    files = kubeconfig_files(kubeconfig)
    where = ", ".join(path for path in files if os.path.isfile(path))
    if not where:
        raise Unreachable("no kubeconfig", f"looked for {', '.join(files)}", GIVE)
    try:
        return _load_context(files, where, context, credentials)
    except Unreachable:
        raise
    except yaml.MarkedYAMLError as exc:
        place = f"{exc.problem_mark.name} line {exc.problem_mark.line + 1}" if exc.problem_mark else where
        raise Unreachable("kubeconfig is not YAML", place, "mend the file") from None
    except ConfigException as exc:
        # The package's messages quote whole users with their tokens, so that only a known part of them is repeated.
        key = re.search(r"Expected key (\S+) in", str(exc))
        what = f"kubeconfig lacks {key[1]}" if key else "kubeconfig cannot be used"
        raise Unreachable(what, where, "compare with `kubectl config view`") from None
    except Exception as exc:  # noqa: BLE001  the loader lets through whatever a malformed file makes its code raise
        why = reason(exc) if isinstance(exc, OSError) else type(exc).__name__
        raise Unreachable(f"kubeconfig cannot be used ({why})", where, "compare with `kubectl config view`") from None


def _load_context(files: list[str], where: str, context: str | None, credentials: bool) -> Access:
    """The server and the user of one context, read by the package from files whose names are made absolute before."""
    from kubernetes.client import Configuration
    from kubernetes.config.kube_config import KubeConfigLoader, KubeConfigMerger

    merger = KubeConfigMerger(os.pathsep.join(files))  # type: ignore[no-untyped-call]
    config = merger.config
    chosen = _chosen(config, context, where)
    link = config["contexts"].get_with_name(chosen).value["context"]
    cluster_node = config["clusters"].get_with_name(link["cluster"], safe=True)
    if cluster_node is None or not cluster_node.value["cluster"].get("server"):
        raise Unreachable(f"no server for cluster {link['cluster']!r} of context {chosen!r}", where, "mend the context")
    cluster = _with_files(cluster_node.value["cluster"], cluster_node.path)
    url = checked_url(cluster["server"])
    user: dict[str, Any] = {}
    user_node = config["users"].get_with_name(link["user"], safe=True) if link.get("user") else None
    if link.get("user") and user_node is None:
        raise Unreachable(f"no user {link['user']!r} as context {chosen!r} names it", where, "mend the context")
    if user_node:
        if credentials and url.startswith("https:"):
            user = _with_files(user_node.value["user"] or {}, user_node.path)
        if user.get("exec") and not user.get("token") and not user.get("tokenFile"):
            user |= run_plugin(user["exec"], cluster, os.path.dirname(os.path.abspath(user_node.path)))
        user.pop("exec", None)
        user_node.value = {**user_node.value, "user": user}
    cluster_node.value = {**cluster_node.value, "cluster": cluster}

    loaded = Configuration()
    provider = (user.get("auth-provider") or {}).get("name")
    # Kept only for OIDC: a provider may accept a refresh token once, and kubectl needs the new one.
    keep = merger.save_changes if provider == "oidc" else None
    loader = KubeConfigLoader(config, chosen, config_base_path=None, config_persister=keep)  # type: ignore[no-untyped-call]
    loader.load_and_set(loaded)  # type: ignore[no-untyped-call]
    authorization = loaded.api_key.get("BearerToken")
    if provider and not authorization:
        raise Unreachable(f"auth-provider {provider} gave no token", where, "log in again, or use an exec plugin")
    return Access(
        name=server_name(url),
        url=url,
        server_hostname=cluster.get("tls-server-name") or None,
        ca_file=loaded.ssl_ca_cert,
        cert_file=loaded.cert_file,
        key_file=loaded.key_file,
        insecure=not loaded.verify_ssl,
        proxy=cluster.get("proxy-url") or None,
        auth=auth_of(_impersonation(user), authorization, user.get("tokenFile")),
    )


def _chosen(config: Any, context: str | None, where: str) -> str:
    """The name of the context given, else of the current one. Raises Unreachable where it is not in the files."""
    chosen: str | None = context or config.value.get("current-context")
    names = [str(node.value["name"]) for node in config.value["contexts"]]
    if chosen in names:
        return chosen
    there = f"contexts there: {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}" if names else "it has none"
    raise Unreachable(f"no context {chosen!r}" if chosen else "no current context", where, there)


def _with_files(section: Mapping[str, Any], source: str) -> dict[str, Any]:
    """A copy whose file names are absolute; the loader takes a user's files from the folder of the cluster's file.

    Where there are both a file and data, the data counts. Raises Unreachable for files that are missing.
    """
    copy = dict(section)
    for key in ("certificate-authority", "client-certificate", "client-key", "tokenFile"):
        copy.pop(key if copy.get(f"{key}-data") else f"{key}-data", None)
        if copy.get(key):
            copy[key] = os.path.join(os.path.dirname(os.path.abspath(source)), copy[key])
            if not os.path.isfile(copy[key]):
                raise Unreachable(f"{key.replace('-', ' ')} file is missing", copy[key], f"mend {key} in {source}")
    return copy


def _impersonation(user: Mapping[str, Any]) -> Headers:
    """The headers of `as`, `as-uid`, `as-groups` and `as-user-extra`, which the package ignores."""
    pairs = [("Impersonate-User", user.get("as")), ("Impersonate-Uid", user.get("as-uid"))]
    pairs += [("Impersonate-Group", group) for group in user.get("as-groups") or ()]
    for key, values in (user.get("as-user-extra") or {}).items():
        pairs += [("Impersonate-Extra-" + quote(key, safe="!#$&'*+-.^_`|~"), value) for value in values]
    headers = tuple((name, str(value)) for name, value in pairs if value)
    if headers and not user.get("as"):
        raise Unreachable("as-uid, as-groups or as-user-extra without as", "user of the kubeconfig", "add as")
    return headers
