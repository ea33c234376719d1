"""OIDC users of a kubeconfig: their tokens are renewed at the issuer, and kept in the file for kubectl."""

from __future__ import annotations

import base64
import json
import os
import shutil
import ssl
import tempfile
import time
from collections.abc import Mapping
from typing import Any

from apftop.access import Unreachable
from apftop.errors import reason


def load_oidc(loader: Any, loaded: Any, user: dict[str, Any], path: str, name: str) -> None:
    """Load a user whose token the package renews at its issuer if it ends in five minutes. Raises Unreachable.

    New tokens are written into the kubeconfig, because an issuer may accept a refresh token once, and kubectl needs the
    new one. Without a CA of the issuer the package would not verify it at all: the system's is taken.
    """
    import certifi
    from kubernetes.config import ConfigException

    given = {key: value for key, value in (user["auth-provider"].get("config") or {}).items() if value}
    defaults = {"client-secret": ""}
    if not given.get("idp-certificate-authority-data"):
        defaults["idp-certificate-authority"] = ssl.get_default_verify_paths().cafile or certifi.where()
    config = {**defaults, **given}
    user["auth-provider"] = {**user["auth-provider"], "config": config}
    issuer = str(given.get("idp-issuer-url"))

    def keep() -> None:
        tokens = {key: config[key] for key in ("id-token", "refresh-token") if config[key] != given.get(key)}
        if tokens:
            _write_tokens(path, name, tokens)

    try:
        loader(config_persister=keep).load_and_set(loaded)
    except (Unreachable, ConfigException):
        raise
    except Exception as exc:  # noqa: BLE001  what several libraries raise, with tokens in some of the texts
        raise Unreachable(f"no new OIDC token ({type(exc).__name__})", issuer, "see if it answers, or log in") from None
    end = token_end(loaded.api_key.get("BearerToken") or "")
    if end is not None and end <= time.time():
        raise Unreachable("no new OIDC token for one that has expired", issuer, "log in again")


def _write_tokens(path: str, name: str, tokens: Mapping[str, str]) -> None:
    """Put new tokens of an OIDC user into a kubeconfig, in one step; comments are lost. Raises Unreachable."""
    import yaml

    path = os.path.realpath(path)
    try:
        with open(path, encoding="utf-8") as file:
            document = yaml.safe_load(file)
        for entry in document["users"]:
            if entry["name"] == name:
                entry["user"]["auth-provider"]["config"].update(tokens)
        descriptor, new = tempfile.mkstemp(dir=os.path.dirname(path), prefix=f"{os.path.basename(path)}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                yaml.safe_dump(document, file, default_flow_style=False)
            shutil.copymode(path, new)
            os.replace(new, path)
        except BaseException:
            os.unlink(new)
            raise
    except OSError as exc:
        raise Unreachable(f"new OIDC tokens cannot be kept ({reason(exc)})", path, "make it writable") from None


def token_end(authorization: str) -> float | None:
    """When a JSON web token expires by its own words, in Unix seconds; None where it does not say."""
    try:
        claims = authorization.split(".")[1]
        return float(json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["exp"])
    except (IndexError, ValueError, KeyError, TypeError):
        return None
