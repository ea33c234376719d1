"""What this tool may not see, and what became of its own requests; requests refused after APF let them through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from apftop.apf.attributes import Attributes, attributes
from apftop.apf.classify import Classifier, classify
from apftop.apf.identity import groups_by_name
from apftop.apf.release import holds, parse_release
from apftop.findings.changes.apart import ahead, free_name
from apftop.findings.changes.grants import DUMPS_RULES, METRICS_RULES, OBJECTS_RULES, granted
from apftop.findings.changes.patches import a_level, a_schema, created, user_subject
from apftop.findings.changes.resharing import taken_by_a_new_level
from apftop.findings.scene import Finder, Scene, api_version, levels, schemas, servers
from apftop.findings.servers.not_apf import forbidden_after_dispatch, other_429s
from apftop.findings.words.listing import few
from apftop.findings.words.told import listed, servers_named
from apftop.parse.vocabulary import vocabulary
from apftop.present import plain, utc
from apftop.records.findings import Change, Finding
from apftop.records.frame import Replica
from apftop.records.raw import DUMP_PATHS, DUMPS, Endpoint
from apftop.rules import rules

ACCOUNT = "system:serviceaccount:apftop:apftop"
"""Stands for who asks where no dump tells it."""
OBJECTS = "flowcontrol.apiserver.k8s.io"
OWN_RULES = (
    {"verbs": ["get"], "nonResourceURLs": ["/metrics", f"{DUMP_PATHS}*"]},
    {
        "verbs": ["get", "list", "watch"],
        "apiGroups": [OBJECTS],
        "resources": ["flowschemas", "prioritylevelconfigurations"],
        "clusterScope": True,
    },
)
OWN_PATHS = (
    "/metrics",
    *(f"{DUMP_PATHS}{dump.value}" for dump in DUMPS),
    *(f"/apis/{OBJECTS}/v1/{kind}" for kind in ("flowschemas", "prioritylevelconfigurations")),
)
OWN_SHARES = 1
UNSEEN = 700
"""A precedence ahead of what other accounts match by default, for where no object is known."""


def own_requests_refused(scene: Scene) -> Iterator[Finding]:
    """This tool's own requests are refused by the very level that it looks at."""
    hit = sorted((one for one in scene.frame.servers if _lately(scene, one)), key=lambda one: -one.own.rejected)
    if not hit:
        return
    worst = hit[0]
    level, schema = worst.own.level, worst.own.schema
    change = _own_level(scene, worst)
    refused, sent = sum(one.own.rejected for one in hit), sum(one.own.sent for one in hit)
    where = f"by {plain(level)} on {servers_named([one.name for one in hit])}" if level else "by an unknown level"
    tries = {one.name: [utc(stamp) for stamp in one.own.next_try] for one in hit}
    yield Finding(
        code="own-requests-refused",
        severity="warning" if refused >= rules().findings.access.own_refused else "info",
        subject=plain(level or "cluster"),
        title=f"this tool's own requests are refused {where}: {refused} of {sent}",
        replicas=tuple(one.name for one in hit),
        level=level or "",
        schema=schema or "",
        evidence=(
            *few(
                [
                    f"{plain(one.name)}: {one.own.rejected} of {one.own.sent} refused,"
                    f" schema {plain(one.own.schema or 'unknown')}, level {plain(one.own.level or 'unknown')}"
                    for one in hit
                ]
            ),
            *(
                f"{plain(name)}: asked again no sooner than {stamps[-1]}, as Retry-After says"
                for name, stamps in list(tries.items())[:5]
                if stamps
            ),
            "numbers shown meanwhile are as old as the last answer",
        ),
        advice=(
            *(
                (
                    "run it as an identity with a small level of its own: the schema below sends its questions there",
                    taken_by_a_new_level((worst, *servers(scene)), OWN_SHARES),
                )
                if change is not None
                else ("run it as an identity with a small level of its own, by a schema ahead of all that it matches",)
            ),
            "whatever else comes to this level is refused as well: look at what fills it",
            "not as system:masters: that is exempt from APF and from authorization too, and its dumps would be"
            " written however short of CPU the server is",
        ),
        change=change,
        facts={
            "rejected": refused,
            "of": sent,
            "own_flow_schema": schema,
            "own_priority_level": level,
            "next_try_not_before": tries,
        },
    )


def _lately(scene: Scene, one: Replica) -> bool:
    """Whether it was refused, and not long ago as far as times are known."""
    tries = one.own.next_try
    late = scene.now is None or not tries or max(tries) >= scene.now - rules().findings.access.recent_s
    return one.own.rejected > 0 and late


def _own_level(scene: Scene, one: Replica) -> Change | None:
    """A level and a schema for who asks, ahead of whatever takes this account, and of what takes its requests now.

    None where there is no room, or where it is not known what takes the account.
    """
    users = {row.user for row in one.requests or () if row.own and row.user}
    known = users.pop() if len(users) == 1 else None
    user, told = known or ACCOUNT, plain(known) if known else f"{ACCOUNT} (put the account that asks)"
    precedence = _ahead(scene, user, one.own.schema or "")
    if precedence is None:
        return None
    name = free_name(scene, "apftop")
    schema = a_schema(
        name,
        name,
        precedence,
        [user_subject(user)],
        resource_rules=[dict(OWN_RULES[1])],
        non_resource_rules=[dict(OWN_RULES[0])],
    )
    level = a_level(name, OWN_SHARES, queues=1, hand_size=1, queue_length_limit=50)
    return created(
        f"a level of 1 share for the questions of {told}, at precedence {precedence}",
        api_version(scene),
        level,
        schema,
    )


def _ahead(scene: Scene, user: str, now: str) -> int | None:
    """A precedence before all schemas that take this tool's questions from `user`, and before the one named `now`."""
    order, configs = schemas(scene), levels(scene)
    if not order and not configs:
        return UNSEEN
    if not order or not configs:
        return None
    known = Classifier(order, configs.values())
    return ahead(order, {now, *(classify(known, asked).schema.name for asked in _questions(user))})


def _questions(user: str) -> list[Attributes]:
    """What this tool asks, as a server sees it from `user`, of whose groups only those that follow from the name."""
    return [attributes("GET", path, user=user, groups=groups_by_name(user)) for path in OWN_PATHS]


def metrics_missing(scene: Scene) -> Iterator[Finding]:
    """Servers that tell no metrics of APF, or not all of them."""
    none = [one for one in scene.frame.servers if _unread(one)]
    if none:
        denied = [one for one in none if one.endpoints.get(Endpoint.METRICS) == 403]
        yield Finding(
            code="metrics-missing",
            severity="warning",
            subject="cluster",
            title=f"no metrics of APF from {listed([one.name for one in none])}: no limits, waits or refusals",
            replicas=tuple(one.name for one in none),
            evidence=few([f"{plain(one.name)}: /metrics: {_status(one)}" for one in none]),
            advice=(_unread_advice(none),),
            change=granted("apftop-metrics-reader", _who(none), METRICS_RULES) if denied else None,
            facts={"replicas": [one.name for one in none], "lacks": {}},
        )
    lacks = {} if none else {one.name: _lacks(one) for one in scene.frame.servers if one.apf != "absent"}
    lacks = {name: measures for name, measures in lacks.items() if measures}
    if lacks:
        yield _partly(scene, lacks)


def _lacks(one: Replica) -> list[str]:
    return [measure for measure in one.cannot_fill if measure in rules().findings.access.lost]


def _partly(scene: Scene, lacks: Mapping[str, Sequence[str]]) -> Finding:
    lost = rules().findings.access.lost
    missing = sorted({measure for measures in lacks.values() for measure in measures}, key=list(lost).index)
    left_out = any(_exposes(scene, name, measure) for name, measures in lacks.items() for measure in measures)
    return Finding(
        code="metrics-missing",
        severity="info",
        subject="cluster",
        title=f"metrics of {servers_named(list(lacks))} do not tell {lost[missing[0]]}{_and_more(missing)}",
        replicas=tuple(lacks),
        evidence=(
            *(f"without {plain(measure)} nobody can tell {lost[measure]}" for measure in missing[:8]),
            *few([f"{plain(name)}: {plain(_release(scene, name))}" for name in lacks]),
        ),
        advice=(
            "its release exposes more than that: look what leaves families out, a proxy, a filter or a cut file"
            if left_out
            else "this release does not expose them: a newer one does",
            "these numbers are shown as unknown, and never as 0",
        ),
        facts={"replicas": list(lacks), "lacks": lacks},
    )


def _exposes(scene: Scene, name: str, measure: str) -> bool:
    """Whether the release of a server exposes a measure by default."""
    release = parse_release(scene.frame.replicas[name].version or "")
    return release is not None and holds(release, vocabulary().measures[measure].holds)


def _release(scene: Scene, name: str) -> str:
    return scene.frame.replicas[name].version or "unknown release"


def _unread(one: Replica) -> bool:
    """Whether a server that has APF was asked for metrics and gave none of APF, other than for the moment."""
    status = one.endpoints.get(Endpoint.METRICS)
    if one.apf == "absent" or status is None or one.sources:
        return False
    # 5xx is a server that starts or has trouble of another kind.
    return isinstance(status, int) and status != 429 and status < 500


def _unread_advice(none: Sequence[Replica]) -> str:
    statuses = {one.endpoints.get(Endpoint.METRICS) for one in none}
    if 403 in statuses:
        return "grant get on the path /metrics"
    if 401 in statuses:
        return "log in again: the server does not accept who asks"
    return "ask the API server itself: a proxy or a list of families to keep may leave them out"


def _status(one: Replica) -> str:
    status = one.endpoints.get(Endpoint.METRICS)
    return "answered, without a family of APF" if status == 200 else f"status {status}"


def _and_more(missing: Sequence[str]) -> str:
    return f", and {len(missing) - 1} more" if len(missing) > 1 else ""


def _who(servers: Sequence[Replica]) -> str | None:
    """Who asks, by rows of the dumps; None where they do not tell."""
    users = {row.user for one in servers for row in one.requests or () if row.own and row.user}
    return users.pop() if len(users) == 1 else None


def dumps_denied(scene: Scene) -> Iterator[Finding]:
    """The dumps may not be read: who is in the levels and how old the requests are is not known."""
    denied = [one for one in scene.frame.servers if any(one.endpoints.get(dump) == 403 for dump in DUMPS)]
    if denied:
        yield _denied(
            "dumps-denied",
            f"the dumps are denied on {listed([one.name for one in denied])}: no requests, queues or clients",
            f"{DUMP_PATHS}*: status 403",
            denied,
            granted("apftop-dumps-reader", _who(denied), DUMPS_RULES),
        )


def objects_denied(scene: Scene) -> Iterator[Finding]:
    """Flow schemas and priority levels may not be read."""
    denied = [one for one in scene.frame.servers if one.endpoints.get("objects") == 403]
    if denied:
        yield _denied(
            "objects-denied",
            "flow schemas and priority levels may not be read: names only, without shares, queues or rules",
            "flowcontrol.apiserver.k8s.io, flowschemas or prioritylevelconfigurations: status 403",
            denied,
            granted("apftop-objects-reader", _who(denied), OBJECTS_RULES),
        )


def _denied(code: str, title: str, told: str, denied: Sequence[Replica], grant: Change) -> Finding:
    return Finding(
        code=code,
        severity="info",
        subject="cluster",
        title=title,
        replicas=tuple(one.name for one in denied),
        evidence=few([f"{plain(one.name)}: {told}" for one in denied]),
        advice=("grant it by the ClusterRole below; a managed control plane may not let you",),
        change=grant,
        facts={"replicas": [one.name for one in denied]},
    )


def apf_absent(scene: Scene) -> Iterator[Finding]:
    """A server without APF: nothing but the limits of requests in flight guards it."""
    absent = [one for one in scene.frame.servers if one.apf == "absent"]
    if not absent:
        return
    yield Finding(
        code="apf-absent",
        severity="warning",
        subject=plain(absent[0].name) if len(absent) == 1 else "cluster",
        title=f"{listed([one.name for one in absent])}: APF is off, or this is no API server with APF",
        replicas=tuple(one.name for one in absent),
        evidence=few([f"{plain(one.name)}: {_absence(one.endpoints)}" for one in absent]),
        advice=(
            "switch it on: leave --enable-priority-and-fairness and the feature gate APIPriorityAndFairness as they are"
            " by default",
            "without it one client can take all of --max-requests-inflight, and everybody else gets 429",
        ),
        facts={"replicas": [one.name for one in absent]},
    )


def _absence(endpoints: Mapping[str, int | str | None]) -> str:
    parts = [f"{dump.value} {endpoints[dump]}" for dump in DUMPS if endpoints.get(dump) is not None]
    if endpoints.get(Endpoint.METRICS) == 200:
        parts.append("no family apiserver_flowcontrol_* in /metrics")
    return ", ".join(parts) or "no family apiserver_flowcontrol_* in what was read"


FINDERS: tuple[Finder, ...] = (
    own_requests_refused,
    metrics_missing,
    dumps_denied,
    objects_denied,
    apf_absent,
    forbidden_after_dispatch,
    other_429s,
)
