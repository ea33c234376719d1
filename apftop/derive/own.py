"""What became of this tool's own requests: in which schema and level they ran, and how many were refused."""

from __future__ import annotations

from apftop.records.frame import Own
from apftop.records.state import ReplicaState


def own(state: ReplicaState) -> Own:
    """The latest classification of our requests, refusals of all, and when each refused one may be tried again."""
    schemas = {schema.meta.uid: schema.name for schema in state.schemas.data} if state.schemas else {}
    levels = {config.meta.uid: config.name for config in state.configs.data} if state.configs else {}
    last = state.own[-1] if state.own else None
    refused = [answer for answer in state.own if answer.refused]
    return Own(
        schema=(schemas.get(last.schema_uid) or last.schema_uid or None) if last else None,
        level=(levels.get(last.level_uid) or last.level_uid or None) if last else None,
        rejected=len(refused),
        sent=len(state.own),
        next_try=tuple(
            answer.received + answer.retry_after_s
            for answer in refused
            if answer.received is not None and answer.retry_after_s is not None
        ),
        bytes=state.bytes_received,
    )
