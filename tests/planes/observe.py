"""What a replica says about its queues, read without the project's own code."""

from __future__ import annotations

import re

from tests.planes.client import Client

DUMPS = "/debug/api_priority_and_fairness/"
FLOW_SCHEMA_UID = "x-kubernetes-pf-flowschema-uid"
PRIORITY_LEVEL_UID = "x-kubernetes-pf-prioritylevel-uid"


def priority_levels(client: Client) -> dict[str, dict[str, str]]:
    """The rows of dump_priority_levels by level name, each a mapping from column to cell."""
    header, *rows = client.get(DUMPS + "dump_priority_levels").expect(200).text.splitlines()
    columns = [cell.strip() for cell in header.split(",")]
    levels = {}
    for row in rows:
        cells = [cell.strip() for cell in row.split(",")]
        levels[cells[0]] = dict(zip(columns, cells, strict=False))
    return levels


def waiting(client: Client, level: str) -> int:
    """How many requests wait in that level, 0 if the replica does not have it."""
    cell = priority_levels(client).get(level, {}).get("WaitingRequests", "0")
    # An exempt level has no queues and shows "<none>".
    return int(cell) if cell.isdigit() else 0


def metric(client: Client, name: str, **labels: str) -> float:
    """The sum of the samples of /metrics that have that name and those labels."""
    total = 0.0
    for line in client.get("/metrics").expect(200).text.splitlines():
        found = re.fullmatch(r"([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)", line)
        if found is None or found[1] != name:
            continue
        own = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', found[2] or ""))
        if labels.items() <= own.items():
            total += float(found[3])
    return total


def flow_schema_name(client: Client, uid: str) -> str:
    """The name of the FlowSchema with that uid."""
    answer = client.get("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas").expect(200).json()
    return next(str(item["metadata"]["name"]) for item in answer["items"] if item["metadata"]["uid"] == uid)
