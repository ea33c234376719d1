"""facts.json of a redacted bundle: what can no longer be computed from the names in it."""

from __future__ import annotations

import msgspec

from apftop.records.parsed import KeptHands, ParseError


class Hand(msgspec.Struct, frozen=True):
    """The queues that a flow may use on a level with so many of them, in the order dealt."""

    flow_schema: str
    distinguisher: str
    queues: int
    hand: tuple[int, ...]


class Facts(msgspec.Struct, frozen=True):
    """The file: by what version names were replaced, what was done in words, and the hands."""

    redacted_by: str
    kept: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    hands: tuple[Hand, ...] = ()


def read_facts(body: bytes) -> Facts:
    """The facts. Raises ParseError where it is no such file, or a hand cannot be one."""
    try:
        facts = msgspec.json.decode(body, type=Facts)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ParseError(f"the hands of flows are unknown: {error}") from None
    for one in facts.hands:
        if len(set(one.hand)) < len(one.hand) or not all(0 <= card < one.queues for card in one.hand):
            raise ParseError(f"the hands of flows are unknown: {list(one.hand)[:20]} is no hand of {one.queues} queues")
    return facts


def parse_facts(body: bytes) -> KeptHands:
    """The hands that were kept. Raises ParseError as `read_facts` does."""
    hands = read_facts(body).hands
    return KeptHands({(one.flow_schema, one.distinguisher, one.queues, len(one.hand)): one.hand for one in hands})
