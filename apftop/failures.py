"""What went wrong with a connection or an answer, in one line of words that hold nothing secret."""

from __future__ import annotations

import asyncio
import errno
import ssl
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from apftop.access import Access, Unreachable, proxy_of, ssl_context
from apftop.errors import one_line, reason
from apftop.records.parsed import ParseError

if TYPE_CHECKING:
    import aiohttp

OTHER_NAMES = (62, 64)
"""X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH of OpenSSL."""


@dataclass(frozen=True)
class Deadlines:
    """How long to wait, in seconds; `first_byte_s` is also the longest silence within a body.

    It is more than the 15 s for which a level lets a request wait by default: a server counts one that is given up
    before as aborted, and as rejected, and nobody could tell that it was ours.
    """

    connect_s: float = 3.0
    first_byte_s: float = 20.0
    whole_s: float = 60.0


@dataclass
class Answer:
    """What has come so far of an answer; Unix seconds."""

    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    sent: float | None = None
    begun: float | None = None
    received: float | None = None
    wire_bytes: int = 0
    whole_bytes: int | None = None
    body: bytes = b""
    peer: str = ""


class Broken(Exception):
    """An answer that came cannot be used, for the reason that is the text."""


def unusable(answer: Answer, encoding: str, *, decoded: bool) -> Broken | None:
    """Why an answer that is called good is none, by its headers; `decoded` if its content encoding will be removed."""
    if answer.status != 200:
        return None
    if answer.headers.get("content-type", "").startswith("text/html"):
        return Broken("a web page came instead of an answer (a login page of a proxy?)")
    if encoding != "identity" and not decoded:
        return Broken(f"the answer came in {one_line(encoding, 20)}, which was not asked for")
    return None


def wait_s(status: int | None, retry_after: str) -> float:
    """For how many seconds a server wants no further request, by an answer's status and its Retry-After header."""
    if status not in (429, 503):
        return 0.0
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after)
    return 1.0 if status == 429 else 0.0


async def failure(exc: Exception, access: Access, path: str, answer: Answer, deadlines: Deadlines) -> tuple[str, bool]:
    """What went wrong with one request and where, and whether a next one may fare better.

    Not where no connection came about, or where no answer began in time.
    """
    import aiohttp

    if isinstance(exc, Unreachable):
        return str(exc), False
    if isinstance(exc, (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError, aiohttp.ConnectionTimeoutError)):
        return await _no_connection(exc, access, deadlines), False
    what = str(exc) if isinstance(exc, (Broken, ParseError)) else _no_answer(exc, answer, deadlines)
    return f"{what}: {_place(access, path)}", answer.status is not None or not isinstance(exc, TimeoutError)


async def _no_connection(exc: aiohttp.ClientHttpProxyError | OSError, access: Access, deadlines: Deadlines) -> str:
    """What went wrong before a request could be sent, and where, without anything that a URL or header hides."""
    import aiohttp

    where, proxy = _place(access), urlsplit(proxy_of(access) or "").netloc.rpartition("@")[2]
    if isinstance(exc, aiohttp.ClientHttpProxyError):
        return f"proxy answered {exc.status}: {proxy}"
    if isinstance(exc, aiohttp.ClientProxyConnectionError):
        return f"proxy: {reason(exc)}: {proxy}"
    if isinstance(exc, aiohttp.ConnectionTimeoutError):
        return f"no connection in {deadlines.connect_s:g} s: {where}"
    if isinstance(exc, aiohttp.ClientConnectorDNSError):
        return f"{exc.strerror if exc.errno == errno.ETIMEDOUT else 'name not found'}: {where}"
    if isinstance(exc, aiohttp.ClientConnectorCertificateError):
        return await _certificate(exc.certificate_error, access, proxy, deadlines)
    if isinstance(exc, aiohttp.ClientConnectorSSLError):
        return f"TLS: {reason(exc.os_error)}: {where}"
    unnumbered = str(getattr(exc, "os_error", "")) or "connection closed in the TLS handshake"
    return f"{reason(exc) if exc.errno else unnumbered}: {where}"


async def _certificate(refused: Exception, access: Access, proxy: str, deadlines: Deadlines) -> str:
    """Why the server's certificate is refused."""
    where = _place(access)
    code = refused.verify_code if isinstance(refused, ssl.SSLCertVerificationError) else None
    if code in OTHER_NAMES:
        expected = access.server_hostname or urlsplit(access.url).hostname
        names = "" if proxy else await _names(access, expected, deadlines.connect_s)
        return f"TLS: certificate is for other names{names}, not {expected}: {where}; --tls-server-name picks one"
    why = getattr(refused, "verify_message", "no reason given")
    return f"TLS: certificate not trusted ({why}): {where}; --ca-file names its authority"


async def _names(access: Access, expected: str | None, within_s: float) -> str:
    """The names of a trusted certificate that is for somebody else, told by a second handshake without a request."""
    from apftop.names import Names

    host, port = urlsplit(access.url).hostname or "", urlsplit(access.url).port or 443
    context = ssl_context(replace(access, cert_file=None))
    context.check_hostname = False
    try:
        async with asyncio.timeout(within_s):
            address = (await Names(within_s).resolve(host, port))[0]
            _, writer = await asyncio.open_connection(address["host"], port, ssl=context, server_hostname=expected)
    except OSError:
        return ""
    certificate = writer.get_extra_info("peercert") or {}
    writer.transport.abort()
    names = [value for _, value in certificate.get("subjectAltName", ())]
    return f" ({', '.join(names[:8])}{', ...' if len(names) > 8 else ''})"


def _no_answer(exc: Exception, answer: Answer, deadlines: Deadlines) -> str:
    """What went wrong after the connection came about: before an answer, or in the midst of one."""
    import aiohttp

    begun = answer.status is not None
    if isinstance(exc, aiohttp.SocketTimeoutError):
        silence = f"{deadlines.first_byte_s:g} s"
        return f"silent for {silence} after {size(answer.wire_bytes)}" if begun else f"no answer in {silence}"
    if isinstance(exc, TimeoutError):
        return f"not complete in {deadlines.whole_s:g} s ({size(answer.wire_bytes)} came)"
    if begun:
        return f"connection closed after {size(answer.wire_bytes)}"
    if isinstance(exc, aiohttp.ServerDisconnectedError):
        return "connection closed before an answer"
    if isinstance(exc, aiohttp.ClientResponseError):
        return "the answer is not HTTP"
    if isinstance(exc, OSError):
        return f"{reason(exc)} before an answer"
    # The text of other errors may quote a header.
    return f"the request cannot be sent ({type(exc).__name__})"


def _place(access: Access, path: str = "") -> str:
    """Where it went wrong: host and port as the URL has them, and the path without its query."""
    return urlsplit(access.url).netloc + path.partition("?")[0]


def size(count: int) -> str:
    """A number of bytes as people read it."""
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1e3:.1f} kB" if count < 1_000_000 else f"{count / 1e6:.1f} MB"
