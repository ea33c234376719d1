"""What keeps a cluster alive: where node leases, leader election and probes go, and how they fare there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from apftop.apf.attributes import Attributes
from apftop.apf.builtins import builtin_schemas
from apftop.apf.classify import Classifier, classify
from apftop.apf.identity import AUTHENTICATED, NODE_PREFIX
from apftop.apf.objects import EXEMPT, FlowSchema
from apftop.apf.release import parse_release
from apftop.findings.scene import Scene, levels, schemas, servers
from apftop.present import percent, plain, rate, seconds
from apftop.records.findings import Risk
from apftop.records.frame import Level, Replica, Request, Schema
from apftop.records.measures import Counts, Waits, Window
from apftop.rules import rules

NODE_LEASES = "kube-node-lease"
LEASE_VERBS = ("get", "create", "update", "patch")
PROBED = ("/livez", "/readyz", "/healthz")
NODES, LEADERS, PROBES = "node_leases", "leader_election", "probes"


@dataclass(frozen=True, slots=True)
class Vital:
    """A request that must get through, and the built-in schema that is there for it."""

    risk: str
    asked: Attributes
    builtin: str


@dataclass(frozen=True, slots=True)
class Spot:
    """Where requests of one kind go on one server, and how they fare; `seen` says that a dump shows them there.

    `told` is why they are at risk. `users` are those that the dump shows.
    """

    risk: str
    replica: Replica
    schema: str
    level: str
    builtin: str
    status: Risk
    told: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    seen: bool = False


def spots(scene: Scene) -> tuple[Spot, ...]:
    """All places to which requests that keep the cluster alive go, by the objects and by the dumps."""
    where = _Where(scene)
    found: dict[tuple[str, str, str, str], Spot] = {}
    # What is not known of a server that may not be read is unknown, not well.
    for replica in scene.frame.servers:
        for vital in VITAL if replica.apf != "absent" else ():
            schema, level = where.goes(replica, vital)
            key = replica.name, vital.risk, schema, level
            found[key] = found.get(key) or _spot(replica, vital, schema, level)
    return (*found.values(), *(spot for replica in servers(scene) for spot in _seen(replica)))


def robbed_by(scene: Scene, taker: FlowSchema) -> tuple[str, ...]:
    """The live built-in schemas whose vital requests go elsewhere while `taker` is as it is given here, in order.

    Of those that `taker` takes today and those that it would take, and of no others.
    """
    flow_schemas, configs = schemas(scene), levels(scene)
    names = {one.name for one in flow_schemas}
    today = Classifier(flow_schemas, configs.values())
    given = Classifier((*(one for one in flow_schemas if one.name != taker.name), taker), configs.values())
    found = (
        vital.builtin
        for vital in VITAL
        if vital.builtin in names
        and taker.name in (today.schema_of(vital.asked).name, given.schema_of(vital.asked).name)
        and given.schema_of(vital.asked).name != vital.builtin
    )
    order = [one.name for one in flow_schemas]
    return tuple(sorted(set(found), key=order.index))


class _Where:
    """Which schema and level requests match: by the objects, else by the built-in ones that a server is seen to use."""

    def __init__(self, scene: Scene) -> None:
        flow_schemas, configs = schemas(scene), levels(scene)
        known = Classifier(flow_schemas, configs.values()) if flow_schemas and configs else None
        self._goes: Mapping[str, tuple[str, str]] | None = None
        if known is not None:
            found = {vital: classify(known, vital.asked) for vital in VITAL}
            self._goes = {_name(vital): (one.schema.name, one.level.name) for vital, one in found.items()}

    def goes(self, replica: Replica, vital: Vital) -> tuple[str, str]:
        """The schema and level of a request on a server; empty where they are not known."""
        if self._goes is not None:
            return self._goes[_name(vital)]
        release = parse_release(replica.version or "")
        builtin = builtin_schemas(release).get(vital.builtin) if release is not None else None
        seen = replica.schemas.get(vital.builtin)
        if builtin is None or seen is None or seen.level != builtin.priority_level:
            return "", ""
        return builtin.name, builtin.priority_level


def _name(vital: Vital) -> str:
    return f"{vital.risk} {vital.asked.user} {vital.asked.path}"


def _spot(replica: Replica, vital: Vital, schema: str, level: str) -> Spot:
    if level == EXEMPT:
        return Spot(vital.risk, replica, schema, level, vital.builtin, "ok")
    status, told = _status(replica.levels.get(level), replica.schemas.get(schema))
    return Spot(vital.risk, replica, schema, level, vital.builtin, status, told)


def _status(level: Level | None, schema: Schema | None) -> tuple[Risk, tuple[str, ...]]:
    """How requests of a schema fare in a level: by the schema's own numbers, else by those of the level."""
    if level is None or level.state == "stale":
        return "unknown", ()
    if level.exempt:
        return "ok", ()
    name, window, counts, waits = plain(level.name), level.window, level.counts, level.waits
    if schema is not None and schema.counts is not None:
        name, window, counts, waits = f"schema {plain(schema.name)}", schema.window, schema.counts, schema.waits
    if counts is None or window is None:
        return "unknown", ()
    told = tuple(_refused(name, window, counts) + _near(name, window, waits))
    # Without metrics there are no waits: for how long those in the queue wait is not known.
    well: Risk = "unknown" if level.waits is None and level.waiting else "ok"
    return ("at-risk", told) if told else (well, ())


def _refused(name: str, window: Window, counts: Counts) -> list[str]:
    if window.seconds < rules().findings.load.least_window_s:
        return []
    if counts.rejected_total < rules().findings.risk.refused_least:
        return []
    per_s = rate(window.per_s(counts.rejected_total))
    return [
        f"{name}: {per_s}/s refused over {seconds(window.seconds)} ({percent(counts.refused_share)} of its requests)"
    ]


def _near(name: str, window: Window, waits: Waits | None) -> list[str]:
    limits = rules().findings.risk
    if waits is None or not waits.executed:
        return []
    long = sum(bucket.count for bucket in waits.buckets if bucket.low >= limits.near_s) - waits.timed_out
    if long < limits.near_least or long <= limits.near_share * waits.executed:
        return []
    share = percent(long / waits.executed)
    return [f"{name}: {share} of served requests waited over {seconds(limits.near_s)} within {seconds(window.seconds)}"]


def _seen(replica: Replica) -> Iterator[Spot]:
    """Where the dump shows requests of these kinds waiting for long, whatever the objects say."""
    groups: dict[tuple[str, str, str], list[Request]] = {}
    for row in replica.requests or ():
        risk = _risk_of(row)
        if risk and not row.own and not row.executing:
            groups.setdefault((risk, row.schema, row.level), []).append(row)
    limits = rules().findings.risk
    for (risk, schema, level), group in groups.items():
        long = [row for row in group if row.age_s is not None and row.age_s >= limits.near_s]
        if len(long) >= limits.near_least:
            oldest = max(row.age_s or 0.0 for row in long)
            kinds = dict.fromkeys(plain(row.kind) for row in long)
            told = (
                f"{len(group)} wait in {plain(level)}, the oldest for {seconds(oldest)}: {', '.join(list(kinds)[:3])}"
            )
            users = tuple(dict.fromkeys(row.user for row in group if row.user))
            yield Spot(risk, replica, schema, level, "", "at-risk", (told,), users, seen=True)


def _risk_of(row: Request) -> str:
    """Which kind of vital request a row is; empty for all others."""
    if row.path is not None and not row.resource and row.path.startswith(PROBED) and row.verb in ("get", "head"):
        return PROBES
    if row.resource != "leases" or row.verb not in LEASE_VERBS:
        return ""
    if row.namespace == NODE_LEASES or (row.user or "").startswith(NODE_PREFIX):
        return NODES
    return LEADERS


def builtin(scene: Scene, name: str) -> FlowSchema | None:
    """A built-in schema as the newest known release of the servers makes it."""
    releases = [one for server in servers(scene) if (one := parse_release(server.version or "")) is not None]
    return builtin_schemas(max(releases)).get(name) if releases else None


def _lease(user: str, groups: Sequence[str], namespace: str, name: str) -> Attributes:
    path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}"
    return Attributes(
        user=user,
        groups=(*groups, AUTHENTICATED),
        verb="update",
        path=path,
        resource_request=True,
        api_group="coordination.k8s.io",
        api_version="v1",
        namespace=namespace,
        resource="leases",
        name=name,
    )


def _probe(path: str) -> Attributes:
    return Attributes("system:anonymous", ("system:unauthenticated",), "get", path, resource_request=False)


_ACCOUNTS = ("system:serviceaccounts", "system:serviceaccounts:kube-system")
VITAL = (
    Vital(NODES, _lease("system:node:a-node", ("system:nodes",), NODE_LEASES, "a-node"), "system-node-high"),
    *(
        Vital(LEADERS, _lease(user, groups, "kube-system", "a-leader"), "system-leader-election")
        for user, groups in (
            ("system:kube-controller-manager", ()),
            ("system:kube-scheduler", ()),
            ("system:serviceaccount:kube-system:a-controller", _ACCOUNTS),
        )
    ),
    *(Vital(PROBES, _probe(path), "probes") for path in PROBED),
)
"""The requests that are classified: one of each kind, by those who send them on every cluster."""
