"""The command line: commands, what a failure says, exit codes."""

from __future__ import annotations

import logging
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from apftop import __version__
from apftop.cli_options import (
    Duration,
    Seconds,
    bounds_a_tape,
    has_a_screen,
    reaches_servers,
    reads_prometheus,
    sets_the_pace,
    takes_logs,
    takes_request_timeout,
)
from apftop.errors import USAGE, Trouble, one_line

OK, FAILED = 0, 1
OWN_FLAGS = ("-h", "--help", "--version")


class TopFirst(click.Group):
    """A group whose command is `top` where none is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = 0
        while at < len(args) and args[at].startswith("--debug"):
            at += 1 if "=" in args[at] else 2
        named = at < len(args) and (not args[at].startswith("-") or args[at] in OWN_FLAGS)
        return super().parse_args(ctx, args if named or at > len(args) else [*args[:at], "top", *args[at:]])


@click.group(cls=TopFirst, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="apftop")
@click.option("--debug", type=click.Path(path_type=Path), help="Write a log with tracebacks to this file.")
def cli(debug: Path | None) -> None:
    """top for the request queues of Kubernetes API servers (API Priority and Fairness).

    Without a command it is `apftop top`.

    \b
    Examples:
      apftop demo
      apftop --context prod
      apftop report --context prod --output json
    """
    # Without a handler Python would write errors over the screen.
    logging.getLogger("apftop").addHandler(logging.NullHandler())
    if debug is not None:
        _log_to(debug)


def _log_to(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        raise Trouble(f"cannot write the log: {error.strerror}", str(path), "name another file with --debug") from error
    handler = logging.StreamHandler(os.fdopen(descriptor, "a", encoding="utf-8"))
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logger = logging.getLogger("apftop")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)


@cli.command()
@reaches_servers
@has_a_screen
@takes_request_timeout
@reads_prometheus
def top(**options: Any) -> int:
    """The live screen: every level on every replica, who fills it and how long requests wait.

    \b
    Examples:
      apftop
      apftop top --context prod --interval 5
      apftop --server https://10.0.0.1:6443 --server https://10.0.0.2:6443
    """
    from apftop.ui.command import top as run

    return run(options)


@cli.command()
@has_a_screen
@click.option("--scenario", default="rush", show_default=True, help="What happens in it: rush or calm.")
@click.option("--serve", is_flag=True, help="No screen: print the servers' URLs and serve until stopped.")
def demo(**options: Any) -> int:
    """The screen on a simulated control plane of three replicas on loopback. Needs nothing.

    \b
    Examples:
      apftop demo
      apftop demo --scenario calm
      apftop demo --serve     # then: apftop report --server URL ...
    """
    from apftop.ui.command import demo as run

    return run(options)


@cli.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@reaches_servers
@takes_request_timeout
@takes_logs
@reads_prometheus
@click.option(
    "--interval", "-d", type=Seconds(above=0.1), default=5.0, show_default=True, help="Seconds between two looks."
)
@click.option("--count", "-n", type=click.IntRange(min=1), default=1, show_default=True, help="Number of reports.")
@click.option("--batch", "-b", is_flag=True, help="Report again and again, until stopped or --count is reached.")
@click.option(
    "--output",
    "-o",
    type=click.Choice(["text", "json", "md", "html"]),
    default="text",
    show_default=True,
    help="md is Markdown, for a ticket; html is one page that loads nothing, with charts where PATH is a tape.",
)
@click.option("--at", metavar="TIME", help="Of a tape: as of 14:03, 2026-01-31T14:03:20Z, or -10m before its end.")
@click.option("--between", nargs=2, metavar="TIME TIME", help="Of a tape: every --interval from one to the other.")
@click.option(
    "--fail-on",
    type=click.Choice(["critical", "warning", "info"]),
    help="Exit with 1 if something as bad as that is found; 3 still says that something could not be read.",
)
@click.pass_context
def report(ctx: click.Context, /, path: Path | None, **options: Any) -> int:
    """One look at a control plane, or at a bundle or tape in PATH: what is wrong, why, and the one change that helps.

    \b
    Examples:
      apftop report --context prod --output json
      apftop report ./saved-bundle --audit-log audit.log.gz
      apftop report --output md > ticket.md
      apftop report incident.apftape --between 14:00 14:20 --output html > incident.html
      apftop report --fail-on warning || notify
      apftop report -b -n 3 -d 10
      apftop report --prometheus http://127.0.0.1:9090 --at 14:03
    """
    from apftop.report.command import report as run

    return run(path, options, count_given=ctx.get_parameter_source("count") is ParameterSource.COMMANDLINE)


@cli.command()
@reaches_servers
@click.option("--output", "-o", type=click.Choice(["text", "json"]), default="text", show_default=True)
def doctor(**options: Any) -> int:
    """What is reachable, allowed and missing, how to grant it, and what polling will cost the servers.

    \b
    Example: apftop doctor --context prod
    """
    from apftop.doctor.command import doctor as run

    return run(options)


@cli.command()
@click.argument("path", required=False, metavar="[TAPE_OR_BUNDLE]", type=click.Path(path_type=Path))
@reaches_servers
@click.option(
    "--output", "-o", required=True, type=click.Path(path_type=Path), metavar="DIR_OR_TGZ", help="Where to save it."
)
@click.option(
    "--interval", "-d", type=Seconds(above=0.1), default=5.0, show_default=True, help="Seconds between two looks."
)
@click.option("--at", metavar="TIME", help="Of the tape, as of 14:03, 2026-01-31T14:03:20Z, or -10m before its end.")
@click.option("--redact", is_flag=True, help="Replace all names by pseudonyms; every count and relation stays true.")
@click.option("--keep-mapping", metavar="FILE", type=click.Path(path_type=Path), help="Write who is who, for you.")
def collect(path: Path | None, **options: Any) -> int:
    """Save a bundle of what all servers say, or said on a tape or in a bundle, for `apftop report` anywhere.

    \b
    Examples:
      apftop collect --context prod -o incident.tgz
      apftop collect incident.apftape --at 14:03 -o incident.tgz
      apftop collect incident.tgz --redact -o to-share.tgz
    """
    from apftop.collect.command import collect as run

    return run(path, options)


@cli.command()
@click.argument("path", required=False, metavar="[SOURCE]", type=click.Path(path_type=Path))
@reaches_servers
@takes_request_timeout
@click.option(
    "--to",
    type=click.Choice(["csv", "jsonl", "json", "parquet", "openmetrics", "html", "md"]),
    help="The form. openmetrics is series with times, for Prometheus to take in; html and md are reports.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="A file; for csv, jsonl and parquet of several tables a folder.",
)
@click.option("--at", metavar="TIME", help="Of a tape: as of 14:03, 2026-01-31T14:03:20Z, or -10m before its end.")
@click.option("--between", nargs=2, metavar="TIME TIME", help="Of a tape: from one to the other (default: all of it).")
@click.option(
    "--every",
    "-d",
    type=Seconds(above=0.0),
    metavar="SECONDS",
    help="Seconds between two moments of a tape or two looks (default: 5; openmetrics: each answer of a tape).",
)
@click.option("--table", "tables", multiple=True, metavar="NAME", help="Only this table; repeat for more.")
@click.option("--columns", is_flag=True, help="Say which tables and columns there are, with their units, and end.")
@click.option("--job", default="apiserver", show_default=True, help="The label job of --to openmetrics.")
@click.option("--force", is_flag=True, help="Replace what is there under that name.")
def export(path: Path | None, **options: Any) -> int:
    """Tables and series of a tape, a bundle, or one live look, for pandas, spreadsheets, Prometheus and tickets.

    \b
    Examples:
      apftop export incident.apftape --to csv -o incident/
      apftop export incident.apftape --to parquet --table levels --every 10 -o levels.parquet
      apftop export incident.apftape --to openmetrics -o incident.om
      apftop export --context prod --to csv --table clients
      apftop export --columns
    """
    from apftop.export.command import export as run

    return run(path, options)


@cli.command()
@click.argument("a", metavar="A")
@click.argument("b", required=False, metavar="[B]")
@reaches_servers
@takes_request_timeout
@click.option(
    "--at",
    multiple=True,
    metavar="TIME",
    help="Of a tape: as of 14:03, 2026-01-31T14:03:20Z, or -10m before its end; once for each tape.",
)
@click.option(
    "--interval", "-d", type=Seconds(above=0.1), default=5.0, show_default=True, help="Seconds between two live looks."
)
@click.option("--output", "-o", type=click.Choice(["text", "json", "md"]), default="text", show_default=True)
@click.option("--all", "every", is_flag=True, help="Show also what is equal, within noise, or unknown on one side.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 if anything changed by more than noise.")
def diff(a: str, b: str | None, **options: Any) -> int:
    """What changed from A to B: policy, servers, limits, load, waits, clients and findings, and what is only noise.

    A and B are tapes, bundles, or `live`. A tape is taken at its end, or at the time of --at; one tape alone with
    --at is compared with itself, anything else alone with what is live now.

    \b
    Examples:
      apftop diff incident.apftape --at 14:03 --at 14:20
      apftop diff last-week.tgz incident.tgz --output md
      apftop diff incident.tgz --context prod
    """
    from apftop.diff.command import diff as run

    return run(a, b, options)


@cli.command()
@click.argument("path", required=False, type=click.Path(path_type=Path, exists=True))
@click.option("--user", help="Who asks (default: system:anonymous).")
@click.option("--group", "groups", multiple=True, help="A group of the user, besides those that every server adds.")
@click.option("--as", "account", metavar="NAMESPACE/NAME", help="A service account asks.")
@click.option("--verb", help="get, list, watch, create ..., or an HTTP method (default with --path: GET).")
@click.option("--path", "url_path", help="URL path, with its query.")
@click.option("--resource", help="pods, pods/status, deployments.apps, or a short name such as deploy.")
@click.option("--api-group", help="Its API group (default: that of Kubernetes' own resource).")
@click.option("--namespace", "-n", help="Its namespace (default: all, or none).")
@click.option("--name", "object_name", help="The name of the one object.")
@click.option("--kubectl", metavar="LINE", help="The requests of a kubectl command line.")
@click.option("--requests", type=click.Path(path_type=Path), help="A list of requests, in JSON or YAML.")
@click.option("--objects", multiple=True, type=click.Path(path_type=Path, exists=True), help="Files of the policy.")
@click.option("--live", is_flag=True, help="By the policy of the current cluster.")
@click.option("--probe", is_flag=True, help="Send a harmless GET as that user too, and compare what the server says.")
@click.option("--expect", metavar="SCHEMA", help="Why not this one? Exit code 1 if it is another.")
@click.option("--all", "every", is_flag=True, help="Tell each flow schema that is tried, and each rule that misses.")
@click.option("--target", metavar="RELEASE", help="Kubernetes release, such as 1.34 (its last patch).")
@click.option("--seats", type=click.IntRange(min=1), help="Seats of one server (default: 600, or the cluster's).")
@click.option("--timeout", help="The request's timeout, such as 10s.")
@click.option("--stored", type=click.IntRange(min=0), help="Stored objects of the resource.")
@click.option("--bytes-each", type=click.IntRange(min=0), help="Their mean size in bytes.")
@click.option("--watchers", type=click.IntRange(min=0), help="Watchers of what the request changes.")
@click.option("--output", "-o", type=click.Choice(["text", "json"]), default="text", show_default=True)
@reaches_servers
@takes_request_timeout
def classify(path: Path | None, **options: Any) -> int:
    """Which flow schema, priority level and flow a request gets, and why not another.

    By the policy in PATH or --objects over that of the cluster with --live, else over what Kubernetes brings.
    Exit codes: 0, 1 for another schema than --expect or another answer of the server, 2 for a wrong question,
    3 for what cannot be read.

    \b
    Examples:
      apftop classify --as argocd/argocd-server --verb list --resource pods
      apftop classify --live --user jane --kubectl "kubectl get pods -A" --expect batch
      apftop classify --probe --as kube-system/coredns --verb list --resource endpointslices.discovery.k8s.io
    """
    from apftop.classify import classify as run

    return run(path, options)


@cli.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, exists=True, readable=False, allow_dash=True))
@click.option("--live", is_flag=True, help="The objects of the current cluster; with PATHS, these change them.")
@click.option(
    "--against", multiple=True, type=click.Path(path_type=Path, exists=True), help="Files of what is there now."
)
@click.option(
    "--target", metavar="RELEASE", help="Kubernetes release that will run them, such as 1.34 (its last patch)."
)
@click.option("--seats", type=click.IntRange(min=1), help="Seats of one server (default: 600, or the cluster's).")
@click.option("--output", "-o", type=click.Choice(["text", "json", "sarif"]), default="text", show_default=True)
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "note", "never"]),
    default="error",
    show_default=True,
    help="Exit with 1 for faults as grave as this.",
)
@click.option("--starter", metavar="USER", help="Print a narrow policy to start from, for the lists of one account.")
@click.option("--namespace", "-n", help="The namespace of --starter (default: the service account's).")
@click.option("--name", default="batch-reads", show_default=True, help="The name of --starter's level and schema.")
@click.option(
    "--resource", "resources", multiple=True, help="What --starter matches (default: pods, deployments.apps); repeat."
)
@click.option("--explain", metavar="CODE", help="Say what a code means and what to do.")
@click.option("--codes", is_flag=True, help="List all codes.")
@reaches_servers
def lint(paths: tuple[Path, ...], **options: Any) -> int:
    """What is wrong with flow schemas and priority levels, in files or in a cluster, and what servers make of them.

    PATHS are files, folders, bundles, or - for standard input.

    \b
    Examples:
      apftop lint flowschemas.yaml prioritylevels.yaml --target 1.34
      apftop lint --live
      apftop lint policy/ --live --output sarif > lint.sarif
      helm template . | apftop lint -
      apftop lint --explain shadowed-schema
      apftop lint --starter system:serviceaccount:ci:runner
    """
    from apftop.lint.command import lint as run

    return run(paths, options)


@cli.command()
@click.argument("path", type=click.Path(path_type=Path))
@reaches_servers
@takes_request_timeout
@sets_the_pace
@bounds_a_tape
@click.option("--duration", type=Duration(), metavar="TIME", help="End after this time: 90s, 30m, 1h30m.")
def record(path: Path, **options: Any) -> int:
    """Record a control plane onto a tape, without a screen, until it is ended: for `apftop replay`.

    A tape that is there is continued, so that this can be restarted.

    \b
    Examples:
      apftop record incident.apftape --context prod
      apftop record /var/lib/apftop/tape --max-size 500MB --max-age 7d
    """
    from apftop.record import record as run

    return run(path, options)


@cli.command()
@click.argument("path", required=False, metavar="[TAPE]", type=click.Path(path_type=Path))
@click.option("--at", metavar="TIME", help="Begin here: 14:03, 14:03:20, 2026-01-31T14:03:20Z, or -10m from the end.")
@click.option("--between", nargs=2, metavar="TIME TIME", help="With --prometheus: from one to the other, not a day.")
@click.option(
    "--speed",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    metavar="TIMES",
    help="How fast; 0 stands still.",
)
@takes_request_timeout
@reads_prometheus
@click.option("--no-color", is_flag=True, help="No colours (also with NO_COLOR set).")
@click.option("--no-mouse", is_flag=True, help="Leave the mouse to the terminal.")
def replay(path: Path | None, **options: Any) -> int:
    """Look at a tape on the same screen with the same keys: step through it, go to a time, play it at any speed.

    With --prometheus what a store has kept is gone through in the same way.

    \b
    Examples:
      apftop replay incident.apftape --at 14:03
      apftop replay --prometheus http://127.0.0.1:9090 --at 14:03
    """
    from apftop.ui.command import replay as run

    return run(path, options)


def _ended_by(number: int, _: object) -> None:
    """Leave in the usual way, so that what was started is ended too."""
    raise SystemExit(128 + number)


def main() -> None:
    """Run the command line; the console script."""
    for one in (signal.SIGTERM, signal.SIGHUP):
        # What was ignored before, as by nohup, is so still.
        if signal.getsignal(one) is not signal.SIG_IGN:
            signal.signal(one, _ended_by)
    try:
        code = cli.main(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else OK)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(USAGE)
    except click.Abort:
        sys.exit(130)
    except Trouble as trouble:
        sys.exit(_told(str(trouble), trouble.code))
    except Exception as error:  # noqa: BLE001  whatever it is, its traceback is for the log
        why = one_line(f"{type(error).__name__}: {error}")
        sys.exit(_told(f"this failed: {why}; run again with `apftop --debug FILE` for a traceback", FAILED))


def _told(what: str, code: int) -> int:
    """Say in one line what ended the command, and give its exit code."""
    from apftop.output import complain

    logging.getLogger("apftop").debug("%s", traceback.format_exc())
    complain((what,))
    return code


if __name__ == "__main__":
    main()
