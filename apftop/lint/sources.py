"""Where the objects under question come from: files, folders, a saved bundle, a live cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from apftop.apf.objects import MANDATORY
from apftop.apf.release import Release, parse_release
from apftop.lint.files import files_of, read_file
from apftop.lint.policy import Document
from apftop.parse.objects import GROUP
from apftop.records.frame import Frame
from apftop.records.linting import Fault
from apftop.records.parsed import ParseError
from apftop.records.raw import OBJECTS, Sample


@dataclass(frozen=True, slots=True)
class Source:
    """Objects, what of them cannot be read, and what their servers say besides, where there are any.

    `release` and `concurrency` (seats of one server) are None where nobody tells; `problems` are files that could not
    be read at all.
    """

    documents: tuple[Document, ...] = ()
    faults: tuple[Fault, ...] = ()
    release: Release | None = None
    concurrency: int | None = None
    refused_per_s: Mapping[str, float] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether these are all objects of a cluster: the mandatory ones among them, as servers give them out."""
        named = {(one.kind, one.name) for one in self.documents if _uid(one)}
        return all(
            (kind, name) in named
            for kind in {one.kind for one in self.documents} or {"FlowSchema"}
            for name in MANDATORY
        )


def from_files(paths: tuple[Path, ...]) -> Source:
    """The objects of files, and of folders those files that name the API group."""
    documents: list[Document] = []
    faults: list[Fault] = []
    problems: list[str] = []
    for path in files_of(paths):
        try:
            body = path.read_bytes()
            if path not in paths and GROUP.encode() not in body:
                continue
            found, said = read_file(str(path), body)
        except OSError as error:
            problems.append(f"{path}: {(error.strerror or 'cannot be read').lower()}")
            continue
        except ParseError as error:
            problems.append(f"{path}: {error}")
            continue
        documents += found
        faults += said
    return Source(tuple(documents), tuple(faults), problems=tuple(problems))


def from_samples(samples: Iterable[Sample], seen: Frame) -> Source:
    """The objects of servers, by the first answer that has them, with what the frame of the same samples knows."""
    documents: list[Document] = []
    faults: list[Fault] = []
    taken = set()
    for sample in samples:
        if sample.endpoint not in OBJECTS or sample.endpoint in taken or sample.status not in (None, 200):
            continue
        try:
            found, said = read_file("", sample.body)
        except ParseError:
            # The frame has said so.
            continue
        taken.add(sample.endpoint)
        documents += found
        faults += said
    refused: dict[str, float] = {}
    for replica in seen.servers:
        for name, level in replica.levels.items():
            refused[name] = max(refused.get(name, 0.0), level.rejected_per_s or 0.0)
    releases = [release for one in seen.servers if one.version and (release := parse_release(one.version))]
    seats = [one.server_concurrency for one in seen.servers if one.server_concurrency]
    problems = tuple(f"{one.name}: {said}" for one in seen.replicas.values() for said in one.problems)
    return Source(
        tuple(documents),
        tuple(faults),
        min(releases, default=None),
        round(min(seats)) if seats else None,
        refused,
        problems,
    )


def _uid(document: Document) -> bool:
    metadata = document.fields.get("metadata")
    return isinstance(metadata, Mapping) and bool(metadata.get("uid"))
