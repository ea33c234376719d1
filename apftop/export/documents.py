"""A report as a page or as Markdown, written like any other export."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from apftop.errors import UNREAD
from apftop.export.source import EVERY_S
from apftop.export.targets import new_file
from apftop.output import complain, write
from apftop.report.html import page
from apftop.report.looks import looks, one_look
from apftop.report.markdown import markdown
from apftop.report.text import server_text, taken

ONE_LOOK = {"count": 1, "client_logs": (), "audit_logs": ()}
"""What `apftop report` can be told besides, as it is without."""


def to_document(path: Path | None, options: Mapping[str, Any]) -> int:
    """Write the report of a source; the exit code is 3 when something of it could not be read.

    Raises Trouble, Unreachable and UsageError.
    """
    asked = {**options, **ONE_LOOK, "interval": options["every"] or EVERY_S}
    if options["to"] == "html" or options["between"]:
        look, span = one_look(path, asked)
    else:
        look, span = next(looks(path, asked)), None
    if options["to"] == "html":
        text = page(look, span)
    else:
        when = taken(look.t0, look.t1, look.interval_s)
        servers = server_text(look.frame, look.checks)
        text = markdown(look.found, look.source, when, servers, look.classified or (), span)
    complain((*look.problems, *look.notes))
    if options["output"] is None:
        write(text)
    else:
        with new_file(options["output"], force=options["force"]) as file:
            file.write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
    failed = any(replica.failed for replica in look.frame.replicas.values())
    return UNREAD if look.problems or failed else 0
