"""`apftop export`: what is exported, in which form, and where it goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from apftop.cli_options import EITHER, asks_servers
from apftop.errors import UNREAD
from apftop.export.batches import batches
from apftop.export.documents import to_document
from apftop.export.openmetrics import to_openmetrics
from apftop.export.own_series import check_series
from apftop.export.parquet import check_parquet
from apftop.export.source import EVERY_S, Asked, Saved, Source, looked, opened
from apftop.export.tables import Table, chosen, columns_text
from apftop.export.targets import check_file, check_folder
from apftop.export.written import FORMATS, to_file, to_folder, to_json, to_output
from apftop.output import complain, said_if_slow, write
from apftop.tape.reading import Tape, is_tape

DOCUMENTS = ("html", "md")
IN_FOLDERS = (*FORMATS, "parquet")
"""Forms with a file for each table."""

SLOW = "still exporting; ctrl+c ends, and leaves nothing half-written behind"


def export(path: Path | None, options: Mapping[str, Any]) -> int:
    """Export a tape, a bundle or a live look; the exit code is 3 when something of it could not be read.

    Raises Trouble where nothing is exported, and UsageError for options that do not go together.
    """
    if options["columns"]:
        write(columns_text())
        return 0
    wanted = chosen(options["tables"])
    _check(path, options, wanted)
    with said_if_slow(SLOW):
        if options["to"] in DOCUMENTS:
            return to_document(path, options)
        asked = Asked(options["at"], options["between"], options["every"], options["request_timeout"])
        told: list[str] = []
        with _source(path, options) as source:
            if isinstance(source, Tape):
                # Times that are not on the tape are told before anything is written.
                told += asked.times(source)[2]
            else:
                told += source.told
            _export(source, asked, wanted, options, told)
            complain(dict.fromkeys((*source.problems, *told)))
            failed = source.failed if isinstance(source, Saved) else bool(source.problems)
            return UNREAD if failed else 0


def _check(path: Path | None, options: Mapping[str, Any], wanted: Sequence[Table]) -> None:
    """Raise UsageError or Trouble for what cannot be, before anything is read."""
    to, target, named = options["to"], options["output"], options["tables"]
    if to is None:
        raise click.UsageError("say in which form, with --to")
    if path is not None and asks_servers(options):
        raise click.UsageError("options that say which server to ask are for live looks: leave out SOURCE")
    if (options["at"] or options["between"]) and (path is None or not is_tape(path)):
        raise click.UsageError("--at and --between are times of a tape in SOURCE")
    if options["at"] and options["between"]:
        raise click.UsageError(EITHER)
    if to in DOCUMENTS and named:
        raise click.UsageError(f"--to {to} is a whole report: leave out --table")
    if to in IN_FOLDERS and target is None and (to == "parquet" or len(wanted) > 1):
        raise click.UsageError(f"say where to write it, with -o{'' if to == 'parquet' else ', or name one --table'}")
    if to == "openmetrics" and named:
        check_series(wanted)
    if to == "parquet":
        check_parquet()
    if target is not None:
        (check_folder if _is_folder(options, wanted) else check_file)(target, force=options["force"])


def _is_folder(options: Mapping[str, Any], wanted: Sequence[Table]) -> bool:
    """Whether a file for each table goes into a folder; one table alone is a file."""
    return options["to"] in IN_FOLDERS and len(wanted) > 1


@contextmanager
def _source(path: Path | None, options: Mapping[str, Any]) -> Iterator[Source]:
    if path is None:
        yield looked(options, options["every"] or EVERY_S)
    else:
        with opened(path) as source:
            yield source


def _export(source: Source, asked: Asked, wanted: Sequence[Table], options: Mapping[str, Any], told: list[str]) -> None:
    to, target, force = options["to"], options["output"], options["force"]
    if to == "openmetrics":
        named = wanted if options["tables"] else ()
        to_openmetrics(source, asked, named, options["job"], target, told, force=force)
        return
    rows = batches(source, asked, wanted, told)
    if to == "json":
        to_json(rows, wanted, target, force=force)
    elif target is None:
        to_output(rows, to, wanted[0])
    elif _is_folder(options, wanted):
        to_folder(rows, to, wanted, target, force=force)
    else:
        to_file(rows, to, wanted[0], target, force=force)
