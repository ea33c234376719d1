"""All metric families of a simulated server: flow control, and enough of the others that it matters which are asked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from apftop.demo.build import BUILD, FEATURES
from apftop.demo.flow_families import FAMILIES as FLOW_FAMILIES
from apftop.demo.flow_families import Rows, Source
from apftop.demo.meters import Distribution
from apftop.demo.server import Server
from apftop.demo.traffic import RequestLabels, Traffic
from apftop.records.parsed import Family, Labels

_IDLE_CPU = 0.06
_MEMORY = 1_150_000_000
_MEMORY_PER_REQUEST = 900_000


def families(server: Server, names: Collection[str] = ()) -> list[Family]:
    """The families of these names, or all of them, in the order of their names; those without a series are left out."""
    chosen = [(name, FAMILIES[name]) for name in sorted(set(names or FAMILIES)) if name in FAMILIES]
    return [family for name, source in chosen if (family := _family(name, source, server)) is not None]


def _family(name: str, source: Source, server: Server) -> Family | None:
    rows: Any = dict(sorted(source.read(server).items()))
    if not rows:
        return None
    histogram = source.kind == "histogram"
    return Family(name, source.kind, source.help, {} if histogram else rows, rows if histogram else {})


def _one(value: Callable[[Server], float]) -> Callable[[Server], Rows]:
    return lambda server: {(): value(server)}


def _peaks(phase: str) -> Callable[[Server], Rows]:
    def read(server: Server) -> Rows:
        peaks = server.inflight.peaks
        return {
            (("request_kind", kind),): float(peak.read(server.now))
            for (one, kind), peak in peaks.items()
            if one == phase
        }

    return read


def _labels(asked: RequestLabels, *more: tuple[str, str]) -> Labels:
    return tuple(sorted((*zip(RequestLabels._fields, asked, strict=True), ("component", "apiserver"), *more)))


def _codes(server: Server) -> Rows:
    return {
        _labels(asked, ("code", str(code)), ("dry_run", "")): float(count)
        for (asked, code), count in server.traffic.codes.items()
    }


def _terminations(server: Server) -> Rows:
    return {_labels(asked, ("code", "429")): float(count) for asked, count in server.traffic.terminations.items()}


def _durations(
    group: Callable[[Traffic], Mapping[RequestLabels, Distribution]], *more: tuple[str, str]
) -> Callable[[Server], Rows]:
    return lambda server: {_labels(asked, *more): one.read() for asked, one in group(server.traffic).items()}


def _storage(server: Server) -> Rows:
    return {
        (("group", group), ("operation", operation), ("resource", resource)): one.read()
        for (operation, group, resource), one in server.traffic.storage.items()
    }


def _memory(server: Server) -> float:
    inside = sum(level.queue_set.waiting + level.queue_set.executing for level in server.levels.values())
    return float(_MEMORY + _MEMORY_PER_REQUEST * inside)


def _cpu(server: Server) -> float:
    return round(server.traffic.cpu_s + _IDLE_CPU * (server.now - server.started_ns) / 1e9, 2)


_LATENCY = "Response latency distribution"
_PARTS = "group, version, resource, subresource, scope and component."

FAMILIES: Mapping[str, Source] = {f"apiserver_flowcontrol_{name}": one for name, one in FLOW_FAMILIES.items()} | {
    "apiserver_current_inflight_requests": Source(
        "gauge",
        "[STABLE] Maximal number of currently used inflight request limit of this apiserver per request kind in last "
        "second.",
        _peaks("executing"),
    ),
    "apiserver_current_inqueue_requests": Source(
        "gauge",
        "[ALPHA] Maximal number of queued requests in this apiserver per request kind in last second.",
        _peaks("waiting"),
    ),
    "apiserver_request_duration_seconds": Source(
        "histogram",
        f"[STABLE] {_LATENCY} in seconds for each verb, dry run value, {_PARTS}",
        _durations(lambda traffic: traffic.durations, ("dry_run", "")),
    ),
    "apiserver_request_filter_duration_seconds": Source(
        "histogram",
        "[ALPHA] Request filter latency distribution in seconds, for each filter type",
        lambda server: {(("filter", "priorityandfairness"),): server.traffic.queueing.read()},
    ),
    "apiserver_request_sli_duration_seconds": Source(
        "histogram",
        f"[ALPHA] {_LATENCY} (not counting webhook duration and priority & fairness queue wait times) in seconds for "
        f"each verb, {_PARTS}",
        _durations(lambda traffic: traffic.without_waits),
    ),
    "apiserver_request_terminations_total": Source(
        "counter", "[ALPHA] Number of requests which apiserver terminated in self-defense.", _terminations
    ),
    "apiserver_request_total": Source(
        "counter",
        "[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, "
        "scope, component, and HTTP response code.",
        _codes,
    ),
    "etcd_request_duration_seconds": Source(
        "histogram", "[ALPHA] Etcd request latency in seconds for each operation and object type.", _storage
    ),
    "kubernetes_build_info": Source(
        "gauge",
        "[BETA] A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, "
        "build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
        lambda _: {BUILD: 1.0},
    ),
    "kubernetes_feature_enabled": Source(
        "gauge",
        "[BETA] This metric records the data about the stage and enablement of a k8s feature.",
        lambda _: {(("name", name), ("stage", stage)): float(on) for (name, stage), on in FEATURES.items()},
    ),
    "process_cpu_seconds_total": Source("counter", "Total user and system CPU time spent in seconds.", _one(_cpu)),
    "process_resident_memory_bytes": Source("gauge", "Resident memory size in bytes.", _one(_memory)),
    "process_start_time_seconds": Source(
        "gauge", "Start time of the process since unix epoch in seconds.", _one(lambda server: server.started_s)
    ),
}
