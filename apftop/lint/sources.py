"""Where the objects under question come from: files, folders, a saved bundle, a live cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from apftop.apf.objects import MANDATORY
from apftop.apf.release import Release, parse_release
from apftop.bundle import Bundle, is_bundle, read_bundle
from apftop.derive.frame import frame
from apftop.errors import Trouble
from apftop.fetch import Turn, run
from apftop.join import view
from apftop.lint.files import read_file
from apftop.lint.folders import body_of, files_of, names_group
from apftop.lint.policy import Document
from apftop.lint.raw_fields import value_at
from apftop.live import fold
from apftop.output import complain
from apftop.parse.body import pick
from apftop.parse.objects import GROUP
from apftop.parse.vocabulary import wanted_at_once
from apftop.records.linting import Fault
from apftop.records.parsed import KeptHands, ParseError
from apftop.records.raw import OBJECTS, Endpoint, Sample
from apftop.report.asked import kept_in
from apftop.report.looking import Servers, manner_of_looks

READ = (Endpoint.FACTS, Endpoint.METRICS, *OBJECTS)
"""What is read of servers: the rest of a bundle says nothing about policies."""


@dataclass(frozen=True, slots=True)
class Source:
    """Objects, what of them cannot be read, and what their servers say besides, where there are any.

    `release` and `concurrency` (seats of one server) are None where nobody tells, and `by` says in words who does.
    `problems` are files that could not be read at all. `complete` is set where a live cluster gave out both lists.
    `gates` are the feature gates that the first server names, and `kept` is set where the names are pseudonyms.
    """

    documents: tuple[Document, ...] = ()
    faults: tuple[Fault, ...] = ()
    release: Release | None = None
    concurrency: int | None = None
    refused_per_s: Mapping[str, float] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    by: str = ""
    complete: bool = False
    gates: Mapping[str, bool] = field(default_factory=dict)
    kept: KeptHands | None = None

    @property
    def whole(self) -> bool:
        """Whether these are all objects of a cluster: of files, where the mandatory ones are as servers have them."""
        if self.complete:
            return True
        named = {(one.kind, one.name) for one in self.documents if value_at(one.fields, "metadata", "uid")}
        return all(
            (kind, name) in named
            for kind in {one.kind for one in self.documents} or {"FlowSchema"}
            for name in MANDATORY
        )


def from_paths(paths: tuple[Path, ...]) -> Source:
    """The objects of files, of folders with such files, and of saved bundles, with what these say of their servers.

    Of several bundles the oldest release and the fewest seats count. Raises Trouble for an archive that is no bundle.
    """
    bundles = [path for path in paths if _is_bundle(path)]
    # Of two objects with one name the later one counts: files may change what a bundle has.
    found = [*map(_from_bundle, bundles), from_files(tuple(path for path in paths if path not in bundles))]
    refused: dict[str, float] = {}
    for one in found:
        for name, rate in one.refused_per_s.items():
            refused[name] = max(refused.get(name, 0.0), rate)
    return Source(
        tuple(document for one in found for document in one.documents),
        tuple(fault for one in found for fault in one.faults),
        min((one.release for one in found if one.release is not None), default=None),
        min((one.concurrency for one in found if one.concurrency is not None), default=None),
        refused,
        tuple(problem for one in found for problem in one.problems),
        " and ".join(one.by for one in found if one.by),
        gates=next((one.gates for one in found if one.gates), {}),
        kept=next((one.kept for one in found if one.kept is not None), None),
    )


def from_files(paths: tuple[Path, ...]) -> Source:
    """The objects of files, and of folders those files that name the API group."""
    documents: list[Document] = []
    problems: list[str] = []
    files, left = files_of(paths)
    faults = [*left]
    for path in files:
        try:
            body = body_of(path)
            if path not in paths and not names_group(body):
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


def with_objects(source: Source, where: str) -> Source:
    """The source as it is. Raises Trouble where it has no object of either kind: nobody can say that it is in order."""
    if source.documents or source.faults:
        return source
    looked = f"looked for objects of {GROUP} in YAML and JSON, and for flowschemas and prioritylevels in bundles"
    raise Trouble("no FlowSchema and no PriorityLevelConfiguration", where, "; ".join(source.problems) or looked)


def from_cluster(at: Servers) -> Source:
    """The objects of a live cluster, and what the metrics of its servers tell.

    Blocks. Raises Trouble where it has no object of either kind, and Unreachable.
    """
    samples = run(at.accesses, [Turn((Endpoint.METRICS, *OBJECTS))], manner_of_looks())
    complain(at.notes)
    return with_objects(from_servers(samples), at.source)


def from_servers(samples: Iterable[Sample]) -> Source:
    """The objects of live servers, by the first answer that has them, and what their metrics tell."""
    samples = tuple(samples)
    found = _from_samples(samples, "the metrics of the servers", lambda _: ("", 0))
    return replace(found, complete={sample.endpoint for sample in samples if sample.ok} >= set(OBJECTS))


def _is_bundle(path: Path) -> bool:
    try:
        return is_bundle(path)
    except OSError:
        # Whoever reads it says why it cannot be read, and the rest goes on.
        return False


def _from_bundle(path: Path) -> Source:
    families = wanted_at_once()
    bundle = read_bundle(path, lambda chunks, kind, encoding: pick(chunks, kind, encoding, families))
    found = _from_samples(bundle.samples, f"the metrics in {path}", lambda sample: _place(sample, path, bundle))
    return replace(found, problems=(*bundle.problems, *found.problems, *_beside(path, bundle)))


def _beside(path: Path, bundle: Bundle) -> Iterator[str]:
    """Files with objects that lie in the folder of a bundle and are none of its own."""
    for file in files_of((path,))[0] if path.is_dir() else ():
        name = PurePosixPath(file.relative_to(path).as_posix())
        if name in bundle.files or any(str(name) == one.origin for one in bundle.samples):
            continue
        try:
            if names_group(body_of(file)):
                yield f"{file}: lies in the bundle and is no part of it, so it is not judged: name it besides"
        except OSError as error:
            yield f"{file}: {(error.strerror or 'cannot be read').lower()}"


def _place(sample: Sample, path: Path, bundle: Bundle) -> tuple[str, int]:
    """The file of an answer, and how many lines come before it; an empty name where it is in no file of its own."""
    ours = PurePosixPath(sample.origin)
    for name, body in sorted(bundle.files.items(), key=lambda pair: pair[0] != ours):
        if body.endswith(sample.body):
            packed = path / f"{name}.gz"
            file = packed if packed.is_file() else path / name
            return str(file), body.count(b"\n", 0, len(body) - len(sample.body))
    return "", 0


def _from_samples(samples: Iterable[Sample], by: str, place: Callable[[Sample], tuple[str, int]]) -> Source:
    """The objects of the first answer that has them, with the release, the seats and the refusals that metrics tell."""
    documents: list[Document] = []
    faults: list[Fault] = []
    taken: set[Endpoint] = set()
    samples = [sample for sample in samples if sample.endpoint in READ]
    for sample in samples:
        if sample.endpoint not in OBJECTS or sample.endpoint in taken or not sample.ok or not sample.body:
            continue
        file, before = place(sample)
        try:
            found, said = read_file(file, b"\n" * before + sample.body)
        except ParseError:
            # The frame says so.
            continue
        taken.add(sample.endpoint)
        documents += found
        faults += said
    state = fold(samples)
    seen = frame(state)
    refused: dict[str, float] = {}
    for replica in seen.servers:
        for name, level in replica.levels.items():
            if level.rejected_per_s is not None:
                refused[name] = max(refused.get(name, 0.0), level.rejected_per_s)
    releases = [release for one in seen.servers if one.version and (release := parse_release(one.version))]
    seats = [one.server_concurrency for one in seen.servers if one.server_concurrency]
    views = (view(one.metrics[-1].data) for one in state.replicas.values() if one.metrics)
    return Source(
        tuple(documents),
        tuple(faults),
        min(releases, default=None),
        round(min(seats)) if seats else None,
        refused,
        tuple(f"{one.name}: {said}" for one in seen.replicas.values() if one.failed for said in one.problems),
        by,
        gates=next((one.features for one in views if one.features), {}),
        kept=kept_in(state),
    )
