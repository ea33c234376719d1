"""Open watches on config maps, which make the creations in their namespace wide and let their seats linger."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

from tests.planes.client import ApiError
from tests.planes.plane import Plane

MAX_WATCHES = 500
ANSWER_SECONDS = 20.0


@contextmanager
def watchers(plane: Plane, namespace: str, count: int, replica: int = 0) -> Iterator[None]:
    """Holds `count` watches of one replica open during the block, as the exempt admin, and reads nothing from them."""
    parts = urlsplit(plane.urls[replica])
    context = ssl.create_default_context(cafile=str(plane.ca_file))
    headers = {"Authorization": f"Bearer {plane.tokens['admin']}", "Accept": "application/json"}
    path = f"/api/v1/namespaces/{namespace}/configmaps?watch=true&resourceVersion=0&timeoutSeconds=900"
    with ExitStack() as open_ones:
        for _ in range(min(count, MAX_WATCHES)):
            connection = http.client.HTTPSConnection(
                parts.hostname or "", parts.port, timeout=ANSWER_SECONDS, context=context
            )
            open_ones.callback(connection.close)
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            open_ones.callback(answer.close)
            if answer.status != 200:
                raise ApiError(f"a watch in {namespace} was answered with status {answer.status}")
        yield
