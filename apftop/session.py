"""Sessions with servers: one connection each, with its deadlines, its certificates and its proxy."""

from __future__ import annotations

import hashlib
import time
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from apftop import __version__
from apftop.access import Access, proxy_of, ssl_context
from apftop.failures import Answer, Deadlines

if TYPE_CHECKING:
    import aiohttp
    from aiohttp.connector import Connection

    from apftop.names import Names

DEFAULT = Deadlines()


def names_of(deadlines: Deadlines) -> Names:
    """What finds addresses, in less than the time of a connection, so that it is said which of the two hangs."""
    from apftop.names import Names

    return Names(round(0.8 * deadlines.connect_s, 3))


def open_session(access: Access, deadlines: Deadlines = DEFAULT, names: Names | None = None) -> aiohttp.ClientSession:
    """A session for one server: one connection, kept between requests. Raises Unreachable.

    Sessions of one loop may share their `names`: one lookup that hangs is then not begun again for each.
    """
    import aiohttp

    tls = ssl_context(access) if access.url.startswith("https:") else True
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            ssl=tls, limit=1, keepalive_timeout=75, resolver=names or names_of(deadlines), use_dns_cache=False
        ),
        timeout=aiohttp.ClientTimeout(
            total=deadlines.whole_s, connect=deadlines.connect_s, sock_read=deadlines.first_byte_s
        ),
        headers={"User-Agent": f"apftop/{__version__}"},
        proxy=proxy_of(access),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        read_bufsize=1 << 18,
        response_class=_response_class(),
        trace_configs=[_tracing()],
    )


def _tracing() -> aiohttp.TraceConfig:
    """Notes in the Answer of a request when it has its connection: what was waited for until then is not the server."""
    import aiohttp

    async def connected(_: aiohttp.ClientSession, context: SimpleNamespace, __: Any) -> None:
        if isinstance(context.trace_request_ctx, Answer):
            context.trace_request_ctx.sent = time.time()

    tracing = aiohttp.TraceConfig()
    tracing.on_connection_create_end.append(connected)
    tracing.on_connection_reuseconn.append(connected)
    return tracing


@cache
def _response_class() -> type[aiohttp.ClientResponse]:
    """Answers that know their server's certificate, also after a short one has given its connection back."""
    import aiohttp

    class Answered(aiohttp.ClientResponse):
        peer = ""

        async def start(self, connection: Connection) -> aiohttp.ClientResponse:
            tls = connection.transport and connection.transport.get_extra_info("ssl_object")
            self.peer = hashlib.sha256(tls.getpeercert(binary_form=True) or b"").hexdigest() if tls else ""
            return await super().start(connection)

    return Answered
