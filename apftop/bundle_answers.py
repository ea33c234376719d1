"""answers.json: all that is known of each saved answer but its body, so that a bundle says what the live look said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

import msgspec

from apftop.bundle_files import Files, is_raw
from apftop.bundle_times import EARLIEST, LATEST, UNREADABLE
from apftop.errors import one_line
from apftop.http_text import parse_http
from apftop.other_body import UTF8_BOM
from apftop.records.fields import known_fields
from apftop.records.parsed import ParseError
from apftop.records.raw import KEPT_HEADERS, Endpoint, Sample

ANSWERS = PurePosixPath("answers.json")
SCRAPE = PurePosixPath("scrape.json")
TIMES = ("sent", "received", "begun", "server_date", "server_time", "noted")


def write_answers(saved: Iterable[tuple[Sample, PurePosixPath | None]]) -> bytes:
    """The notes on samples, in their order; each comes with the file that its body lies in, if there is one.

    Only what differs from a Sample's defaults is noted, and of headers only those that a Sample may keep.
    """
    return msgspec.json.format(msgspec.json.encode([_entry(sample, file) for sample, file in saved]), indent=1) + b"\n"


def _entry(sample: Sample, file: PurePosixPath | None) -> dict[str, Any]:
    return known_fields(sample) | ({"file": str(file)} if file else {})


def read_answers(files: Files, problems: list[str]) -> list[Sample] | None:
    """The samples that answers.json tells of, in its order, with their bodies; None where it is not there or unusable.

    An entry that makes no sense is named in `problems` and left out.
    """
    if ANSWERS not in files.bodies:
        problems += [files.faults[ANSWERS]] if ANSWERS in files.faults else []
        return None
    try:
        entries = msgspec.json.decode(files.bodies[ANSWERS].removeprefix(UTF8_BOM), type=list[dict[str, Any]])
    except UNREADABLE as error:
        problems.append(f"{ANSWERS}: {error}; the files are read without it")
        return None
    samples: list[Sample] = []
    named: set[PurePosixPath] = set()
    for number, entry in enumerate(entries, 1):
        try:
            sample = _sample(entry)
            file = msgspec.convert(entry.get("file", ""), str)
        except (msgspec.ValidationError, ValueError) as error:
            problems.append(f"{ANSWERS}, entry {number}: {error}; left out")
            continue
        named.add(PurePosixPath(file))
        samples.append(_with_body(sample, PurePosixPath(file), files, problems) if file else sample)
    others = {*files.bodies, *files.faults} - named - {ANSWERS, SCRAPE}
    problems += [f"{name}: not noted in {ANSWERS}, left out" for name in sorted(others)]
    return samples


def _sample(entry: Mapping[str, Any]) -> Sample:
    """The sample of one entry, without its body. Raises ValidationError and ValueError."""
    sample = msgspec.convert({**entry, "body": b""}, type=Sample)
    for name in TIMES:
        stamp = getattr(sample, name)
        # Where only the distance of two looks was noted, the first is at 0.
        if stamp is not None and not EARLIEST <= stamp < LATEST:
            raise ValueError(f"{name} {stamp!r} is no time of a Kubernetes server")
    kept = tuple((name, one_line(value)) for name, value in sample.headers if name in KEPT_HEADERS)
    return replace(sample, error=one_line(sample.error), headers=kept)


def _with_body(sample: Sample, file: PurePosixPath, files: Files, problems: list[str]) -> Sample:
    if file in files.faults:
        return replace(sample, error=files.faults[file], origin=str(file))
    body = files.bodies.get(file)
    if body is None:
        # Somebody took the file out. It was asked for all the same, and counts among this tool's own requests.
        return replace(sample, endpoint=Endpoint.DISCOVERY) if sample.ok else sample
    if not is_raw(file):
        return replace(sample, body=body)
    try:
        return replace(sample, body=parse_http(body).body)
    except ParseError as error:
        problems.append(f"{file}: {error}")
        return sample
