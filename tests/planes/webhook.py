"""A validating webhook that sleeps, which gives the requests of one namespace any service time."""

from __future__ import annotations

import asyncio
import base64
import random
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import trustme
from aiohttp import web

from tests.planes.client import Client, Json
from tests.planes.objects import wait_on_replicas
from tests.planes.plane import Plane

MAX_SLEEP_SECONDS = 20.0
START_SECONDS = 10.0
PATH = "/validate"

Sleep = Callable[[], float]


def fixed(seconds: float) -> Sleep:
    """Always the same service time."""
    return lambda: seconds


def exponential(mean: float, seed: int) -> Sleep:
    """Exponential service times; the seed fixes their sequence."""
    source = random.Random(seed)
    return lambda: source.expovariate(1 / mean)


def calls_for_creations(name: str, namespace: str, client: Json, timeout: int = 30) -> Json:
    """Sends every creation of a config map in that namespace to a webhook."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [
            {
                "name": f"{name}.apftop.test",
                "clientConfig": client,
                "rules": [
                    {
                        "operations": ["CREATE"],
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "resources": ["configmaps"],
                    }
                ],
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "admissionReviewVersions": ["v1"],
                "failurePolicy": "Fail",
                "sideEffects": "None",
                "timeoutSeconds": timeout,
            }
        ],
    }


class Webhook:
    """An HTTPS server that admits everything after a sleep; `sleep` may be replaced while it runs."""

    def __init__(self, sleep: Sleep) -> None:
        self.sleep = sleep
        self.calls = 0
        self.url = ""
        self._authority = trustme.CA()

    @property
    def ca_bundle(self) -> str:
        """The authority of its certificate, as webhook configurations hold it."""
        return base64.b64encode(self._authority.cert_pem.bytes()).decode()

    def configuration(self, name: str, namespace: str, timeout: int = 30) -> Json:
        """Sends every creation of a config map in that namespace to this webhook."""
        return calls_for_creations(name, namespace, {"url": self.url, "caBundle": self.ca_bundle}, timeout)

    async def serve(self, started: threading.Event, ended: asyncio.Event) -> None:
        """Serves until `ended`."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._authority.issue_cert("127.0.0.1").configure_cert(context)
        application = web.Application()
        application.router.add_post(PATH, self._validate)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context, backlog=1024)
            await site.start()
            self.url = f"https://127.0.0.1:{runner.addresses[0][1]}{PATH}"
            started.set()
            await ended.wait()
        finally:
            await runner.cleanup()

    async def _validate(self, request: web.Request) -> web.Response:
        self.calls += 1
        review = await request.json()
        await asyncio.sleep(min(self.sleep(), MAX_SLEEP_SECONDS))
        answer = {"uid": review["request"]["uid"], "allowed": True}
        return web.json_response({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": answer})


@contextmanager
def start_webhook(sleep: Sleep) -> Iterator[Webhook]:
    """Runs a webhook in a thread."""
    hook, started, ended = Webhook(sleep), threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=_serve, args=(loop, hook, started, ended), name="webhook", daemon=True)
    thread.start()
    try:
        if not started.wait(START_SECONDS):
            raise RuntimeError("the webhook did not start")
        yield hook
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(START_SECONDS)


def _serve(loop: asyncio.AbstractEventLoop, hook: Webhook, started: threading.Event, ended: asyncio.Event) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(hook.serve(started, ended))


@contextmanager
def webhook_in_force(plane: Plane, namespace: str, sleep: Sleep) -> Iterator[Webhook]:
    """Runs a webhook for a namespace that exists, from when every replica calls it until it is removed."""
    with start_webhook(fixed(0.0)) as hook:
        configuration = hook.configuration(f"sleep-{namespace}", namespace)
        path = f"/api/v1/namespaces/{namespace}/configmaps?dryRun=All"
        probe: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "probe-"}}

        def called(_: int, client: Client) -> bool:
            before = hook.calls
            client.post(path, probe).expect(201)
            return hook.calls > before

        plane.client().apply(configuration)
        try:
            wait_on_replicas(plane, f"webhook of {namespace}", called)
            hook.calls, hook.sleep = 0, sleep
            yield hook
        finally:
            plane.client().remove(configuration)
