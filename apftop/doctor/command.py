"""`apftop doctor`: a look at each server for how it went, and not for what the levels do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from apftop.access import Access
from apftop.doctor.document import document
from apftop.doctor.examination import examine
from apftop.doctor.text import text
from apftop.doctor.who import credentials
from apftop.errors import UNREAD
from apftop.fetch import ask
from apftop.output import write
from apftop.poll.discover import PATH as SLICES_PATH
from apftop.present import json_text
from apftop.records.raw import Endpoint, Sample
from apftop.report.looking import first_look, manner_of_looks, servers
from apftop.session import open_session

INTERVAL_S = 2.0
VERSION_PATH = "/version"


def doctor(options: Mapping[str, Any]) -> int:
    """Print what was found out as `output` says; the exit code is 3 when something could not be reached or read."""
    at = servers(options)
    who = credentials(at.accesses[0], at.source, options)
    samples, _ = first_look(at, INTERVAL_S)
    reached = {sample.replica for sample in samples if sample.status is not None}
    told = {sample.replica for sample in samples if sample.endpoint is Endpoint.METRICS and sample.ok}
    untold = [access for access in at.accesses if access.name in reached - told]
    versions = asyncio.run(_versions(untold))
    slices = asyncio.run(_asked(at.way, SLICES_PATH)) if at.way is not None and not at.found and reached else None
    found = examine(at.accesses, samples, versions, slices)
    if options["output"] == "json":
        write(json_text(json.dumps(document(found, at, who), ensure_ascii=False, allow_nan=False, indent=2)))
    else:
        write(text(found, at, who))
    return 0 if found.well else UNREAD


async def _versions(accesses: Sequence[Access]) -> dict[str, str]:
    """The versions that servers tell without their metrics."""
    answers = [(access.name, await _asked(access, VERSION_PATH)) for access in accesses]
    found = {}
    for name, sample in answers:
        try:
            said = json.loads(sample.body) if sample.ok else {}
            found[name] = str(said["gitVersion"])
        except (ValueError, KeyError, TypeError):
            continue
    return found


async def _asked(access: Access, path: str) -> Sample:
    manner = manner_of_looks()
    async with open_session(access, manner) as session:
        sample, _ = await ask(session, access, Endpoint.DISCOVERY, manner, path)
    return sample
