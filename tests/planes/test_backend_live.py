"""What real servers tell of what lies behind their queues: how requests ended, storage, and a webhook that is slow."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest

from apftop.cluster import reach
from apftop.derive.frame import frame
from apftop.fetch import Manner, Turn, ask, path_of, run
from apftop.live import fold
from apftop.parse.body import picker_of_all, picker_of_apf, picker_of_behind
from apftop.parse.vocabulary import asked_at_once, asked_names, behind_names
from apftop.poll.callbacks import ask_callbacks
from apftop.records.backend import Backend
from apftop.records.raw import CALLBACKS, Endpoint, Sample
from apftop.session import open_session
from tests.planes.client import Json
from tests.planes.objects import create_namespace, delete_namespace, wait_on_replicas
from tests.planes.plane import Plane
from tests.planes.webhook import fixed, webhook_in_force

NAMESPACE = "behind"
MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
LANES = Manner(families=asked_names(), picker=picker_of_apf, behind=behind_names(), behind_picker=picker_of_behind)
AT_ONCE = Manner(families=asked_at_once(), picker=picker_of_all)
SLEEP_S = 0.3

Looked = Callable[[Plane], Awaitable[list[Sample]]]


async def in_its_lane(plane: Plane) -> list[Sample]:
    """An answer to the question of the lane of its own."""
    (access,) = reach([], str(plane.kubeconfig())).ways
    async with open_session(access, LANES) as session:
        sample, _ = await ask(session, access, Endpoint.BACKEND, LANES, path_of(Endpoint.BACKEND, LANES))
    return [sample]


async def at_once(plane: Plane) -> list[Sample]:
    """Metrics as one look asks for them; in a loop of its own."""
    ways = reach([], str(plane.kubeconfig())).ways
    return await asyncio.to_thread(run, ways, [Turn((Endpoint.METRICS,))], AT_ONCE)


def backend(*samples: Sample) -> Backend:
    (replica,) = frame(fold(samples)).replicas.values()
    assert replica.problems == ()
    assert replica.backend is not None
    return replica.backend


def a_map(name: str) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": NAMESPACE}}


@pytest.fixture
def namespace(plane: Plane) -> Iterator[str]:
    create_namespace(plane, NAMESPACE)
    yield NAMESPACE
    delete_namespace(plane, NAMESPACE)


@pytest.mark.parametrize("looked", [in_its_lane, at_once], ids=["lane", "at once"])
@pytest.mark.usefixtures("namespace")
async def test_codes_and_storage_rise_as_the_client_saw(plane: Plane, looked: Looked) -> None:
    client = plane.client()
    before = await looked(plane)
    codes = [client.post(MAPS, a_map(f"one-{number}")).status for number in range(20)]
    codes += [client.post(MAPS, a_map("one-0")).status for _ in range(3)]
    codes += [client.get(f"{MAPS}/one-{number}").status for number in range(25)]
    codes += [client.request("DELETE", f"{MAPS}/one-{number}").status for number in range(20)]
    found = backend(*before, *await looked(plane))

    assert {code: codes.count(code) for code in set(codes)} == {201: 20, 409: 3, 200: 40, 404: 5}
    # The server itself and its neighbours ask as well.
    assert found.requests[409] >= 3
    assert found.requests[404] >= 5
    assert found.requests[201] >= 20
    assert 40 <= found.requests[200] < 400
    assert found.etcd["create"].count >= 20
    for name in ("create", "get", "delete"):
        mean_s = found.etcd[name].mean_s
        assert mean_s is not None
        assert 0 < mean_s < 5
    # Namespaces were created before.
    assert found.etcd["create"].usual_s is not None
    assert found.admission["NamespaceLifecycle"].count >= 43
    assert found.window.seconds > 0


@pytest.mark.usefixtures("namespace")
async def test_a_webhook_that_sleeps_is_told_by_name_with_its_time(plane: Plane) -> None:
    with webhook_in_force(plane, NAMESPACE, fixed(SLEEP_S)) as hook:
        before = await in_its_lane(plane)
        calls = hook.calls
        for number in range(5):
            plane.client().post(f"{MAPS}?dryRun=All", a_map(f"slow-{number}")).expect(201)
        calls = hook.calls - calls
        found = backend(*before, *await in_its_lane(plane))
    (webhook,) = (one for name, one in found.webhooks.items() if name.startswith(f"sleep-{NAMESPACE}"))

    assert (calls, webhook.count) == (5, 5)
    assert webhook.mean_s is not None
    assert SLEEP_S <= webhook.mean_s < SLEEP_S + 2


async def test_the_lane_brings_little_where_families_are_picked_and_keeps_little_elsewhere(plane: Plane) -> None:
    (sample,) = await in_its_lane(plane)

    assert sample.named
    assert sample.whole_bytes is not None
    honoured = plane.version.lstrip("v").startswith("1.37")
    assert (sample.whole_bytes <= 2 * len(sample.body)) == honoured


async def test_services_of_webhooks_and_apis_are_told_by_one_server(plane: Plane) -> None:
    config: Json = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "called"},
        "webhooks": [
            {
                "name": "called.apftop.test",
                "clientConfig": {"service": {"namespace": "policies", "name": "checker"}},
                "rules": [
                    {"operations": ["DELETE"], "apiGroups": ["x.test"], "apiVersions": ["*"], "resources": ["things"]}
                ],
                "admissionReviewVersions": ["v1"],
                "failurePolicy": "Ignore",
                "sideEffects": "None",
                "timeoutSeconds": 3,
            }
        ],
    }
    path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/called"
    plane.client().apply(config)
    try:
        # Lists come from the server's memory.
        wait_on_replicas(plane, "called", lambda _, client: client.get(f"{path}?resourceVersion=0").status == 200)
        (access,) = reach([], str(plane.kubeconfig())).ways
        async with open_session(access) as session:
            samples, answered = await ask_callbacks(session, access, Manner())
    finally:
        plane.client().remove(config)
    seen = frame(fold(samples))

    assert answered
    assert [(sample.endpoint, sample.status) for sample in samples] == [(endpoint, 200) for endpoint in CALLBACKS]
    assert seen.callbacks is not None
    (found,) = (one for one in seen.callbacks if one.config == "called")
    assert (found.kind, found.namespace, found.service) == ("validating", "policies", "checker")
    assert (found.timeout_s, found.fails_closed) == (3.0, False)
    assert [(rule.operations, rule.groups, rule.resources) for rule in found.rules] == [
        (("DELETE",), ("x.test",), ("things",))
    ]
    # The server's own APIs are no callbacks.
    assert not any(one.kind == "apiservice" for one in seen.callbacks)
