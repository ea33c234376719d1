"""The contexts of a kubeconfig: where their server is, and who asks it."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import quote

from apftop.access import Access, Auth, Headers, Unreachable, checked_url, server_name
from apftop.credentials import Credential, Renewing, first, fixed, token_file
from apftop.errors import reason
from apftop.oidc import load_oidc, token_end
from apftop.plugin import run_plugin

GIVE = "give --kubeconfig FILE or --server URL"

EARLY_S = 60.0
PAUSE_S = 20.0
"""Plugins and issuers are asked for a new credential so long before the old one ends, and not more often than this."""


@dataclass(frozen=True)
class Context:
    """A context of a kubeconfig, its cluster's name, and the way to that cluster's server."""

    name: str
    cluster: str
    access: Access


@dataclass(frozen=True)
class _Parts:
    """What the files say of one context, with absolute file names; `loaded` is the package's Configuration of it."""

    name: str
    cluster_name: str
    url: str
    cluster: Mapping[str, Any]
    user: Mapping[str, Any]
    folder: str
    loaded: Any


def kubeconfig_files(kubeconfig: str | None) -> list[str]:
    """The files to look for: those given, else $KUBECONFIG, else ~/.kube/config."""
    named = kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config"
    return [os.path.expanduser(path) for path in named.split(os.pathsep) if path]


def load_context(kubeconfig: str | None = None, context: str | None = None, *, credentials: bool = True) -> Context:
    """A context of a kubeconfig, the current one if none is named, with its user if `credentials`.

    Runs the user's exec plugin; renews an OIDC token that has expired, and writes it into the file. Raises Unreachable.
    """
    files = kubeconfig_files(kubeconfig)
    where = ", ".join(path for path in files if os.path.isfile(path))
    if not where:
        raise Unreachable("no kubeconfig", f"looked for {', '.join(files)}", GIVE)
    with _explained(where):
        parts = _read(files, where, context, credentials)
        auth = _auth(parts, files, where)
        certified = isinstance(auth, Renewing) and auth.cert_file
        access = Access(
            name=server_name(parts.url),
            url=parts.url,
            server_hostname=parts.cluster.get("tls-server-name") or None,
            ca_file=parts.loaded.ssl_ca_cert,
            cert_file=certified or parts.loaded.cert_file,
            key_file=None if certified else parts.loaded.key_file,
            insecure=not parts.loaded.verify_ssl,
            proxy=parts.cluster.get("proxy-url") or None,
            auth=auth,
        )
    return Context(parts.name, parts.cluster_name, access)


@contextlib.contextmanager
def _explained(where: str) -> Iterator[None]:
    """Raises Unreachable for whatever the package raises on a malformed file, without anything secret of it."""
    import yaml
    from kubernetes.config import ConfigException

    try:
        yield
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


def _read(files: list[str], where: str, context: str | None, credentials: bool, *, provider: bool = False) -> _Parts:
    """One context as the package reads it: exec plugins and token files left aside, its auth provider only if told."""
    from kubernetes.client import Configuration
    from kubernetes.config.kube_config import KubeConfigLoader, KubeConfigMerger

    config = KubeConfigMerger(os.pathsep.join(files)).config  # type: ignore[no-untyped-call]
    chosen = _chosen(config, context, where)
    link = config["contexts"].get_with_name(chosen).value["context"]
    cluster_node = config["clusters"].get_with_name(link["cluster"], safe=True)
    if cluster_node is None or not cluster_node.value["cluster"].get("server"):
        raise Unreachable(f"no server for cluster {link['cluster']!r} of context {chosen!r}", where, "mend the context")
    cluster = _with_files(cluster_node.value["cluster"], cluster_node.path)
    url = checked_url(cluster["server"])
    user: dict[str, Any] = {}
    told: dict[str, Any] = {}
    user_node = config["users"].get_with_name(link["user"], safe=True) if link.get("user") else None
    if link.get("user") and user_node is None:
        raise Unreachable(f"no user {link['user']!r} as context {chosen!r} names it", where, "mend the context")
    if user_node:
        if credentials and url.startswith("https:"):
            user = _with_files(user_node.value["user"] or {}, user_node.path)
        aside = ("exec", "tokenFile") if provider else ("exec", "tokenFile", "auth-provider")
        told = {key: value for key, value in user.items() if key not in aside}
        user_node.value = {**user_node.value, "user": told}
    cluster_node.value = {**cluster_node.value, "cluster": cluster}

    loaded = Configuration()
    loader: Any = partial(KubeConfigLoader, config, chosen, config_base_path=None)
    source = user_node.path if user_node else ""
    if (told.get("auth-provider") or {}).get("name") == "oidc":
        load_oidc(loader, loaded, told, source, link["user"])
    else:
        loader().load_and_set(loaded)
    return _Parts(chosen, str(link["cluster"]), url, cluster, user, os.path.dirname(os.path.abspath(source)), loaded)


def _auth(parts: _Parts, files: list[str], where: str) -> Auth:
    """Who asks, by the first of the ways to log in that the user has. Raises Unreachable."""
    user, extra = parts.user, _impersonation(parts.user)
    if user.get("auth-provider"):

        def log_in() -> Credential:
            with _explained(where):
                token = _read(files, where, parts.name, True, provider=True).loaded.api_key.get("BearerToken")
            if not token:
                raise Unreachable("auth-provider gave no token", where, "log in again, or use an exec plugin")
            return Credential((("Authorization", token), *extra), token_end(token))

        return Renewing(log_in, first(log_in, where), where, early_s=EARLY_S, pause_s=PAUSE_S)
    if user.get("tokenFile"):
        return token_file(user["tokenFile"], extra)
    if user.get("exec") and not user.get("token"):
        program = str(user["exec"]["command"])

        def run(*, alone: bool) -> Credential:
            got = run_plugin(user["exec"], parts.cluster, parts.folder, alone=alone)
            return replace(got, headers=(*got.headers, *extra))

        return Renewing(partial(run, alone=True), run(alone=False), program, early_s=EARLY_S, pause_s=PAUSE_S)
    authorization = parts.loaded.api_key.get("BearerToken")
    return fixed((("Authorization", authorization), *extra) if authorization else extra)


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
