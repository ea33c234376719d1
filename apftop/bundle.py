"""A bundle (saved answers of one or several servers) to samples, in the order in which they were taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import msgspec

from apftop.bundle_files import Files, Pick, read_files
from apftop.bundle_times import Meta, Times, read_meta, read_stamp, read_times
from apftop.errors import Trouble
from apftop.http_text import HttpAnswer, http_date, parse_http
from apftop.other_body import UTF8_BOM
from apftop.records.raw import DUMPS, KEPT_HEADERS, OBJECTS, Endpoint, Sample

SINGLE = "server"
"""The replica's name in a bundle without a folder `replicas`."""

STEMS = {
    "metrics": Endpoint.METRICS,
    "metrics_t0": Endpoint.METRICS,
    "metrics_t1": Endpoint.METRICS,
    "dump_priority_levels": Endpoint.LEVELS,
    "dump_queues": Endpoint.QUEUES,
    "dump_requests": Endpoint.REQUESTS,
    "flowschemas": Endpoint.SCHEMAS,
    "prioritylevels": Endpoint.CONFIGS,
    "prioritylevelconfigurations": Endpoint.CONFIGS,
}
METRICS_SUFFIXES = (".txt", ".pb", ".prom", "")
DUMP_SUFFIXES = (".txt", "")
OBJECT_SUFFIXES = (".yaml", ".yml", ".json")
HTTP_SUFFIXES = (".txt", ".http", "")
NOTES = {"scrape.json", "http.json", "http_meta.json"}
ORDER = ("flowschemas", "prioritylevels", "prioritylevelconfigurations", "metrics_t0", "metrics", "metrics_t1")


@dataclass(frozen=True, slots=True)
class Bundle:
    """The samples of a bundle, the times noted with it, and what could not be read."""

    samples: tuple[Sample, ...]
    times: Times
    problems: tuple[str, ...]


def read_bundle(path: Path, pick: Pick) -> Bundle:
    """Read a folder or .tgz. Raises Trouble when it is no bundle at all; single bad files are named in `problems`."""
    files = read_files(path, pick, _known)
    if not any(_stem(name) in STEMS or name.name == "http.json" for name in (*files.bodies, *files.faults)):
        raise Trouble(
            "nothing here that apftop knows",
            str(path),
            "a bundle holds metrics.txt, dump_requests.txt, flowschemas.yaml ...",
        )
    problems: list[str] = []
    shared = {name: body for name, body in files.bodies.items() if name.parts[0] != "replicas"}
    servers = sorted({name.parts[1] for name in (*files.bodies, *files.faults) if _of_replica(name)})
    times = read_times(shared.get(PurePosixPath("scrape.json")), "scrape.json", problems)
    samples: list[Sample] = []
    for server in servers or [SINGLE]:
        root = PurePosixPath("replicas", server) if servers else PurePosixPath()
        samples += _replica(files, server, root, times, problems, pick)
    if servers:
        problems += [f"{name}: belongs to one server, but lies beside replicas/" for name in shared if _lost(name)]
    return Bundle(tuple(samples), times, tuple(problems))


def _known(name: PurePosixPath) -> bool:
    """Whether a path (without `.gz`) is one that a bundle has; an editor's leftovers such as `x.yaml.orig` are not."""
    if _of_replica(name):
        name = PurePosixPath(*name.parts[2:])
    stem, suffix = _stem(name), "".join(name.suffixes)
    if name.parts[0] == "http" and len(name.parts) == 2:
        return stem in STEMS and suffix in HTTP_SUFFIXES
    if len(name.parts) != 1:
        return False
    return name.name in NOTES or (stem in STEMS and suffix in _suffixes(STEMS[stem]))


def _suffixes(endpoint: Endpoint) -> tuple[str, ...]:
    if endpoint in OBJECTS:
        return OBJECT_SUFFIXES
    return METRICS_SUFFIXES if endpoint is Endpoint.METRICS else DUMP_SUFFIXES


def _of_replica(name: PurePosixPath) -> bool:
    return name.parts[0] == "replicas" and len(name.parts) > 2


def _stem(name: PurePosixPath) -> str:
    return name.name.split(".", 1)[0]


def _lost(name: PurePosixPath) -> bool:
    """Whether a file beside `replicas` can only be of one server."""
    return _stem(name) in STEMS and STEMS[_stem(name)] not in OBJECTS


def _replica(
    files: Files, server: str, root: PurePosixPath, shared_times: Times, problems: list[str], pick: Pick
) -> Iterator[Sample]:
    """The samples of one server: its own files, and those beside `replicas/` that it does not have itself."""
    own = {name.relative_to(root): name for name in (*files.bodies, *files.faults) if name.is_relative_to(root)}
    if root.parts:
        for name in (*files.bodies, *files.faults):
            if name.parts[0] != "replicas" and name not in own and not _lost(name):
                own[name] = name
    scrape = PurePosixPath("scrape.json")
    times = shared_times
    if root.parts and own.get(scrape, scrape) != scrape:
        times = read_times(files.bodies.get(own[scrape]), str(own[scrape]), problems)
    noted = own.get(PurePosixPath("http_meta.json"))
    meta = read_meta(files.bodies.get(noted) if noted else None, problems)
    if {"metrics", "metrics_t0", "metrics_t1"} <= {_stem(inner) for inner in own if len(inner.parts) == 1}:
        extra = next(inner for inner in own if _stem(inner) == "metrics" and len(inner.parts) == 1)
        problems.append(f"{own.pop(extra)}: left out, since metrics_t0 and metrics_t1 are there")
    for inner in sorted(own, key=_rank):
        name = own[inner]
        stem = _stem(inner)
        if inner.name == "http.json":
            yield from _answers(server, files, name, problems)
            continue
        if stem not in STEMS:
            continue
        sample = _timed(Sample(server, STEMS[stem], origin=str(name)), stem, inner.name, times, meta)
        if name in files.faults:
            yield replace(sample, error=files.faults[name])
        elif inner.parts[0] == "http":
            yield _raw(sample, files.bodies[name], pick)
        else:
            yield replace(sample, body=files.bodies[name], content_type=files.content_types.get(name, ""))


def _rank(inner: PurePosixPath) -> tuple[bool, int, str]:
    stem = _stem(inner)
    return inner.parts[0] == "http", ORDER.index(stem) if stem in ORDER else len(ORDER), str(inner)


def _timed(sample: Sample, stem: str, file: str, times: Times, meta: Meta) -> Sample:
    """Give a saved answer the times that were noted with it: those of scrape.json are nobody's measured clock."""
    dump = sample.endpoint in DUMPS
    if stem == "metrics_t0":
        stamp = times.t0
    elif sample.endpoint is Endpoint.METRICS:
        stamp = times.t1 if times.t1 is not None else times.t0
    else:
        stamp = times.t1 if times.shown else None
    noted = meta.of(sample.replica, file)
    return replace(
        sample,
        sent=noted.sent,
        received=noted.received,
        server_date=noted.date,
        server_time=times.dump_time if dump else None,
        noted=stamp,
    )


def _raw(sample: Sample, body: bytes, pick: Pick) -> Sample:
    """A saved HTTP answer, of which metrics are picked like any others."""
    try:
        answer = parse_http(body)
        sample = _answered(sample, answer)
        if sample.endpoint is Endpoint.METRICS and sample.status == 200:
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
    except (msgspec.DecodeError, KeyError) as error:
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
