"""The model against real servers: what it classifies, deals and shares out is what they do."""

from __future__ import annotations

from itertools import product

from apftop.apf.allocation import limits
from apftop.apf.attributes import attributes
from apftop.apf.borrowing import Borrower, adjust
from apftop.apf.builtins import builtin_levels, builtin_schemas
from apftop.apf.classify import Classifier, classify
from apftop.apf.objects import FlowSchema, PriorityLevelConfiguration
from apftop.apf.release import Release, parse_release
from apftop.apf.shards import hand
from apftop.parse.dumps import parse_requests
from apftop.parse.metrics import parse_metrics
from apftop.parse.objects import parse_objects
from tests.planes import load
from tests.planes.client import Client
from tests.planes.flow import apply_flow, flow_schema, priority_level, remove_flow
from tests.planes.objects import allow_loaders, create_namespace, delete_namespace, revoke
from tests.planes.observe import DUMPS, FLOW_SCHEMA_UID, PRIORITY_LEVEL_UID
from tests.planes.plane import Plane
from tests.planes.users import GROUPS
from tests.planes.webhook import exponential, webhook_in_force

API = "/apis/flowcontrol.apiserver.k8s.io/v1/"
TEXT = "text/plain; version=0.0.4"
PATHS = (
    "/version",
    "/healthz",
    "/healthz/etcd",
    "/readyz",
    "/api",
    "/api/v1/nodes",
    "/api/v1/configmaps",
    "/api/v1/namespaces/default/configmaps",
    "/api/v1/namespaces/default/configmaps/none",
    "/api/v1/namespaces/kube-system/endpoints/none",
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/none",
    "/apis/none.example.com/v1/widgets",
)


def release_of(plane: Plane) -> Release:
    release = parse_release(plane.version)
    assert release is not None
    return release


def schemas(client: Client) -> dict[str, FlowSchema]:
    found = parse_objects(client.get(API + "flowschemas").expect(200).body)
    return {schema.name: schema for schema in found.schemas}


def levels(client: Client) -> dict[str, PriorityLevelConfiguration]:
    found = parse_objects(client.get(API + "prioritylevelconfigurations").expect(200).body)
    return {config.name: config for config in found.configs}


def test_the_built_in_objects_are_those_of_the_server(plane: Plane) -> None:
    client = plane.client()
    found = {
        name: schema
        for name, schema in schemas(client).items()
        if ("apf.kubernetes.io/autoupdate-spec", "true") in schema.meta.annotations
    }
    wanted = builtin_schemas(release_of(plane))

    assert found.keys() == wanted.keys()
    for name, schema in found.items():
        its = wanted[name]
        assert (schema.priority_level, schema.precedence, schema.distinguisher, schema.rules) == (
            its.priority_level,
            its.precedence,
            its.distinguisher,
            its.rules,
        )
    for name, its_level in builtin_levels().items():
        level = levels(client)[name]
        assert (level.exempt, level.shares, level.lendable_percent, level.borrowing_limit_percent, level.queuing) == (
            its_level.exempt,
            its_level.shares,
            its_level.lendable_percent,
            its_level.borrowing_limit_percent,
            its_level.queuing,
        )


def test_requests_are_classified_as_the_server_does(plane: Plane) -> None:
    level = priority_level("picked", shares=5)
    schema = flow_schema("picked", "picked", users=["batch"], groups=["loaders"], precedence=850)
    try:
        apply_flow(plane, level, schema, "batch")
        admin = plane.client()
        classifier = Classifier(schemas(admin).values(), levels(admin).values())
        for user, path in product(("admin", "viewer", "batch", "mouse0", "nobody"), PATHS):
            groups = (*GROUPS[user], "system:authenticated")
            found = classify(classifier, attributes("GET", path, user=user, groups=groups))
            headers = plane.client(user).get(path).headers

            assert headers[FLOW_SCHEMA_UID] == found.schema.meta.uid, (user, path, found.schema.name)
            assert headers[PRIORITY_LEVEL_UID] == found.level.meta.uid
    finally:
        remove_flow(plane, level, schema)


def check_limits(plane: Plane, replica: int) -> None:
    """Nominal, lower, upper and current limits of one answer of one replica."""
    client, release = plane.client(replica=replica), release_of(plane)
    configs = levels(client)
    families = parse_metrics(client.get("/metrics").expect(200).body, TEXT).families
    read = {
        name: {
            dict(labels)["priority_level"]: value
            for labels, value in families[f"apiserver_flowcontrol_{name}"].values.items()
        }
        for name in (
            *(f"{kind}_limit_seats" for kind in ("nominal", "lower", "upper", "current")),
            "demand_seats_high_watermark",
            "demand_seats_smoothed",
        )
    }
    server = int(read["upper_limit_seats"]["exempt"] - read["nominal_limit_seats"]["exempt"])
    model = limits(configs.values(), server, release)
    for name, its in model.items():
        kinds = (its.nominal, its.lower, its.upper)
        assert kinds == tuple(read[f"{kind}_limit_seats"][name] for kind in ("nominal", "lower", "upper")), name
    adjustment = adjust(
        {
            name: Borrower(
                exempt=config.exempt,
                nominal=model[name].nominal,
                lower=model[name].lower,
                upper=model[name].upper,
                current=-1,
                high_watermark=read["demand_seats_high_watermark"][name],
                smoothed=read["demand_seats_smoothed"][name],
            )
            for name, config in configs.items()
        },
        release,
    )
    assert adjustment.current == {name: read["current_limit_seats"][name] for name in configs}


def test_limits_and_hands_under_load_are_those_of_the_server(plane: Plane) -> None:
    level = priority_level("load", shares=5, queues=16, hand_size=4, queue_length=20, lendable=50, borrowing=50)
    schema = flow_schema("load", "load", groups=["loaders"], precedence=500)
    create_namespace(plane, "model")
    allow_loaders(plane)
    creates = load.create_configmap("model")
    seen = 0
    try:
        apply_flow(plane, level, schema, "elephant")
        loops = [load.ClosedLoop("elephant", creates, replica=1, concurrency=24, seconds=25)]
        loops += [load.ClosedLoop(f"mouse{index}", creates, replica=1, seconds=25) for index in range(3)]
        with webhook_in_force(plane, "model", exponential(0.25, 7)), load.running(plane, *loops):
            for _ in range(8):
                for replica in range(len(plane.urls)):
                    check_limits(plane, replica)
                rows = parse_requests(plane.client(replica=1).get(DUMPS + "dump_requests").expect(200).body).rows
                for row in rows:
                    if row.level == "load":
                        assert row.queue in hand("load", row.distinguisher, 16, 4)
                        seen += 1
    finally:
        remove_flow(plane, level, schema)
        revoke(plane, "plane-loaders")
        delete_namespace(plane, "model")
    assert seen > 20
