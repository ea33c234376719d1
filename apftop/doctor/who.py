"""As whom this tool asks, and where that comes from; never the credential itself."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any

from apftop.access import Access, Renewed, Unreachable


def credentials(access: Access, source: str, options: Mapping[str, Any]) -> str:
    """In words: what kind of credential is sent, who gave it, and whether it is renewed. Blocks while it is made."""
    try:
        headers = asyncio.run(_headers(access))
    except Unreachable as exc:
        return f"none: {exc}"
    kinds = [f"{value.split(None, 1)[0].lower()} token" for name, value in headers if name == "Authorization"]
    # RFC 7617 sends a name and a password.
    kinds = ["user and password" if kind == "basic token" else kind for kind in kinds]
    kinds += ["client certificate"] if access.cert_file else []
    if not kinds:
        return "none: everybody is anonymous here"
    renewed = ", renewed before it ends" if isinstance(access.auth, Renewed) else ""
    acting = [value for name, value in headers if name == "Impersonate-User"]
    as_whom = f", acting as {acting[0]}" if acting else ""
    return f"{' and '.join(kinds)} from {_origin(source, options)}{renewed}{as_whom}"


async def _headers(access: Access) -> tuple[tuple[str, str], ...]:
    return await access.auth()


def _origin(source: str, options: Mapping[str, Any]) -> str:
    if options["token_file"]:
        return f"--token-file {options['token_file']}"
    if options["client_cert"]:
        return f"--client-cert {options['client_cert']}"
    if os.environ.get("APFTOP_TOKEN"):
        return "APFTOP_TOKEN"
    if options["servers"]:
        return "the kubeconfig, or this pod's service account"
    return source
