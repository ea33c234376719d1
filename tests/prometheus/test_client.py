"""Each way in which a store does not answer is told in one clear line, and it is asked once."""

from __future__ import annotations

import json
import socket

import pytest

from apftop.errors import Trouble
from apftop.prometheus.client import Client
from apftop.prometheus.store import store
from tests.prometheus.api import Api

QUERY = 'up{job="apiserver"}[1000ms]'
JSON, HTML = "application/json", "text/html; charset=utf-8"


def trouble(api: Api) -> str:
    client = Client(store(api.url, environment={}))
    with pytest.raises(Trouble) as raised:
        client.query(QUERY, 0.0)
    client.close()
    assert len(api.asked) == 1
    return str(raised.value).replace(api.url, "URL")


def error(kind: str, text: str) -> bytes:
    return json.dumps({"status": "error", "errorType": kind, "error": text}).encode()


@pytest.mark.parametrize(
    ("status", "kind", "body", "told"),
    [
        (401, HTML, b"<html>", "it refuses who asks (HTTP 401): URL; give --prometheus-token-file"),
        (403, "text/plain", b"no", "it refuses who asks (HTTP 403): URL; give --prometheus-token-file"),
        (
            404,
            "text/plain",
            b"404 page not found",
            "HTTP 404, text/plain, is no answer of a Prometheus: URL; is the path",
        ),
        (200, HTML, b"<html>log in</html>", "HTTP 200, text/html, is no answer of a Prometheus: URL; is the path"),
        (200, JSON, b"[]", "HTTP 200, application/json, is no answer of a Prometheus: URL"),
        (200, JSON, b'{"status":"success"}', "its answer is not that of a Prometheus: URL"),
        (200, JSON, b'{"status":"success","data":{"result":[1,"2"]}}', "its answer is not that of a Prometheus: URL"),
        (
            200,
            JSON,
            b'{"status":"success","data":{"result":[{"metric":{},"values":[["x","y"]]}]}}',
            "its answer is not that of a Prometheus: URL",
        ),
        (502, HTML, b"<html>bad gateway", "HTTP 502, text/html, is no answer of a Prometheus: URL"),
        (
            422,
            JSON,
            error("execution", "query processing would load too many samples into memory"),
            "the query failed (HTTP 422, execution): query processing would load too many samples into memory: URL; "
            "ask for a shorter time",
        ),
        (
            503,
            JSON,
            error("timeout", "query timed out"),
            "the query failed (HTTP 503, timeout): query timed out: URL; ask for a shorter time",
        ),
        (
            400,
            JSON,
            error("bad_data", "1:1: parse error:\n\x1b[31m unexpected"),
            "the query failed (HTTP 400, bad_data): 1:1: parse error: [31m unexpected: URL",
        ),
    ],
)
def test_an_answer_that_is_none_is_told_in_one_line(api: Api, status: int, kind: str, body: bytes, told: str) -> None:
    api.instead = status, kind, body
    line = trouble(api)

    assert line.startswith(told)
    assert "\n" not in line


def test_a_redirect_to_a_login_page_is_not_followed(api: Api) -> None:
    api.location = f"{api.url}/login"
    assert trouble(api).startswith("it sends elsewhere: to a page to log in, or another path: URL")


def test_nobody_there_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(Trouble, match="it cannot be reached"):
            Client(store(url, environment={})).query(QUERY, 0.0)


def test_what_is_said_beside_an_answer_is_kept_once(api: Api) -> None:
    api.beside = {"warnings": ["partial response: store-1 is down"], "infos": ["PromQL info: x"]}
    client = Client(store(api.url, environment={}))
    for _ in range(2):
        client.query(QUERY, 0.0)
    client.close()
    told = ["partial response: store-1 is down", "PromQL info: x"]
    assert client.warnings == [f"{api.url} says: {one}" for one in told]


def test_the_path_of_the_url_is_kept_and_thanos_is_asked_for_raw_and_whole_data(api: Api) -> None:
    client = Client(store(f"{api.url}/prometheus/", environment={}))
    client.query(QUERY, 1.2345)
    client.close()
    (path, asked) = api.asked[0]
    assert path == "/prometheus/api/v1/query"
    assert asked["time"] == "1.234"
    assert asked["dedup"] == "true"
    assert asked["partial_response"] == "false"
    assert asked["max_source_resolution"] == "0s"
