"""Near-real dumps, their rows, and makers of single rows."""

from __future__ import annotations

from apftop.parse.cells import duration_ns, unix_ns
from apftop.records.parsed import Details, RequestRow

BASE_126 = (
    "PriorityLevelName",
    "FlowSchemaName",
    "QueueIndex",
    "RequestIndexInQueue",
    "FlowDistingsher",
    "ArriveTime",
    "InitialSeats",
    "FinalSeats",
    "AdditionalLatency",
)
BASE_128 = (*BASE_126, "StartTime")
DETAILS = ("UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource")
LEVELS_126 = (
    "PriorityLevelName",
    "ActiveQueues",
    "IsIdle",
    "IsQuiescing",
    "WaitingRequests",
    "ExecutingRequests",
)
LEVELS_127 = (*LEVELS_126, "DispatchedRequests", "RejectedRequests", "TimedoutRequests", "CancelledRequests")
QUEUES = (
    "PriorityLevelName",
    "Index",
    "PendingRequests",
    "ExecutingRequests",
    "SeatsInUse",
    "NextDispatchR",
    "InitialSeatsSum",
    "MaxSeatsSum",
    "TotalWorkSum",
)
ZERO = "0001-01-01T00:00:00Z"

LEVELS_SAMPLE = b"""\
PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests, DispatchedRequests, \
RejectedRequests, TimedoutRequests, CancelledRequests
catch-all,         0,            true,   false,       0,               0,                 1,                  \
0,                0,                0
exempt,            0,            false,  false,       0,               2,                 90210,              \
0,                0,                0
workload-low,      17,           false,  true,        143,             201,               88231,              \
512,              0,                498
"""
QUEUES_SAMPLE = b"""\
PriorityLevelName, Index,  PendingRequests, ExecutingRequests, SeatsInUse, NextDispatchR,   InitialSeatsSum, \
MaxSeatsSum, TotalWorkSum
workload-low,      0,      0,               0,                 0,          0.00000000ss,    0,               \
0,           0.00000000ss
workload-low,      1,      3,               2,                 5,          1523.40012500ss, 12,              \
12,          0.03600000ss
"""
REQUESTS_SAMPLE = """\
PriorityLevelName, FlowSchemaName,               QueueIndex, RequestIndexInQueue, FlowDistingsher,             \
ArriveTime,                     InitialSeats, FinalSeats, AdditionalLatency, StartTime,                      \
UserName,                                         Verb,   APIPath,                                        \
Namespace,   Name,   APIVersion,    Resource,    SubResource
global-default,    global-default,               12,         0,                   svc, batch (blue),           \
2026-04-12T10:03:26.750000123Z, 5,            0,          0s,                0001-01-01T00:00:00Z,           \
svc, batch (blue),                                list,   /apis/example.io/v1/widgets,                    \
,            ,       example.io/v1, widgets,     \n\
global-default,    global-default,               40,         0,                   CN=robot,OU=Platform,O=corp, \
2026-04-12T10:03:27.500000123Z, 1,            0,          0s,                0001-01-01T00:00:00Z,           \
CN=robot,OU=Platform,O=corp,                      get,    /api/v1/namespaces/a/pods/p1,                   \
a,           p1,     v1,            pods,        \n\
global-default,    global-default,               41,         -1,                  björk-bot@example,           \
2026-04-12T10:03:28Z,           1,            3,          25ms,              2026-04-12T10:03:28.500000123Z, \
björk-bot@example,                                patch,  /apis/apps/v1/namespaces/a/deployments/d/scale, \
a,           d,      apps/v1,       deployments, scale
global-default,    global-default,               77,         -1,                  two  spaces,                 \
2026-04-12T10:03:29Z,           1,            0,          0s,                2026-04-12T10:03:29.250000123Z, \
two  spaces,                                      get,    /openapi/v2,x,                                  \
,            ,       ,              ,            \n\
exempt,            exempt,                       -1,         -1,                  ,                            \
2026-04-12T10:03:29.500000123Z, 1,            0,          0s,                2026-04-12T10:03:29.500000123Z, \
system:apiserver,                                 get,    /api/v1/namespaces/kube-system/configmaps/cm,   \
kube-system, cm,     v1,            configmaps,  \n\
catch-all,         catch-all,                    -1,         -1,                  ,                            \
2026-04-12T10:03:29.750000123Z, 1,            0,          0s,                2026-04-12T10:03:29.750000123Z, \
no-group-user,                                    get,    /version,                                       \
,            ,       ,              ,            \n\
exempt,            exempt,                       -1,         -1,                  ,                            \
2026-04-12T10:03:29.937500123Z, 1,            0,          0s,                2026-04-12T10:03:29.937500123Z, \
admin,                                            get,    /debug/api_priority_and_fairness/dump_requests, \
,            ,       ,              ,            \n\
workload-high,     kube-system-service-accounts, 3,          0,                   ,                            \
2026-04-12T10:03:29.875000123Z, 1,            0,          0s,                0001-01-01T00:00:00Z,           \
system:serviceaccount:kube-system:metrics-server, watch,  /api/v1/nodes,                                  \
,            ,       v1,            nodes,       \n\
""".encode()
SECOND = 1_775_988_200_000_000_000
"""2026-04-12T10:03:20Z in Unix nanoseconds."""
REQUEST_ROWS = (
    RequestRow(
        "global-default",
        "global-default",
        12,
        0,
        "svc, batch (blue)",
        SECOND + 6_750_000_123,
        5,
        0,
        0,
        "0s",
        None,
        Details("svc, batch (blue)", "list", "/apis/example.io/v1/widgets", "", "", "example.io/v1", "widgets", ""),
    ),
    RequestRow(
        "global-default",
        "global-default",
        40,
        0,
        "CN=robot,OU=Platform,O=corp",
        SECOND + 7_500_000_123,
        1,
        0,
        0,
        "0s",
        None,
        Details("CN=robot,OU=Platform,O=corp", "get", "/api/v1/namespaces/a/pods/p1", "a", "p1", "v1", "pods", ""),
    ),
    RequestRow(
        "global-default",
        "global-default",
        41,
        -1,
        "björk-bot@example",
        SECOND + 8_000_000_000,
        1,
        3,
        25_000_000,
        "25ms",
        SECOND + 8_500_000_123,
        Details(
            "björk-bot@example",
            "patch",
            "/apis/apps/v1/namespaces/a/deployments/d/scale",
            "a",
            "d",
            "apps/v1",
            "deployments",
            "scale",
        ),
    ),
    RequestRow(
        "global-default",
        "global-default",
        77,
        -1,
        "two  spaces",
        SECOND + 9_000_000_000,
        1,
        0,
        0,
        "0s",
        SECOND + 9_250_000_123,
        Details("two  spaces", "get", "/openapi/v2,x", "", "", "", "", ""),
    ),
    RequestRow(
        "exempt",
        "exempt",
        -1,
        -1,
        "",
        SECOND + 9_500_000_123,
        1,
        0,
        0,
        "0s",
        SECOND + 9_500_000_123,
        Details(
            "system:apiserver",
            "get",
            "/api/v1/namespaces/kube-system/configmaps/cm",
            "kube-system",
            "cm",
            "v1",
            "configmaps",
            "",
        ),
    ),
    RequestRow(
        "catch-all",
        "catch-all",
        -1,
        -1,
        "",
        SECOND + 9_750_000_123,
        1,
        0,
        0,
        "0s",
        SECOND + 9_750_000_123,
        Details("no-group-user", "get", "/version", "", "", "", "", ""),
    ),
    RequestRow(
        "exempt",
        "exempt",
        -1,
        -1,
        "",
        SECOND + 9_937_500_123,
        1,
        0,
        0,
        "0s",
        SECOND + 9_937_500_123,
        Details("admin", "get", "/debug/api_priority_and_fairness/dump_requests", "", "", "", "", ""),
    ),
    RequestRow(
        "workload-high",
        "kube-system-service-accounts",
        3,
        0,
        "",
        SECOND + 9_875_000_123,
        1,
        0,
        0,
        "0s",
        None,
        Details(
            "system:serviceaccount:kube-system:metrics-server", "watch", "/api/v1/nodes", "", "", "v1", "nodes", ""
        ),
    ),
)


def request(user: str, path: str = "/version", **other: str) -> list[str]:
    cells = dict.fromkeys((*BASE_128, *DETAILS), "")
    cells |= {
        "PriorityLevelName": "global-default",
        "FlowSchemaName": "global-default",
        "QueueIndex": "3",
        "RequestIndexInQueue": "-1",
        "FlowDistingsher": user,
        "ArriveTime": "2026-04-12T10:03:20.5Z",
        "InitialSeats": "1",
        "FinalSeats": "0",
        "AdditionalLatency": "0s",
        "StartTime": "2026-04-12T10:03:21Z",
        "UserName": user,
        "Verb": "get",
        "APIPath": path,
    }
    return list((cells | other).values())


def pod(user: str, name: str) -> list[str]:
    path = f"/api/v1/namespaces/a/pods/{name}/status"
    return request(user, path, Namespace="a", Name=name, APIVersion="v1", Resource="pods", SubResource="status")


def as_row(cells: list[str]) -> RequestRow:
    return RequestRow(
        cells[0],
        cells[1],
        int(cells[2]),
        int(cells[3]),
        cells[4],
        unix_ns(cells[5]),
        int(cells[6]),
        int(cells[7]),
        duration_ns(cells[8]),
        cells[8],
        None if cells[9] == ZERO else unix_ns(cells[9]),
        Details(*cells[10:]),
    )


def plain(row: RequestRow) -> list[str]:
    details = row.details
    assert details is not None
    texts = (row.level, str(row.queue), row.distinguisher, str(row.arrive_ns), details.user, details.path)
    more = (details.namespace, details.name, details.api_version, details.resource, details.subresource)
    return [" ".join(text.split()) for text in texts + more]


def plain_cells(cells: list[str]) -> list[str]:
    return plain(as_row(cells))
