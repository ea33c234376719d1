"""How a Prometheus-compatible store is reached: its URL, who asks, for which tenant, and whom to trust."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from apftop.access import Headers, Unreachable, is_loopback, split_url
from apftop.errors import reason

TOKEN_VARIABLE = "APFTOP_PROMETHEUS_TOKEN"  # noqa: S105  the name of a variable
TENANT_HEADER = "X-Scope-OrgID"
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:[ \t]*([^\r\n]*)")


@dataclass(frozen=True, slots=True)
class Store:
    """A store by its URL without a trailing slash, which may have a path, as that of a Mimir has.

    `headers` are sent with each question and hold secrets. Without `ca_file` the system's CAs are trusted.
    """

    url: str
    headers: Headers = field(default=(), repr=False)
    ca_file: str | None = None


def store(
    url: str,
    *,
    token_file: Path | None = None,
    header_file: Path | None = None,
    tenant: str | None = None,
    ca_file: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Store:
    """The store that options and environment name.

    Raises Unreachable for what is no URL of one, for files that cannot be read, and where a secret would go over plain
    http to another machine.
    """
    todo = "write http(s)://HOST:PORT, with the path that the store is under, and no password"
    url, scheme, host = split_url(url, "a Prometheus", todo)
    headers: list[tuple[str, str]] = []
    token = environment.get(TOKEN_VARIABLE, "") if token_file is None else _read(token_file, "token").strip()
    if token_file is not None and not token:
        raise Unreachable("the file with the token is empty", str(token_file))
    if token:
        if not token.isascii() or not token.isprintable() or " " in token:
            raise Unreachable("this is no bearer token", str(token_file or TOKEN_VARIABLE))
        headers.append(("Authorization", f"Bearer {token}"))
    if header_file is not None:
        headers += _headers(header_file)
    if headers and scheme == "http" and not is_loopback(host):
        raise Unreachable("a secret would go over plain http", url, "use https, or go through a loopback port")
    if tenant is not None:
        if not tenant or not tenant.isascii() or not tenant.isprintable():
            raise Unreachable("this is no tenant", "--prometheus-tenant")
        headers.append((TENANT_HEADER, tenant))
    if ca_file is not None and not Path(ca_file).is_file():
        raise Unreachable("there is no such CA file", ca_file)
    return Store(url.removesuffix("/api/v1"), tuple(headers), ca_file)


def _headers(path: Path) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for number, line in enumerate(_read(path, "headers").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        header = _HEADER.fullmatch(line.strip())
        # The line itself is a secret.
        if header is None or not header[2].isascii() or not header[2].isprintable():
            raise Unreachable(f"line {number} is no header", str(path), "write `Name: value`, one a line")
        found.append((header[1], header[2]))
    return found


def _read(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise Unreachable(f"the file with the {what} cannot be read ({reason(error)})", str(path)) from None
    except UnicodeDecodeError:
        raise Unreachable(f"the file with the {what} is no text", str(path)) from None
