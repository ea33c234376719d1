"""What is asked, in which order, and what becomes of each answer."""

from __future__ import annotations

import gzip
import hashlib
import json
import socket
import ssl
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from apftop import __version__
from apftop.access import Access, Unreachable
from apftop.fetch import LOOK, Manner, Turn, look, run
from apftop.live import fold
from apftop.records.raw import OBJECTS, Endpoint, Sample
from apftop.session import open_session
from tests.reach.asking import GROUP, LEVELS, Choke, Dawdle, Keep, ask, look_at, reaching
from tests.reach.credentials import SECRET
from tests.reach.server import Ca, Reply, Server


class TestAnswers:
    def test_a_whole_answer(self, server: Server, access: Access) -> None:
        headers = [
            ("Date", "Tue, 15 Nov 1994 12:45:26 GMT"),
            ("Content-Type", "text/plain; charset=utf-8"),
            ("X-Kubernetes-Pf-Flowschema-Uid", "a-1"),
            ("X-Kubernetes-Pf-Prioritylevel-Uid", "b-2"),
            ("Process-Start-Time-Unix", "1700000000"),
            ("Set-Cookie", "session=x"),
            ("Audit-Id", "c-3"),
        ]
        server.replies[LEVELS] = Reply(body=b"PriorityLevelName\n" * 100_000, headers=headers)
        before = time.time()
        sample = ask(access)
        assert sample.ok
        assert sample.replica == access.name
        assert sample.endpoint is Endpoint.LEVELS
        assert sample.body == b"PriorityLevelName\n" * 100_000
        assert sample.status == 200
        assert sample.content_type == "text/plain; charset=utf-8"
        assert sample.server_date == 784903526
        assert dict(sample.headers) == {
            "date": "Tue, 15 Nov 1994 12:45:26 GMT",
            "content-type": "text/plain; charset=utf-8",
            "x-kubernetes-pf-flowschema-uid": "a-1",
            "x-kubernetes-pf-prioritylevel-uid": "b-2",
            "process-start-time-unix": "1700000000",
        }
        assert sample.sent is not None and sample.begun is not None and sample.received is not None
        assert before <= sample.sent <= sample.begun <= sample.received <= time.time()
        assert sample.wire_bytes == sample.whole_bytes == 1_800_000
        assert sample.named is False

    def test_the_first_byte_has_its_own_time(self, server: Server, access: Access) -> None:
        server.replies[LEVELS] = Reply(body=b"x", after_s=0.5)
        sample = ask(access)
        assert sample.sent is not None and sample.begun is not None
        assert sample.begun - sample.sent >= 0.5

    def test_connecting_is_before_the_sending(self, server: Server, access: Access) -> None:
        server.handshake_s = 1.0
        begun = time.time()
        first, second = look_at(access, Endpoint.LEVELS, Endpoint.QUEUES)
        assert first.sent is not None and first.begun is not None and first.received is not None
        assert second.sent is not None and second.begun is not None
        assert first.sent - begun >= 1.0 > first.begun - first.sent
        assert first.received <= second.sent <= second.begun
        assert {seen.connection for seen in server.seen} == {1}

    def test_picking_is_after_the_receiving(self, server: Server, access: Access) -> None:
        server.replies["/metrics"] = Reply(body=b"apf 1\n")
        sample = ask(access, Endpoint.METRICS, Manner(picker=Dawdle))
        assert sample.received is not None
        assert time.time() - sample.received >= 0.5
        assert sample.body == b"apf 1\n"

    def test_without_a_connection_the_time_of_asking_is_known(self) -> None:
        before = time.time()
        sample = ask(Access("x", "https://127.0.0.1:1"))
        assert sample.error
        assert sample.sent is not None and sample.received is not None
        assert before <= sample.sent <= sample.received <= time.time()

    @pytest.mark.parametrize("body", [b"", b"x" * 3_000_000])
    def test_the_certificate_of_the_server_is_known(self, server: Server, access: Access, body: bytes) -> None:
        server.replies[LEVELS] = Reply(body=body)
        certificate = ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(("127.0.0.1", server.port)))
        expected = hashlib.sha256(certificate).hexdigest()
        assert ask(access).peer == ask(replace(access, ca_file=None, insecure=True)).peer == expected
        with Server(None) as plain:
            assert ask(Access("x", plain.url)).peer == ""

    def test_no_answer_has_no_size(self, server: Server, access: Access) -> None:
        server.replies[LEVELS] = Reply(body=b"x" * 3000, how="half")
        sample = ask(access)
        assert (sample.wire_bytes, sample.whole_bytes) == (1500, None)
        server.replies[LEVELS] = Reply(how="close")
        sample = ask(access)
        assert (sample.begun, sample.wire_bytes, sample.whole_bytes) == (None, 0, None)

    @pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 503])
    def test_a_refusal_is_an_answer_and_is_asked_once(self, server: Server, access: Access, status: int) -> None:
        server.replies[LEVELS] = Reply(status, b'{"kind":"Status"}', [("Retry-After", "1")])
        sample = ask(access)
        assert sample.status == status
        assert sample.error == ""
        assert not sample.ok
        assert sample.body == b'{"kind":"Status"}'
        assert sample.header("retry-after") == "1"
        assert len(server.seen) == 1

    def test_a_long_refusal_is_read_and_cut(self, server: Server, access: Access) -> None:
        server.replies[LEVELS] = Reply(500, b"x" * 1_000_000)
        sample = ask(access)
        assert len(sample.body) == 64 << 10
        assert sample.wire_bytes == sample.whole_bytes == 1_000_000

    def test_a_compressed_refusal_keeps_its_status_only(self, server: Server, access: Access) -> None:
        server.replies["/metrics"] = Reply(403, gzip.compress(b"no"), [("Content-Encoding", "gzip")])
        sample = ask(access, Endpoint.METRICS, Manner(gzip=True, picker=Keep))
        assert (sample.status, sample.error, sample.body, sample.whole_bytes) == (403, "", b"", None)

    def test_a_redirect_is_not_followed(self, server: Server, access: Access) -> None:
        server.replies[LEVELS] = Reply(302, headers=[("Location", f"{server.url}/elsewhere")])
        assert ask(access).status == 302
        assert [seen.path for seen in server.seen] == [LEVELS]

    def test_only_get_with_our_name(self, server: Server, access: Access) -> None:
        run([access], [Turn()])
        assert {seen.method for seen in server.seen} == {"GET"}
        assert {tuple(seen.headers["user-agent"]) for seen in server.seen} == {(f"apftop/{__version__}",)}
        assert {tuple(seen.headers["authorization"]) for seen in server.seen} == {(f"Bearer {SECRET}",)}

    def test_control_characters_of_a_header(self, server: Server, access: Access) -> None:
        server.replies[LEVELS] = Reply(headers=[("Date", "never"), ("Retry-After", "1\x9b[2J")])
        sample = ask(access)
        assert sample.server_date is None
        assert (sample.header("retry-after") or "").isprintable()

    @pytest.mark.parametrize(
        ("date", "seconds"),
        [
            ("Mon, 01 Jan 2024 00:00:00 +99999999999999", None),
            ("Mon, 01 Jan 99999 00:00:00 GMT", None),
            ("Mon, 32 Jan 2024 00:00:00 GMT", None),
            ("9" * 5000, None),
            ("", None),
            ("Mon, 01 Jan 2024 00:00:00 -0000", 1704067200),
            ("Mon, 01 Jan 2024 01:00:00 +0100", 1704067200),
        ],
    )
    def test_dates(self, server: Server, access: Access, date: str, seconds: float | None) -> None:
        server.replies[LEVELS] = Reply(body=b"x", headers=[("Date", date)])
        sample = ask(access)
        assert sample.ok
        assert sample.server_date == seconds

    @pytest.mark.parametrize("name", ["Retry-After", "Process-Start-Time-Unix", "X-Kubernetes-Pf-Flowschema-Uid"])
    def test_headers_that_are_absurdly_large_stay_text(self, server: Server, access: Access, name: str) -> None:
        for digits in (30, 400, 5000):
            server.replies[LEVELS] = Reply(429, headers=[(name, "9" * digits)])
            sample = look_at(access, Endpoint.LEVELS)[0]
            assert sample.error == ""
            kept = sample.header(name.lower()) or ""
            assert kept.startswith("9" * 30)
            assert len(kept) <= 400


class TestMetrics:
    FAMILIES = ("apiserver_flowcontrol_current_executing_requests", "process_start_time_seconds")

    def test_families_and_formats(self, server: Server, access: Access) -> None:
        assert ask(access, Endpoint.METRICS, Manner(families=self.FAMILIES)).named
        assert not ask(access, Endpoint.METRICS, Manner(form="text")).named
        ask(access, Endpoint.METRICS, Manner(form="openmetrics"))
        ask(access, Endpoint.METRICS, Manner(form="protobuf"))
        protobuf = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
        assert [seen.headers["accept"] for seen in server.seen] == [
            [f"{protobuf};q=1,text/plain;version=0.0.4;q=0.5"],
            ["text/plain;version=0.0.4"],
            ["application/openmetrics-text;version=1.0.0"],
            [protobuf],
        ]
        assert [seen.query for seen in server.seen] == [{"name[]": list(self.FAMILIES)}, {}, {}, {}]
        assert {seen.path for seen in server.seen} == {"/metrics"}

    @pytest.mark.parametrize(("wish", "asked"), [(None, "identity"), (False, "identity"), (True, "gzip")])
    def test_compression(self, server: Server, access: Access, wish: bool | None, asked: str) -> None:
        ask(access, Endpoint.METRICS, Manner(gzip=wish, picker=Keep))
        ask(access, Endpoint.LEVELS, Manner(gzip=wish, picker=Keep))
        assert [seen.headers["accept-encoding"] for seen in server.seen] == [[asked], ["identity"]]

    @pytest.mark.parametrize("compressed", [False, True])
    def test_the_picker_gets_the_body_as_it_came(self, server: Server, access: Access, compressed: bool) -> None:
        body = b"apf 1\nother 2\n" * 50_000
        sent = gzip.compress(body) if compressed else body
        headers = [("Content-Type", "text/plain")] + [("Content-Encoding", "gzip")] * compressed
        server.replies["/metrics"] = Reply(body=sent, headers=headers)
        made: list[Keep] = []

        def factory(content_type: str, encoding: str) -> Keep:
            made.append(Keep(content_type, encoding))
            return made[-1]

        sample = ask(access, Endpoint.METRICS, Manner(picker=factory))
        assert sample.body == b"apf 1\n" * 50_000
        assert sample.wire_bytes == len(sent)
        assert sample.whole_bytes == len(body)
        assert [picker.made_for for picker in made] == [("text/plain", "gzip" if compressed else "identity")]

    def test_no_series_at_all(self, server: Server, access: Access) -> None:
        server.replies["/metrics"] = Reply()
        sample = ask(access, Endpoint.METRICS, Manner(picker=Keep))
        assert sample.ok
        assert sample.body == b""

    def test_what_cannot_be_picked_is_read_to_the_end(self, server: Server, access: Access) -> None:
        server.replies["/metrics"] = Reply(body=b"?" * 3_000_000)
        sample = ask(access, Endpoint.METRICS, Manner(picker=Choke))
        assert sample.error == f"not an exposition: 127.0.0.1:{server.port}/metrics"
        assert sample.wire_bytes == 3_000_000


class TestLook:
    def test_one_at_a_time_in_order_on_one_connection(self, server: Server, access: Access) -> None:
        samples = run([access], [Turn(tuple(reversed(LOOK)))])
        assert [sample.endpoint for sample in samples] == [*LOOK[:4], Endpoint.DISCOVERY, *OBJECTS]
        assert [seen.path.rpartition("/")[2] for seen in server.seen] == [
            "dump_priority_levels",
            "dump_queues",
            "dump_requests",
            "metrics",
            "flowcontrol.apiserver.k8s.io",
            "flowschemas",
            "prioritylevelconfigurations",
        ]
        assert server.seen[2].query == {"includeRequestDetails": ["1"]}
        assert {seen.connection for seen in server.seen} == {1}

    @pytest.mark.parametrize(
        ("served", "chosen"),
        [
            (["v1", "v1beta3"], "v1"),
            (["v1beta2", "v1beta3"], "v1beta3"),
            (["v1beta1", "v1beta2"], "v1beta2"),
            (["v2"], "v2"),
        ],
    )
    def test_object_version(self, server: Server, access: Access, served: Sequence[str], chosen: str) -> None:
        versions = [{"groupVersion": f"x/{version}", "version": version} for version in served]
        group = {"kind": "APIGroup", "versions": versions, "preferredVersion": versions[0]}
        server.replies[GROUP] = Reply(body=json.dumps(group).encode())
        run([access], [Turn(OBJECTS)])
        assert [seen.path for seen in server.seen[1:]] == [
            f"{GROUP}/{chosen}/flowschemas",
            f"{GROUP}/{chosen}/prioritylevelconfigurations",
        ]

    def test_object_version_where_discovery_is_forbidden(self, server: Server, access: Access) -> None:
        server.replies[GROUP] = Reply(403)
        for plural in ("flowschemas", "prioritylevelconfigurations"):
            server.replies[f"{GROUP}/v1/{plural}"] = Reply(404)
        samples = run([access], [Turn(OBJECTS)])
        assert [(sample.endpoint, sample.status) for sample in samples] == [
            (Endpoint.DISCOVERY, 403),
            (Endpoint.DISCOVERY, 404),
            (Endpoint.SCHEMAS, 200),
            (Endpoint.DISCOVERY, 404),
            (Endpoint.CONFIGS, 200),
        ]
        assert json.loads(samples[-1].body)["path"] == f"{GROUP}/v1beta3/prioritylevelconfigurations"

    def test_objects_where_there_is_no_such_group(self, server: Server, access: Access) -> None:
        server.replies[GROUP] = Reply(404)
        samples = run([access], [Turn(OBJECTS)])
        assert [(sample.endpoint, sample.status) for sample in samples] == [
            (endpoint, 404) for endpoint in (Endpoint.DISCOVERY, *OBJECTS)
        ]
        assert len(server.seen) == 1

    def test_each_request_for_objects_counts_once(self, server: Server, access: Access) -> None:
        classified = [("X-Kubernetes-Pf-Flowschema-Uid", "a-1"), ("X-Kubernetes-Pf-Prioritylevel-Uid", "b-2")]
        lists = {
            f"{GROUP}/v1beta3/flowschemas": "FlowSchema",
            f"{GROUP}/v1beta3/prioritylevelconfigurations": "PriorityLevelConfiguration",
        }
        for path in (GROUP, f"{GROUP}/v1/flowschemas", f"{GROUP}/v1/prioritylevelconfigurations"):
            server.replies[path] = Reply(404, b"not here", classified)
        state = fold(run([access], [Turn(OBJECTS)]))
        replica = state.replicas[access.name]
        assert len(replica.own) == len(server.seen) == 1
        assert replica.bytes_received == 8
        assert [(one, outcome.status) for one, outcome in replica.outcomes.items()] == [(one, 404) for one in OBJECTS]

        server.replies[GROUP] = Reply(403, b"refused", classified)
        for path, kind in lists.items():
            body = {"kind": f"{kind}List", "apiVersion": "flowcontrol.apiserver.k8s.io/v1beta3", "items": []}
            server.replies[path] = Reply(body=json.dumps(body).encode(), headers=classified)
        replica = fold(run([access], [Turn(OBJECTS)]), state).replicas[access.name]
        assert len(replica.own) == len(server.seen) == 1 + 5
        assert replica.bytes_received == 8 + 7 + 2 * 8 + sum(len(server.replies[path].body) for path in lists)
        assert [(one, outcome.status) for one, outcome in replica.outcomes.items()] == [(one, 200) for one in OBJECTS]

    def test_discovery_gives_the_group(self, server: Server, access: Access) -> None:
        group = json.dumps({"versions": [{"version": "v1"}]}).encode()
        server.replies[GROUP] = Reply(body=group)
        samples = run([access], [Turn(OBJECTS)])
        assert [sample.endpoint for sample in samples] == [Endpoint.DISCOVERY, *OBJECTS]
        assert samples[0].body == group

    def test_one_broken_endpoint_leaves_the_others(self, server: Server, access: Access) -> None:
        server.replies[LEVELS] = Reply(body=b"half", how="stall")
        server.replies["/metrics"] = Reply(403)
        samples = run([access], [Turn()], Manner(first_byte_s=0.3))
        assert [sample.ok for sample in samples] == [False, True, True, False, True, True, True]

    async def test_where_nothing_listens_one_try_is_enough(self) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            access = Access("x", f"https://127.0.0.1:{taken.getsockname()[1]}")
            async with open_session(access) as session:
                samples = await look(session, access)
        assert [sample.endpoint for sample in samples] == list(LOOK)
        assert len({(sample.error, sample.sent) for sample in samples}) == 1

    def test_servers_are_asked_at_the_same_time(self, ca: Ca) -> None:
        with Server(ca) as one, Server(ca) as two:
            for slow in (one, two):
                slow.replies[LEVELS] = Reply(how="hang")
            turns = [Turn((Endpoint.LEVELS,)), Turn((Endpoint.QUEUES,), after_s=0.9)]
            begun = time.monotonic()
            samples = run([reaching(one, ca), reaching(two, ca)], turns, Manner(first_byte_s=0.5))
            assert 0.9 <= time.monotonic() - begun < 1.7
        assert [sample.replica for sample in samples] == [f"127.0.0.1:{at.port}" for at in (one, one, two, two)]
        assert [sample.ok for sample in samples] == [False, True, False, True]

    def test_only_what_fits_is_asked_for_besides_objects(self, server: Server, access: Access) -> None:
        seen: list[tuple[Endpoint, list[Endpoint]]] = []

        def fits(samples: Sequence[Sample], endpoint: Endpoint) -> bool:
            seen.append((endpoint, [sample.endpoint for sample in samples]))
            return endpoint is not Endpoint.REQUESTS

        turns = [Turn((Endpoint.LEVELS,)), Turn((Endpoint.REQUESTS, Endpoint.METRICS, *OBJECTS), fits=fits)]
        samples = run([access], turns)
        expected = [Endpoint.LEVELS, Endpoint.METRICS, Endpoint.DISCOVERY, *OBJECTS]
        assert [sample.endpoint for sample in samples] == expected
        assert seen == [(Endpoint.REQUESTS, [Endpoint.LEVELS]), (Endpoint.METRICS, [Endpoint.LEVELS])]

    def test_files_that_cannot_be_used_are_no_samples(self, access: Access) -> None:
        with pytest.raises(Unreachable):
            run([replace(access, ca_file="/no/such")], [Turn()])
