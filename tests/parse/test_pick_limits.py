"""How much is read and picked of a stream, and text that is not UTF-8."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from contextlib import nullcontext

import pytest

from apftop.parse.body import PROTOBUF, TEXT, BodyPicker, pick
from apftop.records.parsed import ParseError
from tests.parse.test_exposition_proto import family_message, part, varint
from tests.parse.test_pick import DURATION, START, WANTED

MIB = 1 << 20


def mebibyte(form: str) -> bytes:
    """A body of so many bytes that has nothing to pick."""
    if form == "text":
        return (DURATION * 4000)[: MIB - 1] + b"\n"
    head = varint(MIB - 3) + part(1, "etcd")
    return head + bytes(MIB - len(head))


@pytest.mark.parametrize("chunk_size", [1000, 1 << 16, 1 << 22])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", ["text", "protobuf"])
@pytest.mark.parametrize("too_large", [False, True])
def test_a_body_that_is_too_large_is_refused(form: str, packed: bool, chunk_size: int, too_large: bool) -> None:
    body = gzip.compress(mebibyte(form)) if packed else mebibyte(form)
    picker = BodyPicker("", "", WANTED, max_bytes=MIB - too_large)
    with pytest.raises(ParseError, match=r"^larger than [\d.]+ MiB$") if too_large else nullcontext():
        for start in range(0, len(body), chunk_size):
            picker.feed(body[start : start + chunk_size])
        picker.finish()


def test_256_mebibytes_are_read_and_no_more() -> None:
    picker = BodyPicker(TEXT, "", WANTED)
    block = mebibyte("text")
    for _ in range(256):
        picker.feed(block)
    with pytest.raises(ParseError, match=r"^larger than 256 MiB$"):
        picker.feed(b"\n")


def wanted_text(size: int) -> Iterator[bytes]:
    """Text of which so many bytes are picked; the last line is made up with spaces."""
    yield DURATION * 4000 + START
    size -= len(START)
    block = START.splitlines(keepends=True)[2] * 10_000
    while size > 2 * len(block):
        yield block
        size -= len(block)
    yield b"process_start_time_seconds".ljust(size - 2) + b"1\n"


def wanted_protobuf(size: int) -> Iterator[bytes]:
    """Messages of which so many bytes are picked."""
    yield family_message("etcd", 1, bytes(MIB))
    name = part(1, "apiserver_flow")
    yield varint(size - 4) + name
    left = size - 4 - len(name)
    while left:
        yield bytes(min(left, MIB))
        left -= min(left, MIB)


@pytest.mark.parametrize("stream", [wanted_text, wanted_protobuf])
def test_64_mebibytes_are_picked_and_no_more(stream: Callable[[int], Iterator[bytes]]) -> None:
    picked, _ = pick(stream(64 * MIB), "", "", WANTED)
    assert len(picked) == 64 * MIB
    with pytest.raises(ParseError, match=r"^more than 64 MiB of series that apftop reads$"):
        pick(stream(64 * MIB + 1), "", "", WANTED)


def test_picking_stops_at_the_limit() -> None:
    picker = BodyPicker("", "", WANTED)
    picker.feed(START)
    block = START.splitlines(keepends=True)[2] * 10_000
    for _ in range(64 * MIB // len(block)):
        picker.feed(block)
    with pytest.raises(ParseError, match=r"^more than 64 MiB of series that apftop reads$"):
        picker.feed(block)


@pytest.mark.parametrize("form", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("declared", ["", TEXT])
def test_utf_16_text_is_named(form: str, packed: bool, declared: str) -> None:
    body = f"\ufeff{START.decode()}".encode(form)
    body = gzip.compress(body) if packed else body
    with pytest.raises(ParseError, match=r"^this is UTF-16 text: save it as UTF-8$"):
        pick([body[:1], body[1:]], declared, "", WANTED)


def test_a_long_message_may_begin_like_utf_16() -> None:
    name = part(1, "apiserver_flow")
    body = b"\xff\xfe\x01" + name + bytes(32639 - len(name))
    assert pick([body], "", "", WANTED) == (body, PROTOBUF)
