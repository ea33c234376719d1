"""How one server is spoken to: its URL, its certificates, the proxy on the way, and who asks."""

from __future__ import annotations

import contextlib
import ipaddress
import ssl
import urllib.request
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable
from urllib.parse import urlsplit

from apftop.errors import Trouble, reason

Headers = tuple[tuple[str, str], ...]
"""Pairs and not a mapping, because `Impersonate-Group` comes once for each group."""

Auth = Callable[[], Awaitable[Headers]]
"""Gives the headers that prove who asks; called before each request. Raises Unreachable."""


@runtime_checkable
class Renewed(Protocol):
    """An Auth whose credential changes while it is in use."""

    @property
    def edition(self) -> int:
        """How many client certificates came after the first one."""
        ...

    def refused(self) -> None:
        """A server did not believe the credential."""
        ...


class Unreachable(Trouble):
    """No way to a server could be set up."""


async def anonymous() -> Headers:
    """The Auth of somebody without credentials, or with a client certificate only."""
    return ()


@dataclass(frozen=True)
class Access:
    """What is needed to talk to one server.

    `url` has no trailing slash and no user name. `server_hostname` is the name that the certificate must carry where
    that is not the host of the URL. Without `ca_file` the system's CAs are trusted. Without `proxy` the environment
    may name one.
    """

    name: str
    url: str
    server_hostname: str | None = None
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    insecure: bool = False
    proxy: str | None = field(default=None, repr=False)
    auth: Auth = field(default=anonymous, repr=False)

    @property
    def loopback(self) -> bool:
        """Whether the server is on this machine."""
        return is_loopback(urlsplit(self.url).hostname or "")

    @property
    def edition(self) -> int:
        """Which client certificate `cert_file` holds now; a session that was opened with an earlier one is spent."""
        return self.auth.edition if isinstance(self.auth, Renewed) else 0

    def refused(self) -> None:
        """To be called when the server answers 401: a credential that can be renewed is, before the next request."""
        if isinstance(self.auth, Renewed):
            self.auth.refused()


@dataclass(frozen=True)
class Overrides:
    """What flags and environment say over the kubeconfig.

    A token or a client certificate replaces the kubeconfig's whole user, impersonation included.
    """

    ca_file: str | None = None
    token_file: str | None = None
    token: str | None = field(default=None, repr=False)
    cert_file: str | None = None
    key_file: str | None = None
    tls_server_name: str | None = None
    insecure: bool = False

    @property
    def credentials(self) -> bool:
        """Whether they say who asks."""
        return bool(self.token_file or self.token or self.cert_file)


def checked_url(given: str) -> str:
    """A server's URL as an Access has it; without a scheme it is https.

    Raises Unreachable for what is no URL of a server, and for plain http to another machine.
    """
    text, scheme, host = split_url(given, "a server", "write https://HOST:PORT, without user and password")
    if scheme == "http" and not is_loopback(host):
        raise Unreachable("plain http goes to loopback only", text, "use https")
    return text


def split_url(given: str, whose: str, todo: str) -> tuple[str, str, str]:
    """A URL without a slash at its end, its scheme (https where none is written) and its host.

    Raises Unreachable, with what to do, for what is no http(s) URL, and for one with a password, a query or a fragment.
    """
    text = given if "://" in given else f"https://{given}"
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https") or parts.query or parts.fragment or "@" in text:
        raise Unreachable(f"not the URL of {whose}", text.rpartition("@")[2], todo)
    return text.rstrip("/"), parts.scheme, host


def server_name(url: str) -> str:
    """The name of a server: its host with the port, also where that is the scheme's own, and the path if any."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{host}:{parts.port or (443 if parts.scheme == 'https' else 80)}{parts.path.rstrip('/')}"


def is_loopback(host: str) -> bool:
    """Whether a host is this machine: 127.0.0.0/8, ::1 or localhost."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def ssl_context(access: Access) -> ssl.SSLContext:
    """The TLS settings for one server. Raises Unreachable for files that are missing or hold something else."""
    what, where = "CA file", str(access.ca_file)
    try:
        context = ssl.create_default_context(cafile=access.ca_file)
        if access.cert_file:
            what, where = "client certificate", f"{access.cert_file}, {access.key_file or 'key in the same file'}"
            # An empty password: OpenSSL would else ask for one on the terminal.
            context.load_cert_chain(access.cert_file, access.key_file, password="")
    except OSError as exc:
        raise Unreachable(f"{what} cannot be used ({reason(exc)})", where, "give PEM, keys without password") from None
    # Python >= 3.13 refuses old cluster CAs (basicConstraints not critical) and roots that are not self-signed;
    # Go clients such as kubectl accept both.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.set_alpn_protocols(["http/1.1"])
    if access.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def proxy_of(access: Access) -> str | None:
    """The proxy of the kubeconfig, else of the environment by Go's rules: none on loopback, networks in NO_PROXY.

    Raises Unreachable for kinds that do not work here, such as SOCKS.
    """
    host = urlsplit(access.url).hostname or ""
    proxy = access.proxy
    if not proxy and not is_loopback(host):
        environment = urllib.request.getproxies_environment()
        bypassed = urllib.request.proxy_bypass_environment(host) or _in_networks(host, environment.get("no", ""))  # type: ignore[attr-defined]
        proxy = None if bypassed else environment.get("https")
    if not proxy or access.url.startswith("http:"):
        return None
    parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Unreachable("only http(s) proxies work", f"{parts.scheme}://{parts.hostname}", "change proxy-url")
    return parts.geturl()


def _in_networks(host: str, networks: str) -> bool:
    """Whether a host is an address in one of several networks, which commas part; what is no network is skipped."""
    for network in networks.split(","):
        with contextlib.suppress(ValueError):
            if ipaddress.ip_address(host) in ipaddress.ip_network(network.strip(), strict=False):
                return True
    return False
