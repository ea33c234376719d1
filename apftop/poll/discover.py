"""The replicas of an API server, by the addresses that the cluster itself goes by."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ipaddress
import json
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, unquote, urlsplit

from apftop.access import Access, Unreachable, proxy_of, server_name, ssl_context
from apftop.failures import OTHER_NAMES
from apftop.fetch import Manner, ask
from apftop.records.raw import Endpoint, Sample
from apftop.session import names_of

if TYPE_CHECKING:
    import aiohttp

    from apftop.names import Names

_SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
PATH = f"{_SLICES}?labelSelector=kubernetes.io%2Fservice-name%3Dkubernetes"
"""By the label, because the names of slices say nothing; 1.26 to 1.37 have v1."""

SERVICE = "kubernetes.default.svc"
"""A name that the certificate of every replica carries, as a rule."""

HANDSHAKE_S = 2.0
BY_HAND = "--server names them by hand"


@dataclass(frozen=True)
class Found:
    """The replicas that can be asked from here; none where that is not known, and then a line that says why.

    `answer` is what the way said, if it was asked.
    """

    accesses: tuple[Access, ...] = ()
    news: str = ""
    answer: Sample | None = None


async def discovered(session: aiohttp.ClientSession, way: Access, manner: Manner) -> Found:
    """Ask a server for the addresses of all replicas, and try at once which of them answer from here.

    They count if at least one completes a TLS handshake in two seconds; those beside it that do not are replicas that
    are down. All have the credentials, the CA and the proxy of `way`. An address may be another machine's from here:
    nothing is found where certificates are not verified, so that no credential gets there.
    """
    if way.insecure:
        return Found(news=f"replicas of {way.name} are not looked for without verified certificates; {BY_HAND}")
    sample, _ = await ask(session, way, Endpoint.DISCOVERY, manner, PATH)
    if not sample.ok:
        return Found(news=_unknown(sample, way), answer=sample)
    expected = way.server_hostname or _host_name(way) or SERVICE
    addresses = [replace(way, name=server_name(url), url=url, server_hostname=expected) for url in _urls(sample.body)]
    try:
        context, names = ssl_context(way), names_of(manner)
        proven = await asyncio.gather(*(_proven_name(address, context, names) for address in addresses))
    except Unreachable as exc:
        return Found(news=str(exc), answer=sample)
    some = next(filter(None, proven), None)
    if some is None:
        why = f"none of {len(addresses)} addresses answers from here" if addresses else "no address is told"
        return Found(news=f"replicas of {way.name} are asked through it, for {why}", answer=sample)
    named = zip(addresses, proven, strict=True)
    return Found(tuple(replace(address, server_hostname=name or some) for address, name in named), answer=sample)


def _unknown(sample: Sample, way: Access) -> str:
    """Why the addresses are not known, and what to do."""
    why = sample.error or f"status {sample.status} for endpointslices of default"
    if sample.status == 403:
        why += "; grant get and list on endpointslices (discovery.k8s.io) in namespace default"
    return f"replicas of {way.name} are not known: {why}"


def _host_name(access: Access) -> str | None:
    """The host of a URL where it is a name and no address."""
    host = urlsplit(access.url).hostname
    try:
        ipaddress.ip_address(host or "")
    except ValueError:
        return host
    return None


def _urls(body: bytes) -> list[str]:
    """The URL of each ready address at each port of a list of EndpointSlices; what is malformed is left out."""
    urls: set[str] = set()
    items: list[Any] = []
    with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
        items = json.loads(body)["items"] or []
    for item in items:
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
            urls.update(_urls_of(item))
    return sorted(urls)


def _urls_of(item: dict[str, Any]) -> Iterator[str]:
    for endpoint in item.get("endpoints") or ():
        # Nothing said of readiness means ready.
        if (endpoint.get("conditions") or {}).get("ready") is False:
            continue
        for address in map(ipaddress.ip_address, endpoint["addresses"]):
            host = f"[{address}]" if address.version == 6 else str(address)
            for port in item.get("ports") or ():
                if port.get("port") and port.get("protocol", "TCP") == "TCP":
                    yield f"https://{host}:{int(port['port'])}"


async def _proven_name(address: Access, context: ssl.SSLContext, names: Names) -> str | None:
    """The name by which an address proves to be a server of this cluster; None where it does not answer or prove it."""
    for name in dict.fromkeys(filter(None, (address.server_hostname, SERVICE, urlsplit(address.url).hostname))):
        try:
            async with asyncio.timeout(HANDSHAKE_S):
                await _shake_hands(address, context, name, names)
        except ssl.SSLCertVerificationError as exc:
            if exc.verify_code not in OTHER_NAMES:
                return None
        except (OSError, EOFError, asyncio.LimitOverrunError):
            return None
        else:
            return name
    return None


async def _shake_hands(address: Access, context: ssl.SSLContext, name: str, names: Names) -> None:
    """Begin TLS with an address, through its proxy if there is one, and end it. Raises OSError and EOFError."""
    at = urlsplit(address.url)
    proxy = proxy_of(address)
    if proxy is None:
        _, writer = await asyncio.open_connection(at.hostname, at.port, ssl=context, server_hostname=name)
    else:
        writer = await _tunnel(urlsplit(proxy), at.netloc, context, names)
    try:
        if proxy is not None:
            await writer.start_tls(context, server_hostname=name)
    finally:
        writer.close()


async def _tunnel(proxy: SplitResult, target: str, context: ssl.SSLContext, names: Names) -> asyncio.StreamWriter:
    """A connection through a proxy, verified by the same CA as the server, to a host and port.

    Raises OSError and EOFError.
    """
    tls = context if proxy.scheme == "https" else None
    port = proxy.port or (443 if tls else 80)
    host = (await names.resolve(proxy.hostname or "", port))[0]["host"]
    reader, writer = await asyncio.open_connection(host, port, ssl=tls, server_hostname=tls and proxy.hostname)
    login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}" if proxy.username else ""
    proof = f"Proxy-Authorization: Basic {base64.b64encode(login.encode()).decode()}\r\n" if login else ""
    writer.write(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{proof}\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    if head.split(None, 2)[1:2] != [b"200"]:
        writer.close()
        raise ConnectionRefusedError
    return writer
