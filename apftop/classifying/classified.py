"""Where a request goes, and why: the model's classification with its flow, its hand, its seats and its wait limit."""

from __future__ import annotations

from apftop.apf.attributes import bypasses
from apftop.apf.classify import Classification, classify, flow_distinguisher
from apftop.apf.durations import go_duration_ns
from apftop.apf.objects import Queuing
from apftop.apf.shards import hand
from apftop.classifying.costs import limit, seats, timeout_text
from apftop.classifying.setting import Setting
from apftop.classifying.trying import expected_schema, tried_schemas
from apftop.present import plain
from apftop.records.classified import Asked, Classified, Expected
from apftop.records.parsed import KeptHands


def classified(asked: Asked, setting: Setting, expect: str = "") -> Classified:
    """What a server of the release makes of a request (1.26 to 1.37).

    `expect` is a schema that it was thought to get: what came of it is then told too, though it stands behind.
    """
    if unseen := _unseen(asked):
        expected = Expected(expect, False, "unseen", ("flow control does not see the request",)) if expect else None
        return Classified(asked, seen=False, unseen=unseen, expected=expected)
    found = classify(setting.classifier, asked.request)
    queuing = found.level.queuing
    told = queuing is not None and queuing.queues > 1
    least, most, seats_why = seats(asked, setting, found.level)
    limit_s, limit_why = limit(asked, setting, found.level)
    tried = tuple(tried_schemas(asked.request, setting.classifier, found.schema, expect))
    return Classified(
        asked,
        seen=True,
        schema=found.schema.name,
        level=found.level.name,
        distinguished_by=found.schema.distinguisher,
        distinguisher=flow_distinguisher(found.schema, asked.request),
        hash=found.hash if told and setting.kept is None else None,
        hand=_hand(found, queuing, setting.kept) if queuing is not None and told else (),
        queues=queuing.queues if queuing is not None else 0,
        seats=(least, most),
        seats_why=seats_why,
        limit_s=limit_s,
        limit_why=limit_why,
        tried=tried,
        expected=expected_schema(tried, setting.classifier, expect) if expect else None,
    )


def _hand(found: Classification, queuing: Queuing, kept: KeptHands | None) -> tuple[int, ...] | None:
    """The hand of a flow; None where its names are pseudonyms and it was not kept."""
    if kept is None:
        return hand(found.schema.name, found.distinguisher, queuing.queues, queuing.hand_size)
    return kept.hands.get((found.schema.name, found.distinguisher, queuing.queues, queuing.hand_size))


def _unseen(asked: Asked) -> str:
    """Why flow control never sees a request; empty where it does."""
    request = asked.request
    if bypasses(request):
        what = plain(request.target if request.resource_request else request.path)
        also = ", also where it does not follow" if request.subresource == "log" else ""
        return f"servers count each {plain(request.verb)} of {what} as long-running{also}, and pass it by"
    text = timeout_text(asked)
    if text and go_duration_ns(text) is None:
        return f"its timeout {plain(text)} is no duration such as 10s: servers refuse it before with status 400"
    return ""
