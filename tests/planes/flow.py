"""Priority levels and flow schemas of the tests, and waits until every replica goes by them."""

from __future__ import annotations

from collections.abc import Sequence

from tests.planes.client import Client, Json
from tests.planes.objects import wait_on_replicas
from tests.planes.observe import FLOW_SCHEMA_UID, PRIORITY_LEVEL_UID, priority_levels
from tests.planes.plane import Plane

VERSION = "flowcontrol.apiserver.k8s.io/v1"


def priority_level(
    name: str,
    *,
    shares: int,
    queues: int = 16,
    hand_size: int = 4,
    queue_length: int = 50,
    lendable: int = 0,
    borrowing: int | None = 0,
    reject: bool = False,
) -> Json:
    """A limited PriorityLevelConfiguration that neither lends nor borrows unless told so."""
    limited: Json = {"nominalConcurrencyShares": shares, "lendablePercent": lendable}
    if borrowing is not None:
        limited["borrowingLimitPercent"] = borrowing
    if reject:
        limited["limitResponse"] = {"type": "Reject"}
    else:
        queuing = {"queues": queues, "handSize": hand_size, "queueLengthLimit": queue_length}
        limited["limitResponse"] = {"type": "Queue", "queuing": queuing}
    return {
        "apiVersion": VERSION,
        "kind": "PriorityLevelConfiguration",
        "metadata": {"name": name},
        "spec": {"type": "Limited", "limited": limited},
    }


def flow_schema(
    name: str,
    level: str,
    *,
    users: Sequence[str] = (),
    groups: Sequence[str] = (),
    precedence: int = 1000,
    distinguisher: str | None = "ByUser",
) -> Json:
    """A FlowSchema for every request of those users and groups."""
    subjects: list[Json] = [{"kind": "User", "user": {"name": user}} for user in users]
    subjects += [{"kind": "Group", "group": {"name": group}} for group in groups]
    resources = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": True, "namespaces": ["*"]}
    spec: Json = {
        "priorityLevelConfiguration": {"name": level},
        "matchingPrecedence": precedence,
        "rules": [
            {
                "subjects": subjects,
                "resourceRules": [resources],
                "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
            }
        ],
    }
    if distinguisher is not None:
        spec["distinguisherMethod"] = {"type": distinguisher}
    return {"apiVersion": VERSION, "kind": "FlowSchema", "metadata": {"name": name}, "spec": spec}


def apply_flow(plane: Plane, level: Json, schema: Json, probe_user: str, probe_path: str = "/version") -> None:
    """Applies a level and a schema, and waits until every replica classifies the user's requests by them."""
    level_uid = plane.client().apply(level)["metadata"]["uid"]
    schema_uid = plane.client().apply(schema)["metadata"]["uid"]

    def in_force(replica: int, client: Client) -> bool:
        if level["metadata"]["name"] not in priority_levels(client):
            return False
        headers = plane.client(probe_user, replica).get(probe_path).headers
        return (headers.get(FLOW_SCHEMA_UID), headers.get(PRIORITY_LEVEL_UID)) == (schema_uid, level_uid)

    wait_on_replicas(plane, f"schema {schema['metadata']['name']} in force", in_force)


def remove_flow(plane: Plane, level: Json, schema: Json) -> None:
    """Deletes a schema and a level, and waits until every replica has dropped the level."""
    plane.client().remove(schema)
    plane.client().remove(level)
    name = level["metadata"]["name"]
    wait_on_replicas(plane, f"no level {name}", lambda _, client: name not in priority_levels(client))
