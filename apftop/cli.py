"""The command line: commands, what a failure says, exit codes."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from apftop import __version__
from apftop.cli_options import Seconds, reaches_servers
from apftop.errors import UNREAD, Trouble

OK, USAGE = 0, 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="apftop")
@click.option("--debug", type=click.Path(path_type=Path), help="Write a log with tracebacks to this file.")
def cli(debug: Path | None) -> None:
    """top for the request queues of Kubernetes API servers (API Priority and Fairness).

    \b
    Example: apftop report --context prod
    """
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
@click.argument("path", required=False, type=click.Path(path_type=Path))
@reaches_servers
@click.option(
    "--request-timeout", type=Seconds(above=0.0), metavar="SECONDS", help="The server's --request-timeout, if known."
)
@click.option(
    "--interval", "-d", type=Seconds(above=0.1), default=5.0, show_default=True, help="Seconds between two looks."
)
@click.option("--count", "-n", type=click.IntRange(min=1), default=1, show_default=True, help="Number of reports.")
@click.option("--batch", "-b", is_flag=True, help="Report again and again, until stopped or --count is reached.")
@click.option("--output", "-o", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_context
def report(ctx: click.Context, /, path: Path | None, **options: Any) -> int:
    """One look at a control plane, or at a saved bundle in PATH.

    \b
    Examples:
      apftop report --context prod --output json
      apftop report ./saved-bundle
      apftop report -b -n 3 -d 10
    """
    from apftop.report.command import report as run

    return run(path, options, count_given=ctx.get_parameter_source("count") is ParameterSource.COMMANDLINE)


def main() -> None:
    """Run the command line; the console script."""
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
        logging.getLogger("apftop").debug("%s", traceback.format_exc())
        click.echo(f"apftop: {trouble}", err=True)
        sys.exit(UNREAD)


if __name__ == "__main__":
    main()
