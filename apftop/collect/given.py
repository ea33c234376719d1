"""What a bundle is made of: the answers of live servers, of a moment of a tape, or of another bundle."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from apftop.bundle import read_bundle
from apftop.bundle_files import MOST_BYTES, read_files
from apftop.bundle_times import UNTIMED, Times
from apftop.classifying.saved import REQUESTS, saved_requests
from apftop.derive.frame import frame
from apftop.errors import one_line
from apftop.live import fold
from apftop.logs.in_bundle import log_files
from apftop.parse.body import pick
from apftop.parse.vocabulary import wanted_at_once
from apftop.played import moments
from apftop.records.classified import Classified
from apftop.records.parsed import ParseError
from apftop.records.raw import Sample
from apftop.redacting.whole import Flow, Log
from apftop.report.asked import classified_in
from apftop.report.looking import first_look, notes, servers
from apftop.report.taped import times_of, told_silence
from apftop.tape.reading import open_tape


@dataclass(frozen=True, slots=True)
class Given:
    """Whose answers these are in words, the answers, and what else there is to say of them.

    Of another bundle: the times noted with it, its logs and requests in question, and the flows that these belong to.
    """

    source: str
    samples: Sequence[Sample]
    told: tuple[str, ...] = ()
    times: Times = UNTIMED
    logs: tuple[Log, ...] = ()
    requests: bytes | None = None
    flows: tuple[Flow, ...] = ()

    @property
    def beside(self) -> dict[PurePosixPath, bytes]:
        """The files beside the answers."""
        files = {one.path: one.body for one in self.logs}
        return files if self.requests is None else {**files, REQUESTS: self.requests}


def live(options: Mapping[str, Any]) -> Given:
    """Two looks at live servers."""
    at = servers(options)
    samples, left_out = first_look(at, options["interval"])
    return Given(at.source, samples, (*notes(at, frame(fold(samples))), *left_out))


def taped(path: Path, at: str | None) -> Given:
    """The answers that the moment of a tape at that time stands on, or its last one.

    Raises Trouble for a time that is not on the tape.
    """
    tape = open_tape(path)
    when, _, told = times_of(tape, {"at": at, "between": None})
    (moment,) = moments(tape, when, when, 1.0, tell=lambda _: None)
    tape.close()
    return Given(tape.about.source, moment.samples, (*tape.problems, *told, *told_silence(moment)))


def bundled(path: Path) -> Given:
    """All that lies in another bundle. Raises Trouble for what is none."""
    families = wanted_at_once()
    bundle = read_bundle(path, lambda chunks, kind, encoding: pick(chunks, kind, encoding, families))
    problems = list(bundle.problems)
    logs = tuple(_logs(path, problems))
    requests = read_files(path, _whole, lambda name: name == REQUESTS).bodies.get(REQUESTS)
    flows = tuple(_flows(path, bundle.samples, problems))
    return Given(bundle.times.source, bundle.samples, tuple(problems), bundle.times, logs, requests, flows)


def _whole(chunks: Any, content_type: str, _: str) -> tuple[bytes, str]:
    return b"".join(chunks), content_type


def _logs(path: Path, problems: list[str]) -> Iterator[Log]:
    for name, kind, _, opened in log_files(path):
        try:
            with opened() as stream, gzip.open(stream) if name.endswith(".gz") else stream as text:
                body = text.read(MOST_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            problems.append(f"{name}: {one_line(str(error))}: left out")
            continue
        if len(body) > MOST_BYTES:
            problems.append(f"{name}: larger than {MOST_BYTES >> 20} MiB: left out")
            continue
        yield Log(PurePosixPath(name.removesuffix(".gz")), kind, body)


def _flows(path: Path, samples: Sequence[Sample], problems: list[str]) -> Iterator[Flow]:
    """The flows of the requests in question."""
    try:
        asked = saved_requests(path)
    except ParseError as error:
        problems.append(str(error))
        return
    state = fold(samples)
    found: tuple[Classified, ...] = (classified_in(asked, state, frame(state))[0] if asked else None) or ()
    for one in found:
        if one.seen and one.hand:
            # A schema with one flow has it under no name.
            by_user = one.distinguished_by != "ByNamespace"
            name = one.distinguisher if one.distinguished_by is not None else ""
            yield Flow(one.schema, name, by_user, one.queues, one.hand)
