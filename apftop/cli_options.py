"""Options that several commands share, and what they mean for reaching a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from apftop.access import Overrides

F = TypeVar("F", bound=Callable[..., Any])

_ACCESS = (
    click.option("--context", help="Kube context to look at (default: the current one)."),
    click.option("--kubeconfig", help="Kubeconfig file (default: $KUBECONFIG, then ~/.kube/config)."),
    click.option("--server", "servers", multiple=True, metavar="URL", help="API server; repeat for replicas."),
    click.option("--ca-file", help="CA bundle for --server."),
    click.option("--token-file", help="File with a bearer token (or set APFTOP_TOKEN)."),
    click.option("--client-cert", help="Client certificate (PEM)."),
    click.option("--client-key", help="Key of --client-cert (PEM)."),
    click.option("--tls-server-name", help="Name that the certificate of --server must carry."),
    click.option("--insecure-skip-tls-verify", is_flag=True, help="Do not verify certificates."),
)


def reaches_servers(command: F) -> F:
    """Add the options that say which servers to ask and as whom."""
    for option in reversed(_ACCESS):
        command = option(command)
    return command


def access_overrides(options: Mapping[str, Any]) -> Overrides:
    """What the flags say over the kubeconfig."""
    return Overrides(
        ca_file=options["ca_file"],
        token_file=options["token_file"],
        cert_file=options["client_cert"],
        key_file=options["client_key"],
        tls_server_name=options["tls_server_name"],
        insecure=options["insecure_skip_tls_verify"],
    )
