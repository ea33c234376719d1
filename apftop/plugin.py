"""Exec credential plugins: programs that a kubeconfig names to log its user in."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from apftop.access import Unreachable

PLUGIN_DEADLINE_S = 60.0
PLUGIN_DEADLINE_INTERACTIVE_S = 300.0
"""Longer, because a person logs in meanwhile."""

EXTENSION = "client.authentication.k8s.io/exec"
"""The extension of a kubeconfig's cluster that is meant for plugins."""


def run_plugin(plugin: Mapping[str, Any], cluster: Mapping[str, Any], folder: str) -> dict[str, str]:
    """Run an exec plugin and give the user's fields that stand for its token and certificate.

    A command that is a relative path is taken from `folder`, that of the kubeconfig. On a terminal the plugin may talk
    with the person, unless its mode is Never. Raises Unreachable, without anything of what the plugin put out but its
    last line of error.
    """
    command = str(plugin["command"])
    program = os.path.join(folder, command) if os.path.dirname(command) else command
    terminal = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
    interactive = terminal and plugin.get("interactiveMode") != "Never"
    return _credentials(_output(plugin, program, _question(plugin, cluster, interactive), interactive), program)


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
        with open(cluster["certificate-authority"], encoding="utf-8") as file:
            info["certificate-authority-data"] = _base64(file.read())
    named = {item["name"]: item["extension"] for item in cluster.get("extensions") or ()}
    if EXTENSION in named:
        info["config"] = named[EXTENSION]
    return info


def _output(plugin: Mapping[str, Any], program: str, question: str, interactive: bool) -> bytes:
    """What the plugin prints. Raises Unreachable where it cannot be run, takes too long or fails."""
    extra = {item["name"]: item["value"] for item in plugin.get("env") or ()}
    try:
        done = subprocess.run(
            [program, *(plugin.get("args") or ())],
            env={**os.environ, **extra, "KUBERNETES_EXEC_INFO": question},
            stdin=None if interactive else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=None if interactive else subprocess.PIPE,
            timeout=PLUGIN_DEADLINE_INTERACTIVE_S if interactive else PLUGIN_DEADLINE_S,
            check=False,
        )
    except subprocess.TimeoutExpired as exc:
        raise Unreachable(f"exec plugin gave no answer in {exc.timeout:.0f} s", program, "run it by hand") from None
    except OSError as exc:
        hint = plugin.get("installHint") or "install it, or put it on PATH"
        raise Unreachable(f"exec plugin cannot be run ({exc.strerror})", program, str(hint)) from None
    if done.returncode != 0:
        lines = (done.stderr or b"").decode(errors="replace").strip().splitlines()
        said = lines[-1] if lines else "it said why above" if interactive else "it said nothing"
        raise Unreachable(f"exec plugin failed (exit code {done.returncode})", program, said)
    return done.stdout


def _credentials(output: bytes, program: str) -> dict[str, str]:
    """The user's fields of an ExecCredential. Raises Unreachable where that is not what the plugin printed."""
    try:
        status = json.loads(output)["status"]
        token, cert, key = (status.get(name) for name in ("token", "clientCertificateData", "clientKeyData"))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Unreachable("exec plugin's answer is not an ExecCredential", program, "run it by hand") from None
    pair = {"client-certificate-data": _base64(cert), "client-key-data": _base64(key)} if cert and key else {}
    if not (token or pair):
        raise Unreachable("exec plugin gave neither a token nor a certificate with its key", program, "run it by hand")
    return {"token": token.strip(), **pair} if token else pair


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
