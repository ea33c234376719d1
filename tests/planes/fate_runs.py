"""Objects brought into the state that a case begins with, changed as it says, and put back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from apftop.apf.release import Release, parse_release
from apftop.findings.changes.patches import KEPT
from tests.planes.client import PLURALS, Answer, Client, Json, path_of
from tests.planes.fate_cases import BUILT, Case, item_of, value_of
from tests.planes.flow import VERSION
from tests.planes.plane import Plane

PRODUCER = "api-priority-and-fairness-config-producer-v1"
"""The name under which servers write the objects that they look after."""


def live(client: Client) -> dict[str, Json]:
    """All objects by `KIND/NAME`."""
    found = {}
    for kind in ("FlowSchema", "PriorityLevelConfiguration"):
        for item in client.get(f"/apis/{VERSION}/{PLURALS[kind]}").expect(200).json()["items"]:
            found[f"{kind}/{item['metadata']['name']}"] = {"apiVersion": VERSION, "kind": kind, **item}
    return found


def annotation(item: Json) -> str | None:
    """What an object says about who looks after its spec."""
    found = item["metadata"].get("annotations", {}).get(KEPT)
    return None if found is None else str(found)


def create(client: Client, item: Json) -> Answer:
    """Creates an object as the servers do."""
    return client.post(f"/apis/{VERSION}/{PLURALS[item['kind']]}?fieldManager={PRODUCER}", item)


def release_of(plane: Plane) -> Release:
    """The release of a plane."""
    release = parse_release(plane.version)
    assert release is not None
    return release


@contextmanager
def as_they_were(plane: Plane) -> Iterator[dict[str, Json]]:
    """The objects that are there, made again after the block where they are others by then."""
    client = plane.client()
    before = live(client)
    try:
        yield before
    finally:
        after = live(client)
        for key in after.keys() - before.keys():
            client.remove(after[key])
        for key, item in before.items():
            now = after.get(key)
            if now is None or (now["spec"], annotation(now)) != (item["spec"], annotation(item)):
                metadata = {"name": item["metadata"]["name"], "annotations": item["metadata"].get("annotations", {})}
                client.remove(item)
                # A server may be faster.
                create(client, {**item, "metadata": metadata, "status": {}}).expect(201, 409)


def set_up(client: Client, table: Sequence[Case], specs: Mapping[str, Json]) -> bool:
    """Has each object as it is before, of generation 1 unless it is touched; False if a server came in between."""
    fine = True
    for case in table:
        spec = specs[case.key]
        client.remove(item_of(case, BUILT, spec))
        if case.before is None:
            continue
        item = item_of(case, case.before, spec)
        if case.touched:
            fine &= create(client, item_of(case, case.before._replace(edited=True), spec)).status == 201
            fine &= client.put(path_of(item), item).status == 200
        else:
            fine &= create(client, item).status == 201
    return fine


def apply_all(client: Client, table: Sequence[Case], specs: Mapping[str, Json]) -> dict[str, int]:
    """Applies or deletes each object; gives the statuses of the answers."""
    statuses = {}
    for case in table:
        if case.given is None:
            statuses[case.key] = client.delete(path_of(item_of(case, BUILT, specs[case.key]))).status
            continue
        item = item_of(case, case.given, specs[case.key])
        path = f"{path_of(item)}?fieldManager=plane&force=true"
        statuses[case.key] = client.request("PATCH", path, item, "application/apply-patch+yaml").status
    return statuses


def undisturbed(client: Client, table: Sequence[Case], specs: Mapping[str, Json]) -> bool:
    """Whether no server has looked after the objects since they were set up."""
    now = live(client)
    for case in table:
        if case.given is None:
            if case.key in now:
                return False
            continue
        if case.outcome == "refused":
            continue
        said = case.given.annotation or (case.before.annotation if case.before else None)
        item = now.get(case.key)
        wanted = value_of(case, item_of(case, case.given, specs[case.key]))
        if item is None or annotation(item) != said or value_of(case, item) != wanted:
            return False
    return True


def observed(case: Case, status: int, after: Json | None, spec: Json) -> str:
    """What came of an object."""
    if case.given is None:
        return "deleted" if after is None else "recreated"
    if status not in (200, 201):
        return "refused"
    if after is None:
        return "deleted"
    given = value_of(case, item_of(case, case.given, spec))
    return "kept" if value_of(case, after) == given else "reverted"
