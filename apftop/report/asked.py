"""The requests in question that lie with a bundle, by the objects that its servers have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from apftop.apf.builtins import builtin_levels
from apftop.apf.classify import Classifier
from apftop.apf.release import LATEST, Release, parse_release
from apftop.classifying.classified import classified
from apftop.classifying.setting import Setting
from apftop.present import plain
from apftop.records.classified import Asked, Classified
from apftop.records.frame import Frame
from apftop.records.parsed import KeptHands
from apftop.records.state import State

NAME_WIDTH = 40
UNTOLD = "requests.json: nobody can tell where these requests go"


def classified_in(
    asked: Sequence[Asked], state: State, seen: Frame
) -> tuple[tuple[Classified, ...] | None, tuple[str, ...]]:
    """Where the requests go, and a line on what was missing.

    By the objects of the first server that has them, and the oldest release of the servers in the frame of the same
    samples, else the newest that there is. None without schemas, and where any object could not be read.
    """
    schemas = next((one.schemas for one in state.replicas.values() if one.schemas is not None), None)
    levels = next((one.configs for one in state.replicas.values() if one.configs is not None), None)
    if schemas is None:
        return None, (f"{UNTOLD}: no flow schemas could be read",)
    if schemas.problems or (levels is not None and levels.problems):
        return None, (f"{UNTOLD}: not all objects could be read",)
    notes = () if levels is not None else ("requests.json: by the built-in levels, for no others could be read",)
    known = builtin_levels().values() if levels is None else levels.data
    setting = Setting(Classifier(schemas.data, known), _release(seen), kept=kept_in(state))
    return tuple(classified(one, setting) for one in asked), notes


def kept_in(state: State) -> KeptHands | None:
    """The hands that a redacted bundle keeps, of all of its servers; None where names are true ones."""
    told = [one.kept for one in state.replicas.values() if one.kept is not None]
    return KeptHands({flow: hand for one in told for flow, hand in one.hands.items()}) if told else None


def _release(seen: Frame) -> Release:
    told = [parse_release(one.version) for one in seen.servers if one.version]
    return min((one for one in told if one is not None), default=LATEST)


def asked_lines(found: Sequence[Classified]) -> Iterator[str]:
    """A line for each request: its name, schema and level, and its flow where the level tells flows apart."""
    width = max((len(plain(one.asked.name, NAME_WIDTH)) for one in found), default=0)
    for one in found:
        flow = f", flow {plain(one.distinguisher, 60)}" if one.distinguisher and one.queues > 1 else ""
        where = f"{plain(one.schema, NAME_WIDTH)} / {plain(one.level, NAME_WIDTH)}{flow}"
        unseen = "not seen by flow control: it takes no seat and never waits"
        yield f"{plain(one.asked.name, NAME_WIDTH):<{width}}  {where if one.seen else unseen}"
