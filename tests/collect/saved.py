"""Saving samples and reading them back, and samples of real servers to do it with."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from apftop.bundle import Bundle, read_bundle
from apftop.collect.layout import About
from apftop.collect.writer import write_bundle
from apftop.parse.body import pick
from apftop.parse.vocabulary import wanted_at_once
from apftop.records.raw import FLOW_SCHEMA_UID, LEVEL_UID, Endpoint, Sample
from tests.recording import SHIPPED, Recording, Scrape, recordings

TEXT = "text/plain; version=0.0.4; charset=utf-8"
FIRST = (Endpoint.LEVELS, Endpoint.METRICS)
LATER = (Endpoint.LEVELS, Endpoint.QUEUES, Endpoint.REQUESTS, Endpoint.METRICS)


def _of_one(recording: Recording) -> Recording:
    """What one replica said: the first, or the only one."""
    return replace(recording, scrapes=tuple(recording.of(recording.replicas[0])))


RECORDINGS = [_of_one(recording) for recording in recordings(SHIPPED)]
DUMP = (
    b"PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests\n"
    b"exempt,            0,            true,   false,       0,               1\n"
    b"load,              0,            true,   false,       0,               0\n"
)
REQUESTS = (
    b"PriorityLevelName, FlowSchemaName, QueueIndex, RequestIndexInQueue, FlowDistingsher, ArriveTime, "
    b"InitialSeats, FinalSeats, AdditionalLatency, StartTime\n"
    b"load, load, 2, 0, alice, 2026-04-12T10:03:00Z, 1, 0, 0s, 0001-01-01T00:00:00Z\n"
)
QUEUES = b"PriorityLevelName, Index, PendingRequests, ExecutingRequests, SeatsInUse\n"
SCHEMAS = (
    b'{"kind":"FlowSchemaList","apiVersion":"flowcontrol.apiserver.k8s.io/v1","items":[{"metadata":{"name":"load",'
    b'"uid":"fs-load"},"spec":{"matchingPrecedence":500,"priorityLevelConfiguration":{"name":"load"}}}]}'
)
CONFIGS = (
    b'{"kind":"PriorityLevelConfigurationList","apiVersion":"flowcontrol.apiserver.k8s.io/v1","items":[{"metadata":'
    b'{"name":"load","uid":"uid-load"},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":10,'
    b'"limitResponse":{"type":"Reject"}}}}]}'
)
NO_WEBHOOKS = b'{"kind":"MutatingWebhookConfigurationList","apiVersion":"admissionregistration.k8s.io/v1","items":[]}'
WEBHOOKS = (
    b'{"kind":"ValidatingWebhookConfigurationList","apiVersion":"admissionregistration.k8s.io/v1","items":[{"metadata":'
    b'{"name":"checks"},"webhooks":[{"name":"check.kyverno.svc","clientConfig":{"service":{"namespace":"kyverno",'
    b'"name":"kyverno-svc"}},"rules":[{"operations":["CREATE"],"apiGroups":[""],"resources":["pods"]}]}]}]}'
)
APISERVICES = (
    b'{"kind":"APIServiceList","apiVersion":"apiregistration.k8s.io/v1","items":[{"metadata":{"name":"v1."},"spec":'
    b'{"version":"v1"}},{"metadata":{"name":"v1beta1.metrics.k8s.io"},"spec":{"group":"metrics.k8s.io","service":'
    b'{"namespace":"kube-system","name":"metrics-server"}}}]}'
)
LEASES = b'{"kind":"LeaseList","items":[{"metadata":{"name":"apiserver-a"},"spec":{}}]}'


def read(path: Path) -> Bundle:
    def picked(chunks: Iterable[bytes], kind: str, encoding: str) -> tuple[bytes, str]:
        return pick(chunks, kind, encoding, wanted_at_once())

    return read_bundle(path, picked)


def saved(samples: Sequence[Sample], name: str = "bundle") -> Bundle:
    """What comes back of samples that were saved under a name."""
    with tempfile.TemporaryDirectory() as folder:
        return read(write_bundle(samples, Path(folder) / name, About("test")))


def two_looks(*several: Recording) -> list[Sample]:
    """Two looks at all replicas of recordings, as if this tool had asked."""
    samples = []
    for recording in several:
        for replica in recording.replicas:
            first, *_, last = recording.of(replica)
            samples += [*_asked(first, recording.name, FIRST), *_asked(last, recording.name, LATER)]
    return samples


def _asked(scrape: Scrape, name: str, wants: tuple[Endpoint, ...]) -> Iterable[Sample]:
    for number, endpoint in enumerate(wants):
        sent, body = scrape.t + number * 0.015625, scrape.bodies[endpoint]
        if endpoint is Endpoint.METRICS:
            body, _ = pick([body], TEXT, "", wanted_at_once())
        yield Sample(
            replica=f"{name}:{6443 + int(scrape.replica)}",
            endpoint=endpoint,
            body=body,
            status=200,
            content_type=TEXT if endpoint is Endpoint.METRICS else "text/plain; charset=utf-8",
            sent=sent,
            begun=sent + 0.0078125,
            received=sent + 0.01,
            server_date=float(int(sent)),
            headers=(("content-type", TEXT), (FLOW_SCHEMA_UID, "uid-of-schema"), (LEVEL_UID, "uid-of-level")),
            wire_bytes=len(body),
            whole_bytes=len(body),
            named=endpoint is Endpoint.METRICS,
            peer="ab" * 32,
        )


SAMPLES = two_looks(*RECORDINGS)
"""Two looks at three replicas."""

FOLDERS = ["contention-1.30.4%3A6443", "contention-1.37.2%3A6443", "fourphase-1.30.4%3A6444"]
