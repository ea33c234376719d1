"""A webhook behind a Service of the cluster that asks the API server before it answers, as many real ones do."""

from __future__ import annotations

import asyncio
import base64
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import aiohttp
import trustme
from aiohttp import web

from tests.planes.client import Client, Json
from tests.planes.objects import allow, create_namespace, delete_namespace, revoke, wait_on_replicas
from tests.planes.plane import Plane
from tests.planes.users import HOOK_ACCOUNT, HOOK_NAMESPACE
from tests.planes.webhook import calls_for_creations

SERVICE = "reader"
READ_SECONDS = 25.0
START_SECONDS = 10.0


class ReadingWebhook:
    """Admits everything once it has read one object of the first replica, whatever comes of that."""

    def __init__(self, plane: Plane, path: str) -> None:
        self.calls = 0
        self.port = 0
        self._plane = plane
        self._path = path
        self._authority = trustme.CA()

    def configuration(self, namespace: str) -> Json:
        """Sends every creation of a config map in that namespace here, by the Service."""
        authority = base64.b64encode(self._authority.cert_pem.bytes()).decode()
        service = {"namespace": HOOK_NAMESPACE, "name": SERVICE, "path": "/validate", "port": self.port}
        return calls_for_creations("reads-back", namespace, {"service": service, "caBundle": authority})

    async def serve(self, started: threading.Event, ended: asyncio.Event) -> None:
        """Serves until `ended`."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._authority.issue_cert(f"{SERVICE}.{HOOK_NAMESPACE}.svc").configure_cert(context)
        application = web.Application()
        application.router.add_post("/validate", self._validate)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        trusted = ssl.create_default_context(cafile=str(self._plane.ca_file))
        timeout = aiohttp.ClientTimeout(total=READ_SECONDS)
        connector = aiohttp.TCPConnector(limit=0, ssl=trusted)
        try:
            async with aiohttp.ClientSession(connector=connector, timeout=timeout) as self._session:
                await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context, backlog=1024).start()
                self.port = runner.addresses[0][1]
                started.set()
                await ended.wait()
        finally:
            await runner.cleanup()

    async def _validate(self, request: web.Request) -> web.Response:
        self.calls += 1
        review = await request.json()
        headers = {"Authorization": f"Bearer {self._plane.tokens[HOOK_ACCOUNT]}"}
        try:
            async with self._session.get(self._plane.urls[0] + self._path, headers=headers) as read:
                await read.read()
        except (aiohttp.ClientError, TimeoutError):
            pass  # it is refused or gave up, and this webhook lets the creation through as it is
        answer = {"uid": review["request"]["uid"], "allowed": True}
        return web.json_response({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": answer})


@contextmanager
def reading_webhook(plane: Plane, namespace: str) -> Iterator[ReadingWebhook]:
    """Runs one for the creations in a namespace that exists, from when every replica calls it."""
    with ExitStack() as during:
        create_namespace(plane, HOOK_NAMESPACE)
        during.callback(delete_namespace, plane, HOOK_NAMESPACE)
        read: Json = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}
        allow(plane, "reads-back", "User", HOOK_ACCOUNT, [read])
        during.callback(revoke, plane, "reads-back")
        hook = ReadingWebhook(plane, f"/api/v1/namespaces/{HOOK_NAMESPACE}/configmaps?limit=1")
        during.enter_context(_running(hook))
        # A Service of this type is called at its name, with the port of the configuration.
        service: Json = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": SERVICE, "namespace": HOOK_NAMESPACE},
            "spec": {"type": "ExternalName", "externalName": "localhost"},
        }
        for item in (service, hook.configuration(namespace)):
            plane.client().apply(item)
            during.callback(plane.client().remove, item)
        path = f"/api/v1/namespaces/{namespace}/configmaps?dryRun=All"
        probe: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "probe-"}}

        def called(_: int, client: Client) -> bool:
            before = hook.calls
            return client.post(path, probe).status == 201 and hook.calls > before

        wait_on_replicas(plane, f"webhook of {namespace}", called)
        yield hook


@contextmanager
def _running(hook: ReadingWebhook) -> Iterator[None]:
    started, ended, loop = threading.Event(), asyncio.Event(), asyncio.new_event_loop()

    def serve() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(hook.serve(started, ended))

    thread = threading.Thread(target=serve, name="reading-webhook", daemon=True)
    thread.start()
    try:
        if not started.wait(START_SECONDS):
            raise RuntimeError("the webhook did not start")
        yield
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(START_SECONDS)
