"""Options that several commands share, and what they mean for reaching a server."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from apftop.access import Overrides
from apftop.apf.durations import go_duration_ns
from apftop.errors import one_line
from apftop.prometheus.store import Store, store

_NAMES = (
    "context",
    "kubeconfig",
    "servers",
    "ca_file",
    "token_file",
    "client_cert",
    "client_key",
    "tls_server_name",
    "insecure_skip_tls_verify",
)

EITHER = "--at is one time and --between are two: name either"

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


class Seconds(click.ParamType[float]):
    """A finite number of seconds above a bound, and within others."""

    name = "seconds"

    def __init__(self, above: float = 0.0, *, least: float = 0.0, most: float = math.inf) -> None:
        self.above, self.least, self.most = above, least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            seconds = float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number of seconds", param, ctx)
        if not math.isfinite(seconds) or seconds <= self.above:
            self.fail(f"{value!r} is not above {self.above:g} seconds", param, ctx)
        if not self.least <= seconds <= self.most:
            self.fail(f"{value!r} is not from {self.least:g} to {self.most:g} seconds", param, ctx)
        return seconds


class Duration(click.ParamType[float]):
    """A time such as 90s, 10m, 1h30m or 7d; in seconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        days, d, rest = str(value).rpartition("d")
        nanoseconds = go_duration_ns(rest) if rest or not d else 0
        if (d and not days.isdecimal()) or (not nanoseconds and not d) or nanoseconds is None:
            self.fail(f"{value!r} is no time such as 90s, 10m, 1h30m or 7d", param, ctx)
        if len(days) > MOST_DIGITS or nanoseconds > MOST_NS:
            self.fail(f"{one_line(str(value), 40)!r} is longer than anything lasts", param, ctx)
        seconds = (int(days) * 86400 if d else 0) + nanoseconds / 1e9
        if seconds <= 0:
            self.fail(f"{value!r} is not above 0", param, ctx)
        return seconds


class Bytes(click.ParamType[int]):
    """A size such as 500MB or 2GiB; in bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        found = _SIZE.fullmatch(str(value))
        if found is None:
            self.fail(f"{value!r} is no size such as 500MB or 2GiB", param, ctx)
        if len(found[1]) > MOST_SIZE_DIGITS:
            self.fail(f"{one_line(str(value), 40)!r} is more than any disk holds", param, ctx)
        size = int(float(found[1]) * (1024 if found[3] else 1000) ** (" KMGT".index(found[2].upper() or " ")))
        if size < LEAST_BYTES:
            self.fail(f"{value!r} is less than 1MB", param, ctx)
        return size


_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGTkmgt]?)(i?)[Bb]?")
LEAST_BYTES = 1_000_000
MOST_SIZE_DIGITS = 18
MOST_DIGITS = 5
MOST_NS = 100_000 * 86400 * 10**9

_PACE = click.option(
    "--interval",
    "-d",
    type=Seconds(least=1.0, most=3600.0),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="Pace of the dumps, 1 to 3600; metrics follow at their own.",
)
_SCREEN = (
    _PACE,
    click.option("--no-color", is_flag=True, help="No colours (also with NO_COLOR set)."),
    click.option("--no-mouse", is_flag=True, help="Leave the mouse to the terminal."),
)

_RECORD = click.option(
    "--record", type=click.Path(path_type=Path), metavar="FILE", help="Record all of it onto a tape too."
)
_BOUNDS = (
    click.option(
        "--max-size", type=Bytes(), metavar="SIZE", help="Tape: never take more; the oldest eighth goes. Such as 500MB."
    ),
    click.option(
        "--max-age", type=Duration(), metavar="TIME", help="Tape: keep this long, and up to an eighth more: 24h, 7d."
    ),
)

_LOG_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_LOGS = (
    click.option(
        "--client-log",
        "client_logs",
        multiple=True,
        type=_LOG_FILE,
        metavar="FILE",
        help="Log of a client, for waits that it makes itself (also .gz); repeat for more.",
    ),
    click.option(
        "--audit-log",
        "audit_logs",
        multiple=True,
        type=_LOG_FILE,
        metavar="FILE",
        help="Audit or access log of a server, for who sends what (also .gz); repeat for more.",
    ),
)

_PROMETHEUS = (
    click.option("--prometheus", metavar="URL", help="What a Prometheus, Thanos or Mimir has kept; a path may follow."),
    click.option(
        "--selector", metavar="LABELS", help='Of that: which servers, such as \'job="apiserver",cluster="a"\'.'
    ),
    click.option(
        "--prometheus-token-file",
        type=click.Path(path_type=Path),
        help="File with a bearer token for it (or set APFTOP_PROMETHEUS_TOKEN).",
    ),
    click.option(
        "--prometheus-header-file", type=click.Path(path_type=Path), help="File with headers for it, one a line."
    ),
    click.option("--prometheus-ca-file", help="CA bundle for it."),
    click.option("--prometheus-tenant", metavar="NAME", help="Its tenant (X-Scope-OrgID)."),
)
_OF_PROMETHEUS = (
    "selector",
    "prometheus_token_file",
    "prometheus_header_file",
    "prometheus_ca_file",
    "prometheus_tenant",
)


def asks_servers(options: Mapping[str, Any]) -> bool:
    """Whether any option says which servers to ask, or as whom."""
    return any(options[name] for name in _NAMES)


def reaches_servers(command: F) -> F:
    """Add the options that say which servers to ask and as whom."""
    for option in reversed(_ACCESS):
        command = option(command)
    return command


def takes_request_timeout(command: F) -> F:
    """Add the option that says what the servers' own flag is: wait limits follow from it."""
    return click.option(
        "--request-timeout",
        type=Seconds(above=0.0),
        metavar="SECONDS",
        help="The server's --request-timeout, if known.",
    )(command)


def takes_logs(command: F) -> F:
    """Add the options that name logs to read besides."""
    for option in reversed(_LOGS):
        command = option(command)
    return command


def reads_prometheus(command: F) -> F:
    """Add the options that say which Prometheus to read, and as whom."""
    for option in reversed(_PROMETHEUS):
        command = option(command)
    return command


def prometheus_store(options: Mapping[str, Any]) -> Store | None:
    """The store that options name, None for none. Raises Unreachable, and UsageError for options of no store."""
    url = options.get("prometheus")
    if url is None:
        if (stray := next((name for name in _OF_PROMETHEUS if options.get(name) is not None), None)) is not None:
            raise click.UsageError(f"--{stray.replace('_', '-')} goes with --prometheus")
        return None
    return store(
        url,
        token_file=options["prometheus_token_file"],
        header_file=options["prometheus_header_file"],
        tenant=options["prometheus_tenant"],
        ca_file=options["prometheus_ca_file"],
    )


def bounds_a_tape(command: F) -> F:
    """Add how large and how old a tape may get."""
    for option in reversed(_BOUNDS):
        command = option(command)
    return command


def sets_the_pace(command: F) -> F:
    """Add how often servers are asked."""
    return _PACE(command)


def has_a_screen(command: F) -> F:
    """Add the options of a screen of what is now."""
    for option in reversed((*_SCREEN, _RECORD, *_BOUNDS)):
        command = option(command)
    return command


def access_overrides(options: Mapping[str, Any]) -> Overrides:
    """What the flags say over the kubeconfig. Raises UsageError for a key without its certificate."""
    if options["client_key"] and not options["client_cert"]:
        raise click.UsageError("--client-key goes with --client-cert")
    return Overrides(
        ca_file=options["ca_file"],
        token_file=options["token_file"],
        cert_file=options["client_cert"],
        key_file=options["client_key"],
        tls_server_name=options["tls_server_name"],
        insecure=options["insecure_skip_tls_verify"],
    )
