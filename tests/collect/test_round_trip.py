"""What a saved bundle says is what the look said that it was saved from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apftop.bundle_answers import ANSWERS
from apftop.bundle_times import Times
from apftop.collect.layout import About
from apftop.collect.writer import write_bundle
from apftop.derive.frame import frame
from apftop.live import fold
from apftop.records.raw import FLOW_SCHEMA_UID, KEPT_HEADERS, LEVEL_UID, Endpoint, Sample
from tests.collect.saved import (
    CONFIGS,
    DUMP,
    FOLDERS,
    LEASES,
    NO_WEBHOOKS,
    QUEUES,
    REQUESTS,
    SAMPLES,
    SCHEMAS,
    TEXT,
    WEBHOOKS,
    read,
    saved,
)
from tests.derive.behind import answer, requests
from tests.derive.build import dispatched, exposition, histogram, rejected

FACTS = b'{"redacted_by":"1","hands":[{"flow_schema":"load","distinguisher":"alice","queues":8,"hand":[2,1]}]}'
BODIES = {
    Endpoint.METRICS: [
        exposition(dispatched(count), rejected(count / 2, "queue-full"), *histogram("x", [0.1])) for count in (0, 7, 11)
    ],
    Endpoint.LEVELS: [DUMP],
    Endpoint.QUEUES: [QUEUES],
    Endpoint.REQUESTS: [REQUESTS],
    Endpoint.SCHEMAS: [SCHEMAS],
    Endpoint.CONFIGS: [CONFIGS, b"kind: List\napiVersion: v1\nitems: []\n"],
    Endpoint.BACKEND: [answer(requests(count)) for count in (3, 8)],
    Endpoint.VALIDATING: [WEBHOOKS],
    Endpoint.MUTATING: [NO_WEBHOOKS],
    Endpoint.APISERVICES: [b"kind: List\napiVersion: v1\nitems: []\n"],
    Endpoint.WEBHOOKS: [WEBHOOKS],
    Endpoint.DISCOVERY: [b'{"versions":[]}'],
    Endpoint.LEASES: [LEASES],
    Endpoint.FACTS: [FACTS],
}
REFUSALS = {429: b"Too many requests, please try again later.\n", 403: b'{"kind":"Status","code":403}', 404: b""}
NAMES = (
    "10.0.0.1:6443",
    "[::1]:6443",
    "rancher.example:443/k8s/clusters/c-x",
    "..",
    "A",
    "a",
    "http",
    "s\u00e4\x1b[2J/ x",
)
TIMES = st.floats(1.0, 4e9)
STAMPS = st.none() | TIMES
HEADERS = st.dictionaries(
    st.sampled_from(KEPT_HEADERS), st.sampled_from(["1", "uid-load", "fs-load", "text/plain", "1000.25"])
)


@st.composite
def answers(draw: st.DrawFn) -> Sample:
    """Any answer that asking can give."""
    endpoint = draw(st.sampled_from(list(Endpoint)))
    status = draw(st.sampled_from([200, 200, 200, None, *REFUSALS]))
    error = "no answer in 10 s: 10.0.0.1:6443" if status is None else draw(st.sampled_from(["", "", "a web page came"]))
    body = REFUSALS.get(status or 0) if status != 200 else draw(st.sampled_from(BODIES[endpoint]))
    sent = draw(STAMPS)
    return Sample(
        replica=draw(st.sampled_from(NAMES)),
        endpoint=endpoint,
        body=b"" if error or body is None else body,
        status=status,
        error=error,
        content_type=draw(st.sampled_from(["", TEXT, "application/json"])),
        sent=sent,
        begun=draw(STAMPS),
        received=None if sent is None else sent + draw(st.floats(0, 10)),
        server_date=draw(STAMPS),
        server_time=draw(STAMPS),
        noted=draw(STAMPS),
        headers=tuple(draw(HEADERS).items()),
        origin=draw(st.sampled_from(["", "metrics_t0.txt"])),
        wire_bytes=draw(st.none() | st.integers(0, 1 << 40)),
        whole_bytes=draw(st.none() | st.integers(0, 1 << 40)),
        named=draw(st.booleans()),
        peer=draw(st.sampled_from(["", "ab" * 32])),
    )


@settings(max_examples=40, deadline=None)
@given(st.lists(answers(), max_size=12), st.sampled_from(["bundle", "bundle.tgz"]))
def test_whatever_was_answered_comes_back_as_it_was(samples: list[Sample], name: str) -> None:
    found = saved(samples, name)

    assert found.problems == ()
    assert list(found.samples) == samples
    assert frame(fold(found.samples)) == frame(fold(samples))


def test_the_frame_of_several_real_servers_comes_back() -> None:
    before, found = frame(fold(SAMPLES)), saved(SAMPLES, "bundle.tgz")
    after = frame(fold(found.samples))

    assert len(before.replicas) == 3
    assert any(level.counts for replica in before.replicas.values() for level in replica.levels.values())
    assert before == after
    assert list(before.replicas) == list(after.replicas)
    assert before.t0 is not None
    assert before.t1 is not None
    assert found.times == Times(before.t0, before.t1, before.t1 - before.t0, source="test")


def test_own_requests_that_only_led_somewhere_are_still_taken_out() -> None:
    uids = ((FLOW_SCHEMA_UID, "fs-load"), (LEVEL_UID, "uid-load"))
    kept = [
        Sample("kas", Endpoint.METRICS, BODIES[Endpoint.METRICS][0], 200, sent=1.0, received=1.0, headers=uids),
        Sample("kas", Endpoint.DISCOVERY, b"", 404, sent=2.0, received=2.0, headers=uids),
        Sample("kas", Endpoint.SCHEMAS, SCHEMAS, 200, sent=3.0, received=3.0, headers=uids),
        Sample("kas", Endpoint.CONFIGS, CONFIGS, 200, sent=4.0, received=4.0, headers=uids),
        Sample("kas", Endpoint.METRICS, BODIES[Endpoint.METRICS][1], 200, sent=6.0, received=6.0, headers=uids),
    ]
    counts = frame(fold(saved(kept).samples)).replicas["kas"].levels["load"].counts

    assert counts is not None
    assert counts.dispatched == 7 - 4


def test_a_file_that_somebody_took_out_is_unknown_and_no_fault(tmp_path: Path) -> None:
    path = write_bundle(SAMPLES, tmp_path / "bundle", About("test"))
    for dump in path.glob("replicas/*/dump_requests.txt"):
        dump.unlink()
    found = read(path)

    assert found.problems == ()
    for replica in frame(fold(found.samples)).replicas.values():
        assert replica.requests is None
        assert replica.endpoints["dump_requests"] is None
        assert not replica.failed


def test_a_refusal_that_somebody_took_out_is_still_one(tmp_path: Path) -> None:
    denied = Sample("a", Endpoint.QUEUES, b"no\n", 403)
    path = write_bundle([denied, Sample("a", Endpoint.LEVELS, DUMP, 200)], tmp_path / "b", About("test"))
    (path / "http" / "dump_queues.txt").unlink()

    assert read(path).samples[0] == replace(denied, body=b"")


def test_a_file_that_broke_after_it_was_saved_is_named(tmp_path: Path) -> None:
    path = write_bundle(SAMPLES, tmp_path / "bundle", About("test"))
    (torn, *_) = sorted(path.glob("replicas/*/metrics_t1.txt"))
    torn.write_bytes(torn.read_bytes()[:-200])
    replica, *others = frame(fold(read(path).samples)).replicas.values()

    assert any("metrics_t1.txt: truncated" in problem for problem in replica.problems)
    assert replica.failed
    assert not any(other.failed for other in others)


def test_a_file_that_was_laid_beside_is_named(tmp_path: Path) -> None:
    path = write_bundle(SAMPLES, tmp_path / "bundle", About("test"))
    (path / "flowschemas.json").write_bytes(SCHEMAS)

    assert read(path).problems == ("flowschemas.json: not noted in answers.json, left out",)


@pytest.mark.parametrize("noted", [b"", b"{}", b'[{"replica": 3}', b"\xff\xfe"])
def test_without_readable_notes_the_files_are_read_as_they_are(noted: bytes, tmp_path: Path) -> None:
    path = write_bundle(SAMPLES, tmp_path / "bundle", About("test"))
    (path / ANSWERS).write_bytes(noted)
    found = read(path)

    assert any("answers.json" in problem for problem in found.problems)
    replicas = frame(fold(found.samples)).replicas
    assert list(replicas) == FOLDERS
    for replica in replicas.values():
        assert replica.window is not None
        assert replica.requests


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (b'{"replica": "a", "endpoint": "metrics", "sent": 1e300}', "sent"),
        (b'{"replica": "a", "endpoint": "dump_moon"}', "dump_moon"),
        (b'{"endpoint": "metrics"}', "replica"),
        (b'{"replica": "a", "endpoint": "metrics", "file": 3}', "str"),
    ],
)
def test_a_note_that_makes_no_sense_is_named_and_left_out(entry: bytes, why: str, tmp_path: Path) -> None:
    path = write_bundle([Sample("a", Endpoint.LEVELS, DUMP, 200)], tmp_path / "b", About("test"))
    (path / ANSWERS).write_bytes(b"[" + entry + b"," + (path / ANSWERS).read_bytes().lstrip().removeprefix(b"["))
    found = read(path)

    assert [sample.endpoint for sample in found.samples] == [Endpoint.LEVELS]
    assert len(found.problems) == 1
    assert "entry 1" in found.problems[0]
    assert why in found.problems[0]


def test_notes_lead_to_no_file_outside_of_the_bundle(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    path = write_bundle([Sample("a", Endpoint.LEVELS, DUMP, 200)], tmp_path / "b", About("test"))
    (path / ANSWERS).write_text('[{"replica": "a", "endpoint": "dump_requests", "file": "../secret.txt"}]')
    found = read(path)

    assert all(b"secret" not in sample.body for sample in found.samples)


def test_headers_that_may_hold_secrets_are_not_saved(tmp_path: Path) -> None:
    secret = Sample("a", Endpoint.LEVELS, b"no\n", 403, headers=(("set-cookie", "s3cr3t"), ("retry-after", "1")))
    path = write_bundle([secret, replace(secret, body=DUMP, status=200)], tmp_path / "b", About("test"))

    assert not any(b"s3cr3t" in file.read_bytes() for file in path.rglob("*") if file.is_file())
    assert [sample.headers for sample in read(path).samples] == [(("retry-after", "1"),)] * 2
