"""One question and what it gives, with pickers to read by."""

from __future__ import annotations

import gzip
import time
from dataclasses import replace

from apftop.access import Access, Headers
from apftop.fetch import LOOK, Manner, Turn, run
from apftop.records.parsed import ParseError
from apftop.records.raw import Endpoint, Sample
from tests.reach.credentials import SECRET
from tests.reach.server import Ca, Server

LEVELS = "/debug/api_priority_and_fairness/dump_priority_levels"
GROUP = "/apis/flowcontrol.apiserver.k8s.io"


async def secret() -> Headers:
    return (("Authorization", f"Bearer {SECRET}"),)


def reaching(server: Server, ca: Ca) -> Access:
    return Access(f"127.0.0.1:{server.port}", server.url, ca_file=str(ca.ca_file), auth=secret)


def look_at(access: Access, *wants: Endpoint, manner: Manner | None = None) -> list[Sample]:
    """One look, at everything where nothing is named."""
    return run([access], [Turn(wants or LOOK)], manner or Manner())


def ask(access: Access, endpoint: Endpoint = Endpoint.LEVELS, manner: Manner | None = None) -> Sample:
    (sample,) = look_at(access, endpoint, manner=manner)
    assert SECRET not in repr(replace(sample, body=b""))
    assert "\n" not in sample.error
    return sample


def fails(access: Access, manner: Manner | None = None, endpoint: Endpoint = Endpoint.LEVELS) -> str:
    """The error of a question that gets no usable answer."""
    sample = ask(access, endpoint, manner)
    assert sample.error
    assert not sample.ok
    assert sample.body == b""
    return sample.error


class Keep:
    """A picker that keeps every line with a word in it."""

    def __init__(self, content_type: str, encoding: str) -> None:
        self.made_for = (content_type, encoding)
        self.encoding = encoding
        self.got = b""

    @property
    def seen(self) -> int:
        return len(self.body())

    def feed(self, chunk: bytes) -> None:
        self.got += chunk

    def finish(self) -> bytes:
        return b"".join(line for line in self.body().splitlines(keepends=True) if b"apf" in line)

    def body(self) -> bytes:
        return gzip.decompress(self.got) if self.encoding == "gzip" else self.got


class Dawdle(Keep):
    """Takes half a second for what it keeps."""

    def finish(self) -> bytes:
        time.sleep(0.5)
        return super().finish()


class Choke(Keep):
    def feed(self, chunk: bytes) -> None:
        raise ParseError("not an exposition")
