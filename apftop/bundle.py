"""A bundle (saved answers of one or several servers) to samples, in the order in which they were taken."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

import msgspec

from apftop.bundle_answers import ANSWERS, SCRAPE, read_answers
from apftop.bundle_files import FOLDERS, Files, Pick, is_archive, read_files
from apftop.bundle_times import UNREADABLE, Meta, Times, read_meta, read_stamp, read_times
from apftop.errors import Trouble
from apftop.http_text import HttpAnswer, http_date, parse_http
from apftop.other_body import UTF8_BOM
from apftop.records.raw import CALLBACKS, DUMPS, EXPOSITIONS, KEPT_HEADERS, OBJECTS, Endpoint, Sample

SINGLE = "server"
"""The replica's name in a bundle without a folder `replicas`."""

STEMS = {endpoint.value: endpoint for endpoint in Endpoint} | {
    "prioritylevelconfigurations": Endpoint.CONFIGS,
    "validatingwebhookconfigurations": Endpoint.VALIDATING,
    "mutatingwebhookconfigurations": Endpoint.MUTATING,
    "apiservices": Endpoint.APISERVICES,
}
"""What files are called: as endpoints are, and as kubectl calls what they hold."""

FOR_ALL = (*OBJECTS, *CALLBACKS, Endpoint.WEBHOOKS)
"""What is the same on all servers of a cluster."""
METRICS_SUFFIXES = (".txt", ".pb", ".prom", "")
DUMP_SUFFIXES = (".txt", "")
OBJECT_SUFFIXES = (".yaml", ".yml", ".json")
HTTP_SUFFIXES = (".txt", ".http", "")
NOTES = {str(SCRAPE), str(ANSWERS), "http.json", "http_meta.json"}
ORDER = ("facts", "flowschemas", "prioritylevels", "prioritylevelconfigurations", "metrics")
TWICE = ("metrics", "dump_priority_levels")
_NUMBERED = re.compile(r"(.+)_t([0-9]+)")


@dataclass(frozen=True, slots=True)
class Bundle:
    """The samples of a bundle, the times noted with it, and what could not be read.

    `files` are its files as they are, but for metrics and `.gz`, by their path within it.
    """

    samples: tuple[Sample, ...]
    times: Times
    problems: tuple[str, ...]
    files: Mapping[PurePosixPath, bytes] = field(default_factory=dict, compare=False, repr=False)


def is_bundle(path: Path) -> bool:
    """Whether a path is an archive, or a folder with what servers answered, and not just with objects in files."""
    if not path.is_dir():
        return path.is_file() and is_archive(path)
    return any(
        entry.is_file() and _is_answer(PurePosixPath(entry.relative_to(path).as_posix()))
        for pattern in FOLDERS
        for folder in (path.glob(pattern) if pattern else (path,))
        if folder.is_dir()
        for entry in folder.iterdir()
    )


def _is_answer(found: PurePosixPath) -> bool:
    name = found.with_suffix("") if found.suffix == ".gz" else found
    return _known(name) and (name != found or len(name.parts) > 1 or name == ANSWERS or _lost(name))


def read_bundle(path: Path, pick: Pick) -> Bundle:
    """Read a folder or .tgz. Raises Trouble when it is no bundle at all; single bad files are named in `problems`.

    Where answers.json tells of the answers, the samples are those that were saved, in their order.
    """
    files = read_files(path, pick, _known)
    if not any(_about(name) or name.name in ("http.json", str(ANSWERS)) for name in (*files.bodies, *files.faults)):
        raise Trouble(
            "nothing here that apftop knows",
            str(path),
            "a bundle holds metrics.txt, dump_requests.txt, flowschemas.yaml ...",
        )
    problems: list[str] = []
    told = read_answers(files, problems)
    if told is not None:
        times = read_times(files.bodies.get(SCRAPE), str(SCRAPE), problems)
        return Bundle((*_facts_missing(told, times), *told), times, tuple(problems), files.bodies)
    shared = {name: body for name, body in files.bodies.items() if name.parts[0] != "replicas"}
    servers = sorted({name.parts[1] for name in (*files.bodies, *files.faults) if _of_replica(name)})
    times = read_times(shared.get(SCRAPE), str(SCRAPE), problems)
    samples: list[Sample] = []
    for server in servers or [SINGLE]:
        root = PurePosixPath("replicas", server) if servers else PurePosixPath()
        samples += _replica(files, server, root, times, problems, pick)
    if servers:
        problems += [f"{name}: belongs to one server, but lies beside replicas/" for name in shared if _lost(name)]
    return Bundle((*_facts_missing(samples, times), *samples), times, tuple(problems), files.bodies)


def _facts_missing(samples: Sequence[Sample], times: Times) -> Iterator[Sample]:
    """Of a redacted bundle whose facts are gone, that they are: no hand may be dealt from pseudonyms."""
    told = {sample.replica for sample in samples if sample.endpoint is Endpoint.FACTS}
    for replica in dict.fromkeys(sample.replica for sample in samples if times.redacted):
        if replica not in told:
            yield Sample(replica, Endpoint.FACTS, error="missing", origin="facts.json", wire_bytes=0)


def _known(name: PurePosixPath) -> bool:
    """Whether a path (without `.gz`) is one that a bundle has; an editor's leftovers such as `x.yaml.orig` are not."""
    if _of_replica(name):
        name = PurePosixPath(*name.parts[2:])
    endpoint, suffix = _about(name), "".join(name.suffixes)
    if name.parts[0] == "http" and len(name.parts) == 2:
        return endpoint is not None and suffix in HTTP_SUFFIXES
    if len(name.parts) != 1:
        return False
    return name.name in NOTES or (endpoint is not None and suffix in _suffixes(endpoint))


def _suffixes(endpoint: Endpoint) -> tuple[str, ...]:
    if endpoint in EXPOSITIONS:
        return METRICS_SUFFIXES
    return DUMP_SUFFIXES if endpoint in DUMPS else OBJECT_SUFFIXES


def _of_replica(name: PurePosixPath) -> bool:
    return name.parts[0] == "replicas" and len(name.parts) > 2


def _stem(name: PurePosixPath) -> tuple[str, int | None]:
    """What a file's name says before its suffixes, and the number of `_t0`, `_t1` ... if it ends so."""
    stem = name.name.split(".", 1)[0]
    numbered = _NUMBERED.fullmatch(stem)
    return (numbered[1], int(numbered[2])) if numbered else (stem, None)


def _about(name: PurePosixPath) -> Endpoint | None:
    """The endpoint whose answer a file holds."""
    return STEMS.get(_stem(name)[0])


def _lost(name: PurePosixPath) -> bool:
    """Whether a file beside `replicas` can only be of one server."""
    return _about(name) not in (None, *FOR_ALL)


def _replica(
    files: Files, server: str, root: PurePosixPath, shared_times: Times, problems: list[str], pick: Pick
) -> Iterator[Sample]:
    """The samples of one server: its own files, and those beside `replicas/` that it does not have itself."""
    own = {name.relative_to(root): name for name in (*files.bodies, *files.faults) if name.is_relative_to(root)}
    if root.parts:
        for name in (*files.bodies, *files.faults):
            if name.parts[0] != "replicas" and name not in own and not _lost(name):
                own[name] = name
    times = shared_times
    if root.parts and own.get(SCRAPE, SCRAPE) != SCRAPE:
        times = read_times(files.bodies.get(own[SCRAPE]), str(own[SCRAPE]), problems)
    noted = own.get(PurePosixPath("http_meta.json"))
    meta = read_meta(files.bodies.get(noted) if noted else None, problems)
    for twice in TWICE:
        there = {_stem(inner): inner for inner in own if len(inner.parts) == 1}
        if {(twice, None), (twice, 0), (twice, 1)} <= there.keys():
            problems.append(f"{own.pop(there[twice, None])}: left out, since {twice}_t0 and {twice}_t1 are there")
    for inner in sorted(own, key=_rank):
        name = own[inner]
        endpoint = _about(inner)
        if inner.name == "http.json":
            yield from _answers(server, files, name, problems)
            continue
        if endpoint is None:
            continue
        sample = _timed(Sample(server, endpoint, origin=str(name)), inner, times, meta)
        if name in files.faults:
            yield replace(sample, error=files.faults[name])
        elif inner.parts[0] == "http":
            yield _raw(sample, files.bodies[name], pick)
        else:
            yield replace(sample, body=files.bodies[name], content_type=files.content_types.get(name, ""))


def _rank(inner: PurePosixPath) -> tuple[bool, int, str, float, str]:
    """Objects, metrics, dumps; what was saved without a number beside a `_t0` is the later one."""
    stem, number = _stem(inner)
    order = ORDER.index(stem) if stem in ORDER else len(ORDER)
    return inner.parts[0] == "http", order, stem, 0.5 if number is None else number, str(inner)


def _timed(sample: Sample, inner: PurePosixPath, times: Times, meta: Meta) -> Sample:
    """Give a saved answer the times that were noted with it: those of scrape.json are nobody's measured clock."""
    number = _stem(inner)[1]
    if number == 0:
        stamp = times.t0
    elif number is not None or sample.endpoint in EXPOSITIONS:
        stamp = times.t1 if times.t1 is not None else times.t0
    else:
        stamp = times.t1 if times.shown else None
    noted = meta.of(sample.replica, inner.name)
    return replace(
        sample,
        sent=noted.sent,
        received=noted.received,
        server_date=noted.date,
        server_time=times.dump_time if sample.endpoint in DUMPS and number != 0 else None,
        noted=stamp,
    )


def _raw(sample: Sample, body: bytes, pick: Pick) -> Sample:
    """A saved HTTP answer, of which metrics are picked like any others."""
    try:
        answer = parse_http(body)
        sample = _answered(sample, answer)
        if sample.endpoint in EXPOSITIONS and sample.status == 200:
            headers = dict(answer.headers)
            picked, kind = pick([answer.body], sample.content_type, headers.get("content-encoding", ""))
            return replace(sample, body=picked, content_type=kind)
    except ValueError as error:
        return replace(sample, error=f"{sample.origin}: {error}")
    return sample


def _answered(sample: Sample, answer: HttpAnswer) -> Sample:
    headers = {name: value for name, value in answer.headers if name in KEPT_HEADERS}
    date = http_date(headers.get("date", ""))
    return replace(
        sample,
        status=answer.status,
        headers=tuple(headers.items()),
        content_type=headers.get("content-type", ""),
        body=answer.body,
        server_date=date if date is not None else sample.server_date,
    )


class _Noted(msgspec.Struct, frozen=True):
    """One entry of http.json."""

    request: str
    status: int
    t: str = ""
    headers: dict[str, str] = {}
    body: str = ""


def _answers(server: str, files: Files, name: PurePosixPath, problems: list[str]) -> Iterator[Sample]:
    """The answers of http.json: how this tool, or another one, was treated."""
    try:
        noted = msgspec.json.decode(files.bodies[name].removeprefix(UTF8_BOM), type=list[_Noted])
    except (*UNREADABLE, KeyError) as error:
        problems.append(files.faults.get(name) or f"{name}: {error}")
        return
    for one in noted:
        endpoint = _endpoint(one.request)
        if endpoint is None:
            continue
        stamp = read_stamp(one.t)
        headers = tuple((key.lower(), value) for key, value in one.headers.items())
        sample = Sample(server, endpoint, sent=stamp, received=stamp, origin=f"{name}: {one.request}")
        yield _answered(sample, HttpAnswer(one.status, headers, one.body.encode()))


def _endpoint(request: str) -> Endpoint | None:
    path = request.split(" ")[1] if " " in request else request
    last = path.split("?", 1)[0].rstrip("/").rsplit("/", 1)[-1]
    return STEMS.get(last)
