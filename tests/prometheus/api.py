"""A loopback server that answers as Prometheus does, from expositions with times, or as it is told to."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Labels = Mapping[str, str]


@dataclass
class Kept:
    """One series: its labels with `__name__`, and its samples by time (Unix seconds)."""

    metric: Labels
    values: Sequence[tuple[float, str]] = ()
    histograms: Sequence[tuple[float, Any]] = ()


@dataclass
class Api:
    """What it knows, what it was asked, and an answer that it gives in place of the true one.

    `ranges` are the results of range queries by a name that is in them.
    """

    series: list[Kept] = field(default_factory=list)
    instead: tuple[int, str, bytes] | None = None
    beside: Mapping[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    ranges: Mapping[str, Any] = field(default_factory=dict)
    location: str = ""
    url: str = ""

    def answer(self, query: str, at: float) -> list[Any]:
        """The matrix of a range selector, or the jobs of the probe."""
        selector = re.search(r"\{(.*)\}\[(\d+)ms\]", query)
        assert selector is not None, query
        name = re.match(r"[a-z_]+(?=\{)", query)
        matchers = re.findall(r'(\w+)(=~|=)"((?:[^"\\]|\\.)*)"', selector[1])
        found = [one for one in self.series if all(_matches(one.metric, *matcher) for matcher in matchers)]
        first = at - int(selector[2]) / 1000
        if query.startswith("count by (job)"):
            there = [one for one in found if any(first < time <= at for time, _ in one.values)]
            jobs = {one.metric.get("job", "") for one in there}
            return [{"metric": {"job": job} if job else {}, "value": [at, "1"]} for job in sorted(jobs)]
        made = []
        for one in found:
            if name is not None and one.metric["__name__"] != name[0]:
                continue
            row: dict[str, Any] = {"metric": dict(one.metric)}
            row["values"] = [[time, value] for time, value in one.values if first < time <= at + 1e-6]
            row["histograms"] = [[time, value] for time, value in one.histograms if first < time <= at + 1e-6]
            row = {key: value for key, value in row.items() if value}
            if len(row) > 1:
                made.append(row)
        return made


def _matches(metric: Labels, name: str, how: str, text: str) -> bool:
    value = metric.get(name, "")
    return re.fullmatch(text, value) is not None if how == "=~" else value == text


@contextmanager
def serving(api: Api) -> Iterator[Api]:
    """The same, at its `url` while this lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            asked = {name: values[-1] for name, values in parse_qs(parts.query).items()}
            api.asked.append((parts.path, asked))
            api.headers.append(dict(self.headers.items()))
            if api.location:
                self.send_response(302)
                self.send_header("Location", api.location)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            if api.instead is not None:
                status, kind, body = api.instead
            else:
                if parts.path.endswith("query_range"):
                    result: list[Any] = next(
                        (found for name, found in api.ranges.items() if name in asked["query"]), []
                    )
                else:
                    result = api.answer(asked["query"], float(asked["time"]))
                made = {"status": "success", "data": {"resultType": "matrix", "result": result}, **api.beside}
                # As the real one writes it.
                status, kind, body = 200, "application/json", json.dumps(made, separators=(",", ":")).encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
