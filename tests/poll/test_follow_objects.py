"""Objects are listed, watched, and listed again whenever a watch ends; what is forbidden or broken is asked seldom."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.poll import config
from apftop.poll.watch import LINE_BYTES, Listing
from apftop.records.raw import OBJECTS, Endpoint
from tests.poll.polling import until
from tests.poll.watched import CUT, END, Watch, Watched, following, thing
from tests.reach.asking import GROUP

SCHEMAS, CONFIGS = Endpoint.SCHEMAS, Endpoint.CONFIGS
PLURAL = "flowschemas"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing waits for long, and nothing that should wait goes unnoticed."""
    monkeypatch.setattr(config, "WAKE_S", 0.02)
    monkeypatch.setattr(config, "FIRST_REST_S", 0.05)


@pytest.fixture
def server() -> Iterator[Watched]:
    with Watched() as running:
        running.lists[PLURAL] = [{"metadata": {"name": name, "resourceVersion": "7"}} for name in ("exempt", "probes")]
        yield running


async def watch_of(server: Watched, plural: str = PLURAL, after: Watch | None = None) -> Watch:
    """The watch of one kind, a newer one than `after`."""
    await until(lambda: server.watch_of(plural) not in (None, after))
    found = server.watch_of(plural)
    assert found is not None
    return found


class TestList:
    async def test_both_kinds_are_listed_from_memory_and_watched(self, server: Watched) -> None:
        async with following(server) as heard:
            for plural in ("flowschemas", "prioritylevelconfigurations"):
                await watch_of(server, plural)
            await until(lambda: len(heard.of(Endpoint.DISCOVERY)) == 4)
        for endpoint in OBJECTS:
            (sample,) = heard.of(endpoint)
            assert sample.ok
            assert json.loads(sample.body)["metadata"] == {"resourceVersion": "100"}
        for plural in ("flowschemas", "prioritylevelconfigurations"):
            assert [asked.query for asked in server.of(plural, watch=False)] == [{"resourceVersion": "0"}]
            (asked,) = server.of(plural, watch=True)
            assert 240 <= int(asked.query.pop("timeoutSeconds")) <= 300
            assert asked.query == {"watch": "1", "resourceVersion": "100", "allowWatchBookmarks": "true"}

    async def test_the_newest_version_that_is_served_counts(self, server: Watched) -> None:
        server.version = "v1beta3"
        async with following(server) as heard:
            watch = await watch_of(server)
            await until(lambda: heard.names() == [["exempt", "probes"]])
        assert watch.asked.path == f"{GROUP}/v1beta3/flowschemas"

    async def test_each_request_is_accounted_for_once(self, server: Watched) -> None:
        async with following(server) as heard:
            watch = await watch_of(server)
            await watch_of(server, "prioritylevelconfigurations")
            watch.send("DELETED", thing("probes", 101))
            await until(lambda: len(heard.of(SCHEMAS)) == 2)
        counted = [sample for sample in heard.samples if sample.header("x-kubernetes-pf-flowschema-uid")]
        assert len(counted) == len(server.asked)
        starts = [sample for sample in heard.of(Endpoint.DISCOVERY) if sample.wire_bytes == 0]
        assert [(sample.status, sample.body, sample.error) for sample in starts] == [(200, b"", "")] * 2
        for sample in heard.samples:
            assert sample.sent is not None
            assert sample.received is not None
            assert sample.sent <= sample.received

    @pytest.mark.parametrize("status", [403, 404])
    async def test_a_refusal_is_delivered_and_asked_about_seldom(
        self, server: Watched, monkeypatch: pytest.MonkeyPatch, status: int
    ) -> None:
        monkeypatch.setattr(config, "DENIED_EVERY_S", 0.4)
        server.refused = lambda asked: status if asked.path.endswith(PLURAL) else None
        async with following(server) as heard:
            await until(lambda: heard.of(SCHEMAS))
            await asyncio.sleep(0.2)
            assert [(sample.status, sample.error) for sample in heard.of(SCHEMAS)] == [(status, "")]
            await until(lambda: len(heard.of(SCHEMAS)) > 1)
            server.refused = lambda asked: None
            await until(lambda: heard.names() == [["exempt", "probes"]])

    async def test_where_there_are_none_the_next_server_is_asked(self, server: Watched) -> None:
        with Watched() as other:
            other.refused = lambda asked: 404
            async with following(other, server) as heard:
                await watch_of(server)
                await until(lambda: heard.names() == [["exempt", "probes"]])
        assert [asked.path for asked in other.asked] == [GROUP, GROUP]

    async def test_what_is_no_list_is_delivered_and_not_watched(
        self, server: Watched, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(config, "LIST_EVERY_S", 0.1)
        server.lists[PLURAL] = [{"metadata": {}}]
        async with following(server) as heard:
            await until(lambda: len(heard.of(SCHEMAS)) > 2)
        assert server.of(PLURAL, watch=True) == []


class TestEvents:
    async def test_each_change_gives_the_whole_list(self, server: Watched) -> None:
        async with following(server) as heard:
            watch = await watch_of(server)
            await until(lambda: heard.of(SCHEMAS))
            for number, (kind, name, expected) in enumerate(
                [
                    ("ADDED", "more", ["exempt", "more", "probes"]),
                    ("MODIFIED", "exempt", ["exempt", "more", "probes"]),
                    ("DELETED", "probes", ["exempt", "more"]),
                ]
            ):
                watch.send(kind, thing(name, 101 + number, spec={"x": {"new": kind}}))
                await until(lambda count=number: len(heard.of(SCHEMAS)) == count + 2)  # type: ignore[misc]
                assert heard.names()[-1] == expected
            assert len(heard.of(CONFIGS)) == 1
        last = heard.of(SCHEMAS)[-1]
        assert (last.status, last.content_type, last.replica) == (200, "application/json", server.access.name)
        found = json.loads(last.body)
        assert (found["kind"], found["metadata"]) == ("FlowSchemaList", {"resourceVersion": "103"})
        assert found["apiVersion"] == "flowcontrol.apiserver.k8s.io/v1"
        assert found["items"] == [
            thing("exempt", 102, spec={"x": {"new": "MODIFIED"}}),
            thing("more", 101, spec={"x": {"new": "ADDED"}}),
        ]

    async def test_changes_of_one_moment_come_together(self, server: Watched) -> None:
        async with following(server) as heard:
            watch = await watch_of(server)
            await until(lambda: heard.of(SCHEMAS))
            for number in range(50):
                watch.send("ADDED", thing(f"s{number}", 101 + number))
            await until(lambda: len(heard.names()[-1]) == 52)
            assert len(heard.of(SCHEMAS)) < 10

    async def test_an_event_counts_its_bytes(self, server: Watched) -> None:
        async with following(server) as heard:
            watch = await watch_of(server)
            await until(lambda: heard.of(SCHEMAS))
            watch.send("BOOKMARK", {"metadata": {"resourceVersion": "200"}})
            watch.send("ADDED", thing("more", 201))
            await until(lambda: len(heard.of(SCHEMAS)) == 2)
        sent = [
            {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "200"}}},
            {"type": "ADDED", "object": thing("more", 201)},
        ]
        assert heard.of(SCHEMAS)[-1].wire_bytes == sum(len(json.dumps(event)) + 1 for event in sent)

    async def test_a_bookmark_is_no_change(self, server: Watched) -> None:
        async with following(server) as heard:
            watch = await watch_of(server)
            await until(lambda: heard.of(SCHEMAS))
            watch.send("BOOKMARK", {"metadata": {"resourceVersion": "200"}})
            await asyncio.sleep(0.5)
            assert len(heard.of(SCHEMAS)) == 1
            assert server.watch_of(PLURAL) is watch

    async def test_a_change_is_delivered_even_if_the_watch_ends_at_once(self, server: Watched) -> None:
        async with following(server) as heard:
            watch = await watch_of(server)
            await until(lambda: heard.of(SCHEMAS))
            server.refused = lambda asked: 403 if not asked.watch else None
            watch.send("ADDED", thing("more", 101))
            watch.pieces.put(CUT)
            await until(lambda: ["exempt", "more", "probes"] in heard.names())

    @given(
        st.lists(st.sampled_from("abc"), unique=True),
        st.lists(st.tuples(st.sampled_from(["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]), st.sampled_from("abcd"))),
    )
    def test_events_leave_what_is_there(self, at_first: list[str], events: list[tuple[str, str]]) -> None:
        items = [thing(name, 1) for name in at_first]
        head = {"apiVersion": "g/v1", "kind": "L", "metadata": {"resourceVersion": "1", "more": 2}, "new": [3]}
        listing = Listing(json.dumps({**head, "items": items}).encode())
        there = {item["metadata"]["name"]: item for item in items}
        for number, (kind, name) in enumerate(events, 2):
            event = thing(name, number)
            changed = listing.apply(json.dumps({"type": kind, "object": event}).encode())
            assert changed == (kind != "BOOKMARK")
            if kind == "DELETED":
                there.pop(name, None)
            elif changed:
                there[name] = event
        last = str(len(events) + 1)
        metadata = {"resourceVersion": last, "more": 2}
        expected = {**head, "metadata": metadata, "items": [there[name] for name in sorted(there)]}
        assert json.loads(listing.body()) == expected

    def test_a_list_without_items_is_one(self) -> None:
        listing = Listing(b'{"apiVersion":"g/v1","metadata":{"resourceVersion":"1"},"items":null}')
        assert json.loads(listing.body())["items"] == []

    @pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"null", b'{"items":[1]}', b"[" * 100_000])
    def test_what_is_no_list_is_a_value_error(self, body: bytes) -> None:
        with pytest.raises(ValueError, match=r"not a list|Expecting value"):
            Listing(body)


def error(code: int) -> dict[str, object]:
    return {"kind": "Status", "code": code, "message": "too old resource version: 1 (2)\x1b[2J"}


class TestEnds:
    @pytest.mark.parametrize(
        "last",
        [
            END,
            CUT,
            json.dumps({"type": "ERROR", "object": error(410)}).encode() + b"\n",
            json.dumps({"type": "ERROR", "object": error(500)}).encode() + b"\n",
            b'{"type": "ADDED", "object": {"metadata": {}}}\n',
            b'{"type": "NEWS", "object": {"metadata": {"resourceVersion": "1"}}}\n',
            b"not JSON\n",
            b"[" * 100_000 + b"\n",
        ],
        ids=["end", "cut", "410", "500", "no name", "unknown", "not JSON", "deep"],
    )
    async def test_another_list_and_another_watch_follow(self, server: Watched, last: bytes | None) -> None:
        async with following(server) as heard:
            watch = await watch_of(server)
            server.resource_version = 300
            server.lists[PLURAL] = server.lists[PLURAL][:1]
            watch.pieces.put(last)
            again = await watch_of(server, after=watch)
            await until(lambda: heard.names()[-1] == ["exempt"])
        assert again.asked.query["resourceVersion"] == "300"

    async def test_half_an_event_is_none(self, server: Watched) -> None:
        async with following(server) as heard:
            watch = await watch_of(server)
            whole = json.dumps({"type": "ADDED", "object": thing("more", 101)}).encode()
            watch.pieces.put(whole)
            watch.pieces.put(END)
            await watch_of(server, after=watch)
            await until(lambda: len(heard.of(SCHEMAS)) == 2)
        assert heard.names() == [["exempt", "probes"]] * 2

    async def test_an_event_in_pieces_is_one(self, server: Watched) -> None:
        async with following(server) as heard:
            watch = await watch_of(server)
            whole = json.dumps({"type": "ADDED", "object": thing("more", 101)}).encode() + b"\n\n"
            for start in range(0, len(whole), 10):
                watch.pieces.put(whole[start : start + 10])
            await until(lambda: len(heard.of(SCHEMAS)) == 2)
            assert server.watch_of(PLURAL) is watch

    async def test_a_line_without_end_is_not_kept(self, server: Watched) -> None:
        async with following(server):
            watch = await watch_of(server)
            for _ in range((LINE_BYTES >> 20) + 2):
                watch.pieces.put(b" " * (1 << 20))
            await watch_of(server, after=watch)

    async def test_one_that_is_silent_beyond_its_end_is_dead(
        self, server: Watched, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(config, "WATCH_S", (1, 1))
        monkeypatch.setattr("apftop.poll.watch.SILENCE_S", -0.5)
        async with following(server):
            watch = await watch_of(server)
            await watch_of(server, after=watch)

    async def test_those_that_end_at_once_are_begun_more_and_more_seldom(
        self, server: Watched, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(config, "FIRST_REST_S", 0.2)
        monkeypatch.setattr(config, "LIST_EVERY_S", 0.4)

        async def end_all() -> None:
            while True:
                for watch in server.watches:
                    watch.pieces.put(END)
                await asyncio.sleep(0.01)

        async with following(server):
            ending = asyncio.create_task(end_all())
            await asyncio.sleep(2.0)
            ending.cancel()
            with suppress(asyncio.CancelledError):
                await ending
        assert 4 <= len(server.of(PLURAL, watch=False)) <= 12


class TestRefusedWatch:
    async def test_where_it_is_forbidden_lists_go_on(self, server: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(config, "LIST_EVERY_S", 0.1)
        server.refused = lambda asked: 403 if asked.watch else None
        async with following(server) as heard:
            await until(lambda: len(heard.of(SCHEMAS)) > 2)
            server.lists[PLURAL] = []
            await until(lambda: heard.names()[-1] == [])
        assert len(server.of(PLURAL, watch=True)) == 1
        assert [sample.status for sample in heard.of(Endpoint.DISCOVERY) if sample.wire_bytes == 0] == [403, 403]

    async def test_it_is_tried_again_later(self, server: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(config, "LIST_EVERY_S", 0.05)
        monkeypatch.setattr(config, "WATCH_AGAIN_S", 0.3)
        server.refused = lambda asked: 403 if asked.watch else None
        async with following(server):
            await until(lambda: len(server.of(PLURAL, watch=True)) > 1)
            server.refused = lambda asked: None
            await watch_of(server)

    @pytest.mark.parametrize("status", [400, 410, 422, 429, 500, 504])
    async def test_other_refusals_lead_to_lists(
        self, server: Watched, monkeypatch: pytest.MonkeyPatch, status: int
    ) -> None:
        monkeypatch.setattr(config, "LIST_EVERY_S", 0.1)
        server.retry_after = "0"
        server.refused = lambda asked: status if asked.watch else None
        async with following(server) as heard:
            await until(lambda: len(heard.of(SCHEMAS)) > 3)
            server.refused = lambda asked: None
            await watch_of(server)

    async def test_the_pause_that_a_server_asks_for_is_kept(self, server: Watched) -> None:
        server.retry_after = "3600"
        server.refused = lambda asked: 429 if asked.watch else None
        async with following(server):
            await until(lambda: server.of(PLURAL, watch=True))
            await asyncio.sleep(0.5)
        assert len(server.of(PLURAL, watch=False)) == 1


class TestServers:
    async def test_the_next_one_is_asked_where_one_does_not_answer(self, server: Watched) -> None:
        with Watched() as gone:
            pass
        async with following(gone, server) as heard:
            await watch_of(server)
            await until(lambda: heard.names() == [["exempt", "probes"]])
        first = heard.of(SCHEMAS)[0]
        assert first.replica == gone.access.name
        assert first.error.startswith("connection refused")

    @pytest.mark.parametrize("status", [401, 429, 500, 503])
    async def test_the_next_one_is_asked_where_one_cannot_answer_now(self, server: Watched, status: int) -> None:
        with Watched() as broken:
            broken.refused = lambda asked: status
            async with following(broken, server) as heard:
                await watch_of(server)
        assert (heard.of(SCHEMAS)[0].replica, heard.of(SCHEMAS)[0].status) == (broken.access.name, status)

    async def test_one_that_dies_is_replaced(self, server: Watched) -> None:
        with Watched() as other:
            async with following(server, other):
                watch = await watch_of(server)
                server.refused = lambda asked: 500
                watch.pieces.put(CUT)
                await watch_of(other)

    async def test_where_none_answers_they_are_asked_seldom(
        self, server: Watched, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(config, "FIRST_REST_S", 0.4)
        server.refused = lambda asked: 500
        async with following(server):
            await asyncio.sleep(1.5)
        assert 2 <= len(server.of(PLURAL, watch=False)) <= 7

    async def test_a_wake_lists_again_at_once(self, server: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(config, "DENIED_EVERY_S", 3600.0)
        server.refused = lambda asked: 403 if asked.path.endswith(PLURAL) else None
        async with following(server) as heard:
            await until(lambda: heard.of(SCHEMAS) and heard.of(CONFIGS))
            watch = await watch_of(server, "prioritylevelconfigurations")
            server.refused = lambda asked: None
            await asyncio.sleep(0.1)
            heard.wake.set()
            await watch_of(server)
            await watch_of(server, "prioritylevelconfigurations", after=watch)
        assert [sample.status for sample in heard.of(SCHEMAS)] == [403, 200]

    async def test_files_that_cannot_be_used_are_told(self, server: Watched) -> None:
        with Watched() as bad:
            bad.access = type(bad.access)("bad", "https://127.0.0.1:1", ca_file="/no/such")
            async with following(bad, server) as heard:
                await watch_of(server)
        assert heard.of(SCHEMAS)[0].error.startswith("CA file cannot be used")
