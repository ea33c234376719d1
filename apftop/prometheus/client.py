"""Questions to a Prometheus-compatible store, and one clear line for each way in which it does not answer.

The transport is prometheus-api-client. What it leaves out is done in a hook that sees each answer before it does: the
store's words of an error, its warnings, redirects, and answers that are no JSON. It tries again by itself what a server
that has too much to do could not answer, and waits for ever: both are switched off.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from apftop.access import is_loopback
from apftop.errors import Trouble, one_line
from apftop.prometheus.store import Store

CONNECT_S = 5.0
ANSWER_S = 60.0
"""So long an answer may take from one byte to the next (seconds); the store is told to give up before."""

ALWAYS: Mapping[str, str] = {"dedup": "true", "partial_response": "false", "max_source_resolution": "0s"}
"""For a Thanos: one of two that scrape the same, all or nothing, and samples as scraped. Others pass it by."""

Series = Mapping[str, Any]
"""One series of an answer as JSON: `metric`, and `values` or `value`, `histograms` or `histogram`."""


class Client:
    """Asks one store. For one thread. `warnings` are what it said beside its answers, once each."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.warnings: list[str] = []

    def query(self, text: str, at: float) -> Sequence[Series]:
        """The series of an instant query at a time (Unix seconds, to the millisecond). Raises Trouble."""
        return self._asked(lambda one: one.custom_query(text, {**self._limits, "time": f"{at:.3f}"}))

    def query_range(self, text: str, first: float, last: float, step_s: int) -> Sequence[Series]:
        """The series of a range query whose times are whole multiples of the step (Unix seconds). Raises Trouble."""
        from datetime import UTC, datetime

        begin, end = (datetime.fromtimestamp(time // step_s * step_s, UTC) for time in (first, last))
        return self._asked(lambda one: one.custom_query_range(text, begin, end, f"{step_s}s", self._limits))

    def close(self) -> None:
        """Let the connection go."""
        self._connection.close()

    @property
    def _limits(self) -> dict[str, str]:
        return {**ALWAYS, "timeout": f"{ANSWER_S - 5:.0f}s"}

    @cached_property
    def _connection(self) -> Any:
        from prometheus_api_client import PrometheusConnect
        from requests import Session
        from urllib3.util.retry import Retry

        session = Session()
        session.verify = self.store.ca_file or True
        # Else a .netrc would put a password in place of the headers.
        session.auth = lambda request: request
        # What goes to this machine goes over no proxy, which would see the secrets.
        session.trust_env = not is_loopback(urlsplit(self.store.url).hostname or "")
        session.hooks["response"].append(self._seen)
        return PrometheusConnect(
            self.store.url,
            headers=dict(self.store.headers),
            retry=Retry(total=0, redirect=False, status=False),
            session=session,
            timeout=(CONNECT_S, ANSWER_S),
        )

    def _asked(self, ask: Any) -> Sequence[Series]:
        from prometheus_api_client.exceptions import PrometheusApiClientException
        from requests import exceptions

        where = self.store.url
        try:
            found = ask(self._connection)
        except exceptions.SSLError as error:
            todo = "name its CA with --prometheus-ca-file"
            raise Trouble(f"its certificate is not trusted ({_cause(error)})", where, todo) from None
        except exceptions.ConnectTimeout:
            raise Trouble(f"no connection within {CONNECT_S:g} s", where) from None
        except exceptions.ReadTimeout:
            raise Trouble(f"no answer within {ANSWER_S:g} s", where, "ask for a shorter time") from None
        except exceptions.ConnectionError as error:
            raise Trouble(f"it cannot be reached ({_cause(error)})", where) from None
        except (exceptions.RequestException, PrometheusApiClientException) as error:
            raise Trouble(f"it did not answer as a Prometheus does ({one_line(str(error), 160)})", where) from None
        except (KeyError, TypeError, ValueError):
            raise Trouble("its answer is not that of a Prometheus", where, "is the path in the URL right?") from None
        if not isinstance(found, list) or not all(map(_is_series, found)):
            raise Trouble("its answer is not that of a Prometheus", where, "is the path in the URL right?")
        return found

    def _seen(self, response: Any, **_: object) -> None:
        """Say what is wrong with an answer, and keep its warnings. Raises Trouble."""
        where, status = self.store.url, response.status_code
        if response.is_redirect:
            raise Trouble("it sends elsewhere: to a page to log in, or another path", where, "name the store's own URL")
        if status in (401, 403):
            todo = "give --prometheus-token-file, --prometheus-header-file or --prometheus-tenant"
            raise Trouble(f"it refuses who asks (HTTP {status})", where, todo)
        said = _said(response)
        if said is None:
            kind = response.headers.get("content-type", "no type").partition(";")[0]
            what = f"HTTP {status}, {one_line(kind, 40)}, is no answer of a Prometheus"
            raise Trouble(what, where, "is the path in the URL right?")
        if status != 200 or said.get("status") == "error":
            words = one_line(str(said.get("error") or said.get("message") or "no reason given"), 240)
            kind = said.get("errorType")
            todo = "ask for a shorter time" if status in (408, 413, 422, 429, 503, 504) else ""
            raise Trouble(f"the query failed (HTTP {status}{f', {kind}' if kind else ''}): {words}", where, todo)
        for one in (*(said.get("warnings") or ()), *(said.get("infos") or ())):
            line = one_line(f"{where} says: {one}", 300)
            if line not in self.warnings:
                self.warnings.append(line)


def _is_series(one: Any) -> bool:
    if not isinstance(one, dict) or not isinstance(one.get("metric"), dict):
        return False
    lists = one.get("values", []), one.get("histograms", [])
    if not all(isinstance(pairs, list) for pairs in lists):
        return False
    return all(
        isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], int | float)
        for pairs in lists
        for pair in pairs
    )


def _said(response: Any) -> Mapping[str, Any] | None:
    """The answer's own words; of one that went well only what stands beside the data is needed. None for no JSON."""
    body = response.content
    if response.status_code == 200 and b'"warnings"' not in body and b'"infos"' not in body:
        return {} if body[:1] == b"{" and b'"status":"error"' not in body[:200] else _decoded(body)
    return _decoded(body)


def _decoded(body: bytes) -> Mapping[str, Any] | None:
    try:
        found = json.loads(body)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _cause(error: BaseException) -> str:
    """The words of the operating system or of OpenSSL beneath the layers around them."""
    inner: object = error
    while isinstance(inner, BaseException):
        deeper = getattr(inner, "reason", None) or inner.__cause__ or (inner.args[0] if inner.args else None)
        if not isinstance(deeper, BaseException):
            break
        inner = deeper
    text = getattr(inner, "strerror", None) or getattr(inner, "verify_message", None) or str(inner)
    return one_line(str(text).rpartition(">: ")[2], 120)
