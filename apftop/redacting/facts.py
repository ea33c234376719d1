"""What of flows is kept where names are replaced: their hands, which nobody can deal from pseudonyms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from apftop.apf.builtins import builtin_levels
from apftop.apf.objects import Queuing
from apftop.apf.shards import hand, hand_fault
from apftop.parse.dumps import parse_requests
from apftop.parse.facts import Hand
from apftop.parse.objects import configs_of, parse_objects
from apftop.records.parsed import ParseError, RequestRow
from apftop.records.raw import Endpoint, Sample
from apftop.redacting.dumps import Whose, distinguisher
from apftop.redacting.pseudonyms import Kind, Naming

Queues = dict[str, set[tuple[int, int]]]
"""Queues and hand size by level, as the objects of any sample have them."""


def queues_of(samples: Iterable[Sample]) -> Queues:
    """The queues that levels have or had, and those of the built-in ones where no objects tell."""
    found: Queues = defaultdict(set)
    for sample in samples:
        if sample.endpoint is not Endpoint.CONFIGS or not sample.ok:
            continue
        try:
            configs = configs_of(parse_objects(sample.body))
        except ParseError:
            continue
        for config in configs:
            _add(found, config.name, config.queuing)
    if not found:
        for name, config in builtin_levels().items():
            _add(found, name, config.queuing)
    return found


def _add(found: Queues, name: str, queuing: Queuing | None) -> None:
    if queuing is not None and queuing.queues > 1 and not hand_fault(queuing.queues, queuing.hand_size):
        found[name].add((queuing.queues, queuing.hand_size))


def hands_of(samples: Sequence[Sample], queues: Queues, naming: Naming, whose: Whose) -> tuple[Hand, ...]:
    """The hands of all flows in the dumps of requests, under other names."""
    made: dict[Hand, None] = {}
    for sample in samples:
        if sample.endpoint is not Endpoint.REQUESTS or not sample.ok:
            continue
        try:
            rows: tuple[RequestRow, ...] = parse_requests(sample.body).rows
        except ParseError:
            continue
        flows = {(row.level, row.schema, row.distinguisher): row for row in rows}
        for (level, schema, flow), row in flows.items():
            for number, size in sorted(queues.get(level, ())):
                dealt = hand(schema, flow, number, size)
                told = distinguisher(row, naming, whose)
                made[Hand(naming(Kind.SCHEMA, schema), told, number, dealt)] = None
    return tuple(made)
