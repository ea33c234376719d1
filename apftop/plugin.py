"""Exec credential plugins: programs that a kubeconfig names to log its user in."""

from __future__ import annotations

import atexit
import base64
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from apftop.access import Unreachable
from apftop.credentials import Credential

PLUGIN_DEADLINE_S = 60.0
PLUGIN_DEADLINE_INTERACTIVE_S = 300.0
"""Longer, because a person logs in meanwhile."""

EXTENSION = "client.authentication.k8s.io/exec"
"""The extension of a kubeconfig's cluster that is meant for plugins."""

_running: set[subprocess.Popen[bytes]] = set()
"""The plugins that run now, each but an interactive one as the leader of a session of its own."""

_starting = threading.Lock()


def run_plugin(plugin: Mapping[str, Any], cluster: Mapping[str, Any], folder: str, *, alone: bool) -> Credential:
    """Run an exec plugin and give the credential that it prints.

    A command that is a relative path is taken from `folder`, that of the kubeconfig. On a terminal the plugin may talk
    with the person, unless it is `alone` or its mode is Never. Raises Unreachable, without anything of what the plugin
    put out but its last line of error.
    """
    command, mode = str(plugin["command"]), plugin.get("interactiveMode")
    program = os.path.join(folder, command) if os.path.dirname(command) else command
    terminal = not alone and all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
    if mode == "Always" and not terminal:
        todo = "start apftop again to log in" if alone else "start it on a terminal"
        raise Unreachable("exec plugin must talk with a person", program, todo)
    interactive = terminal and mode != "Never"
    return _credential(_output(plugin, program, _question(plugin, cluster, interactive), interactive), program)


def _question(plugin: Mapping[str, Any], cluster: Mapping[str, Any], interactive: bool) -> str:
    """The ExecCredential that a plugin is told."""
    spec: dict[str, Any] = {"interactive": interactive}
    if plugin.get("provideClusterInfo"):
        spec["cluster"] = _cluster_info(cluster)
    return json.dumps({"apiVersion": plugin["apiVersion"], "kind": "ExecCredential", "spec": spec})


def _cluster_info(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """What a plugin with provideClusterInfo is told; a CA file goes as data."""
    keys = ("server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data", "proxy-url")
    info = {key: cluster[key] for key in keys if cluster.get(key)}
    if cluster.get("certificate-authority"):
        with open(cluster["certificate-authority"], "rb") as file:
            info["certificate-authority-data"] = base64.b64encode(file.read()).decode()
    named = {item["name"]: item["extension"] for item in cluster.get("extensions") or ()}
    if EXTENSION in named:
        info["config"] = named[EXTENSION]
    return info


def _output(plugin: Mapping[str, Any], program: str, question: str, interactive: bool) -> bytes:
    """What the plugin prints. Raises Unreachable where it cannot be run, takes too long or fails."""
    extra = {item["name"]: item["value"] for item in plugin.get("env") or ()}
    try:
        with _starting:
            child = subprocess.Popen(
                [program, *(plugin.get("args") or ())],
                env={**os.environ, **extra, "KUBERNETES_EXEC_INFO": question},
                stdin=None if interactive else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=None if interactive else subprocess.PIPE,
                # Outside the session of this terminal it cannot ask behind the screen.
                start_new_session=not interactive,
            )
            _running.add(child)
    except OSError as exc:
        hint = plugin.get("installHint") or "install it, or put it on PATH"
        raise Unreachable(f"exec plugin cannot be run ({exc.strerror})", program, str(hint)) from None
    output, said = _wait(child, program, interactive)
    if child.returncode != 0:
        lines = said.decode(errors="replace").strip().splitlines()
        last = lines[-1] if lines else "it said why above" if interactive else "it said nothing"
        raise Unreachable(f"exec plugin failed (exit code {child.returncode})", program, last)
    return output


def _wait(child: subprocess.Popen[bytes], program: str, interactive: bool) -> tuple[bytes, bytes]:
    """What a plugin wrote to its two streams; one that does not end in time is killed. Raises Unreachable."""
    deadline_s = PLUGIN_DEADLINE_INTERACTIVE_S if interactive else PLUGIN_DEADLINE_S
    with child:
        try:
            output, said = child.communicate(timeout=deadline_s)
        except subprocess.TimeoutExpired:
            _kill(child)
            raise Unreachable(f"exec plugin gave no answer in {deadline_s:g} s", program, "run it by hand") from None
        except BaseException:
            _kill(child)
            raise
        finally:
            _running.discard(child)
    return output or b"", said or b""


def _kill(child: subprocess.Popen[bytes]) -> None:
    """End a plugin, and what it started where it leads a session: a wrapper script's child holds our pipes open."""
    if child.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.getsid(child.pid) == child.pid:
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()


@atexit.register
def _kill_all() -> None:
    """End the plugins that still run, so that none outlives this program, and let no other one start."""
    _starting.acquire(timeout=0.5)
    for child in tuple(_running):
        _kill(child)


def _credential(output: bytes, program: str) -> Credential:
    """The credential of an ExecCredential. Raises Unreachable where that is not what the plugin printed."""
    try:
        status = json.loads(output)["status"]
        token, cert, key = (status.get(name) for name in ("token", "clientCertificateData", "clientKeyData"))
        headers = (("Authorization", f"Bearer {token.strip()}"),) if token else ()
        pem = f"{cert.strip()}\n{key.strip()}\n" if cert and key else ""
        until = _seconds(status.get("expirationTimestamp"))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Unreachable("exec plugin's answer is not an ExecCredential", program, "run it by hand") from None
    if not (headers or pem):
        raise Unreachable("exec plugin gave neither a token nor a certificate with its key", program, "run it by hand")
    return Credential(headers, until, pem)


def _seconds(timestamp: str | None) -> float | None:
    """An RFC 3339 time in Unix seconds. Raises ValueError."""
    if not timestamp:
        return None
    time = datetime.fromisoformat(timestamp)
    if time.tzinfo is None:
        raise ValueError(timestamp)
    return time.timestamp()
