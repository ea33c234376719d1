"""The users of the control plane's token file."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from pathlib import Path

LOADERS = "loaders"
MICE = tuple(f"mouse{index}" for index in range(8))
HOOK_NAMESPACE = "hooks"
HOOK_ACCOUNT = f"system:serviceaccount:{HOOK_NAMESPACE}:reader"
"""The account of a webhook that asks the API server before it answers."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "admin": ("system:masters",),
    "viewer": (),
    **dict.fromkeys(("elephant", *MICE, "lister", "batch", "control"), (LOADERS,)),
    "nobody": (),
    HOOK_ACCOUNT: ("system:serviceaccounts", f"system:serviceaccounts:{HOOK_NAMESPACE}"),
}


def new_tokens() -> dict[str, str]:
    """A fresh random token for every user."""
    return {user: secrets.token_hex(16) for user in GROUPS}


def write_token_file(path: Path, tokens: Mapping[str, str]) -> None:
    """The file that --token-auth-file reads: token, user name, uid, groups."""
    lines = []
    for user, token in tokens.items():
        groups = ",".join(GROUPS[user])
        lines.append(f'{token},{user},uid-{user},"{groups}"' if groups else f"{token},{user},uid-{user}")
    path.touch(mode=0o600)
    path.write_text("\n".join(lines) + "\n")


def kubeconfig(url: str, ca_file: Path, user: str, token: str) -> str:
    """A kubeconfig with one context, written as JSON, which is YAML too."""
    name = "plane"
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": {"server": url, "certificate-authority": str(ca_file)}}],
            "users": [{"name": user, "user": {"token": token}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": user}}],
            "current-context": name,
        },
        indent=2,
    )
