"""The demo over HTTP, read by apftop's own pipeline and by a plain client."""

from __future__ import annotations

import gzip
import http.client
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from urllib.parse import urlencode, urlsplit

import pytest

from apftop.access import Access, server_name
from apftop.demo.objects import uid
from apftop.demo.running import Demo, start_demo
from apftop.demo.server import Server
from apftop.derive.frame import frame
from apftop.errors import Trouble
from apftop.fetch import LOOK, Form, Manner, Turn, run
from apftop.live import fold
from apftop.parse.body import picker_of_apf
from apftop.parse.metrics import parse_metrics
from apftop.parse.objects import parse_objects
from apftop.parse.vocabulary import asked_names
from apftop.records.frame import Frame, Level
from apftop.records.parsed import Family, Metrics
from apftop.records.raw import Endpoint, Sample
from tests.demo.planes import HOT, HandClock, at, live

OWN_LEVEL = "global-default"
FLOW_CONTROL = "/apis/flowcontrol.apiserver.k8s.io"


@pytest.fixture(scope="module")
def standing() -> Iterator[tuple[Demo, HandClock]]:
    """A demo in the middle of its rush, whose time stands still between the steps of a test."""
    clock = HandClock()
    demo = start_demo("rush", seed=5, clock=clock)
    move(demo, clock, 30.0)
    yield demo, clock
    demo.stop()


def move(demo: Demo, clock: HandClock, seconds: float) -> None:
    for server in demo.plane.servers:
        live(server, seconds)
    clock.now = at(seconds)


def look(demo: Demo, *wants: Endpoint, form: Form = "auto", named: bool = True, gzip: bool = False) -> list[Sample]:
    accesses = [Access(server_name(url), url) for url in demo.urls]
    families = asked_names() if named else ()
    manner = Manner(families=families, form=form, gzip=gzip, picker=picker_of_apf)
    return run(accesses, [Turn(wants or LOOK)], manner)


def get(demo: Demo, target: str, **headers: str) -> http.client.HTTPResponse:
    """The answer of the server that is under load; its body is still to be read."""
    connection = http.client.HTTPConnection(urlsplit(demo.urls[HOT]).netloc, timeout=20)
    connection.request("GET", target, headers={name.replace("_", "-"): value for name, value in headers.items()})
    return connection.getresponse()


def truth(server: Server) -> dict[str, dict[str, int]]:
    """What the simulation itself knows of each level."""
    found = {}
    for name, level in server.levels.items():
        held, tallies = level.queue_set, level.tallies.values()
        found[name] = {
            "waiting": held.waiting,
            "waiting_seats": held.seats_waiting,
            "executing": held.executing,
            "seats_in_use": held.seats_in_use,
            "current": held.limit,
            "nominal": level.model.limits.nominal,
            "lower": level.model.limits.lower,
            "upper": level.model.limits.upper,
            "active_queues": sum(bool(queue.waiting) for queue in held.queues),
            "dispatched": sum(tally.dispatched for tally in tallies),
            "accepted": sum(part.count for tally in tallies for key, part in tally.waits.items() if key == "true"),
        } | {
            reason: sum(tally.rejected.get(reason, 0) for tally in tallies)
            for reason in ("queue-full", "concurrency-limit", "time-out")
        }
    return found


def by_number(found: Frame, demo: Demo) -> list[dict[str, Level]]:
    return [dict(found.replicas[server_name(url)].levels) for url in demo.urls]


def test_the_frame_shows_the_numbers_of_the_simulation(standing: tuple[Demo, HandClock]) -> None:
    demo, clock = standing
    first = look(demo)
    before = [truth(server) for server in demo.plane.servers]
    move(demo, clock, 41.0)
    # The second look comes later by the servers' clocks only, and so at a time that is stamped later here as well.
    second = look(demo)
    after = [truth(server) for server in demo.plane.servers]

    found = frame(fold([*first, *second]))

    own = len(second) // len(demo.urls)
    for levels, was, now in zip(by_number(found, demo), before, after, strict=True):
        assert levels.keys() == now.keys()
        for name, level in levels.items():
            for number in ("waiting", "waiting_seats", "executing", "seats_in_use", "current", "nominal", "lower"):
                assert getattr(level, number) == now[name][number], (name, number)
            assert (level.upper, level.active_queues) == (now[name]["upper"], now[name]["active_queues"])
            assert level.counts is not None
            dispatched = now[name]["dispatched"] - was[name]["dispatched"] - (own if name == OWN_LEVEL else 0)
            assert level.counts.dispatched == dispatched
            for reason in ("queue-full", "concurrency-limit", "time-out"):
                assert level.counts.rejected.get(reason, 0) == now[name][reason] - was[name][reason]
            assert level.counts.arrivals == dispatched + level.counts.rejected_total + (
                now[name]["waiting"] - was[name]["waiting"]
            )
            if level.waits is not None:
                served = now[name]["accepted"] - was[name]["accepted"] - level.waits.timed_out
                assert level.waits.executed == served
    hot = by_number(found, demo)[HOT]["workload-low"]
    assert hot.state == "saturated"
    assert hot.inside is not None
    assert sum(hot.inside.waiting_by_user.values()) == hot.waiting


def test_our_pipeline_finds_nothing_wrong_or_unknown(standing: tuple[Demo, HandClock]) -> None:
    demo, _ = standing

    found = frame(fold(look(demo)))

    assert len(found.replicas) == 3
    for replica in found.replicas.values():
        assert (replica.version, replica.kind, replica.apf) == ("v1.37.2", "kube-apiserver", "ok")
        assert (replica.problems, replica.unknown_families, replica.unknown_columns) == ((), (), ())
        assert (replica.cannot_fill, replica.stale_levels, replica.failed) == ((), (), False)
        assert replica.server_concurrency == 180
        assert (replica.own.schema, replica.own.level) == (OWN_LEVEL, OWN_LEVEL)
        assert all(flow.hand is not None for flow in replica.flows)


def plain(metrics: Metrics) -> dict[str, Family]:
    """The families whose numbers do not count the scrapes themselves."""
    counted = ("dispatched", "wait_duration", "execution", "estimated", "length", "_r", "_s", "_bounds", "process_cpu")
    return {name: family for name, family in metrics.families.items() if not any(word in name for word in counted)}


def test_text_and_protobuf_packed_or_not_hold_the_same_series(standing: tuple[Demo, HandClock]) -> None:
    demo, _ = standing
    found = []
    for form, packed in (("text", False), ("protobuf", False), ("protobuf", True), ("text", True)):
        sample = look(demo, Endpoint.METRICS, form=form, gzip=packed)[0]  # type: ignore[arg-type]
        assert sample.ok, sample.error
        found.append(parse_metrics(sample.body, sample.content_type))

    assert [metrics.format for metrics in found] == ["text", "protobuf", "protobuf", "text"]
    for metrics in found[1:]:
        assert metrics.families.keys() == found[0].families.keys()
        assert plain(metrics) == plain(found[0])


def test_families_are_picked_by_name(standing: tuple[Demo, HandClock]) -> None:
    demo, _ = standing
    whole = get(demo, "/metrics").read()
    named = get(demo, "/metrics?" + urlencode([("name[]", name) for name in asked_names()])).read()
    one = get(demo, "/metrics?name[]=apiserver_flowcontrol_current_limit_seats&name[]=nothing").read()
    unknown = get(demo, "/metrics?name[]=nothing")

    assert len(whole) > 300_000
    assert len(named) < len(whole) / 2
    assert set(parse_metrics(one, "text/plain").families) == {"apiserver_flowcontrol_current_limit_seats"}
    assert (unknown.status, unknown.read()) == (200, b"")
    shown = set(parse_metrics(named, "text/plain").families)
    gone_in_1_37 = {"request_concurrency_in_use", "request_concurrency_limit", "epoch_advance_total"}
    assert set(asked_names()) - shown <= {f"apiserver_flowcontrol_{name}" for name in gone_in_1_37}


def test_metrics_come_packed_when_asked(standing: tuple[Demo, HandClock]) -> None:
    answer = get(standing[0], "/metrics", accept_encoding="gzip")
    packed = answer.read()

    assert answer.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed).startswith(b"# HELP apiserver_current_inflight_requests ")


def test_answers_carry_the_headers_of_a_server(standing: tuple[Demo, HandClock]) -> None:
    demo, clock = standing
    answer = get(demo, "/metrics")

    assert answer.headers["X-Kubernetes-PF-FlowSchema-UID"] == uid("FlowSchema", OWN_LEVEL)
    assert answer.headers["X-Kubernetes-PF-PriorityLevel-UID"] == uid("PriorityLevelConfiguration", OWN_LEVEL)
    assert answer.headers["Process-Start-Time-Unix"] == str(demo.plane.servers[HOT].started_ns // 1_000_000_000)
    assert answer.headers["Date"] == time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(clock.now // 10**9))
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")


def test_the_objects_are_those_by_which_the_servers_run(standing: tuple[Demo, HandClock]) -> None:
    demo, _ = standing
    listed = [json.loads(get(demo, f"{FLOW_CONTROL}/v1/{plural}").read()) for plural in ("flowschemas", LEVELS)]
    schemas, levels = (parse_objects(json.dumps(one).encode()) for one in listed)

    assert not (schemas.problems or levels.problems)
    run_by = {schema.name: schema for schema in demo.plane.schemas}
    assert {schema.name: (schema.priority_level, schema.precedence, schema.rules) for schema in schemas.schemas} == {
        name: (schema.priority_level, schema.precedence, schema.rules) for name, schema in run_by.items()
    }
    assert {level.name: (level.shares, level.queuing, level.exempt) for level in levels.configs} == {
        level.name: (level.shares, level.queuing, level.exempt) for level in demo.plane.levels
    }
    assert [schema.distinguisher for schema in schemas.schemas] == [
        run_by[schema.name].distinguisher for schema in schemas.schemas
    ]
    assert all(schema.dangling is False and schema.meta.uid for schema in schemas.schemas)


LEVELS = "prioritylevelconfigurations"


def test_a_watch_goes_on_until_its_time_is_over(standing: tuple[Demo, HandClock]) -> None:
    demo, _ = standing
    asked = {"watch": "true", "resourceVersion": "1", "timeoutSeconds": "1", "allowWatchBookmarks": "true"}
    first = {**asked, "resourceVersion": "", "sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}

    begun = time.monotonic()
    assert get(demo, f"{FLOW_CONTROL}/v1/flowschemas?{urlencode(asked)}").read() == b""
    assert time.monotonic() - begun > 0.8
    lines = get(demo, f"{FLOW_CONTROL}/v1/flowschemas?{urlencode(first)}").read().splitlines()
    kinds = [json.loads(line)["type"] for line in lines]
    assert kinds == [*["ADDED"] * len(demo.plane.schemas), "BOOKMARK"]


def test_leases_endpoints_version_and_health_are_there(standing: tuple[Demo, HandClock]) -> None:
    demo, clock = standing
    leases = json.loads(get(demo, "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases").read())["items"]
    slices = json.loads(get(demo, "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices").read())["items"]
    now = time.strftime("%Y-%m-%dT%H:%M", time.gmtime(clock.now // 10**9))

    assert [lease["metadata"]["name"].startswith("apiserver-") for lease in leases] == [True] * 3
    assert all(lease["spec"]["renewTime"].startswith(now) for lease in leases)
    assert [one["ports"][0]["port"] for one in slices] == [urlsplit(url).port for url in demo.urls]
    assert json.loads(get(demo, "/version").read())["gitVersion"] == "v1.37.2"
    assert get(demo, "/readyz").read() == b"ok"
    assert get(demo, "/apis/apps/v1/deployments").status == 404


def test_only_get_is_answered(standing: tuple[Demo, HandClock]) -> None:
    connection = http.client.HTTPConnection(urlsplit(standing[0].urls[0]).netloc, timeout=20)
    connection.request("DELETE", "/metrics")

    assert connection.getresponse().status == 405


def test_stopping_is_quick_and_silent_and_closes_the_ports(caplog: pytest.LogCaptureFixture) -> None:
    demo = start_demo()
    kept = http.client.HTTPConnection(urlsplit(demo.urls[0]).netloc, timeout=20)
    kept.request("GET", "/version")
    kept.getresponse().read()
    watched = get(demo, f"{FLOW_CONTROL}/v1/flowschemas?watch=true&resourceVersion=1")
    begun = time.monotonic()
    demo.stop()
    demo.stop()

    assert time.monotonic() - begun < 1.0
    assert not caplog.records
    with pytest.raises(OSError):
        get(demo, "/version")
    watched.close()
    kept.close()


def test_a_scenario_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(Trouble, match=r"no scenario 'storm'.*there are: calm, rush"):
        start_demo("storm")


def test_the_demo_loads_no_heavy_library() -> None:
    code = "import sys, apftop.demo.running; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert not set(loaded) & {"aiohttp", "kubernetes", "textual", "pandas", "numpy", "yaml"}


def test_whom_a_reader_impersonates_gets_the_schema_of_those(standing: tuple[Demo, HandClock]) -> None:
    demo, _ = standing
    account = "system:serviceaccount:kube-system:coredns"

    alone = get(demo, "/version", **{"Impersonate-User": account})
    masters = get(demo, "/version", **{"Impersonate-User": "jane", "Impersonate-Group": "system:masters"})

    assert alone.getheader("X-Kubernetes-Pf-Flowschema-Uid") == uid("FlowSchema", "kube-system-service-accounts")
    assert masters.getheader("X-Kubernetes-Pf-Flowschema-Uid") == uid("FlowSchema", "exempt")
