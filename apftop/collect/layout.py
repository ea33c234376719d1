"""How samples lie in a bundle: which answer is in which file, and what is noted about the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from urllib.parse import quote

import msgspec

from apftop import __version__
from apftop.bundle_answers import ANSWERS, SCRAPE, write_answers
from apftop.bundle_times import UNTIMED, Times
from apftop.derive.frame import frame
from apftop.errors import one_line
from apftop.live import fold
from apftop.records.raw import DUMPS, EXPOSITIONS, KEPT_HEADERS, Endpoint, Sample

Files = dict[PurePosixPath, bytes]
LONGEST_FOLDER = 100
_Kind = tuple[str, Endpoint, bool]


@dataclass(frozen=True, slots=True)
class About:
    """What a bundle says of the whole: whose answers these are in words, and by what version names were replaced.

    `times` are those noted with a bundle that the answers are from, and `beside` the files that lie beside them.
    """

    source: str
    times: Times = UNTIMED
    redacted: str = ""
    beside: Mapping[PurePosixPath, bytes] = field(default_factory=dict)


def layout(samples: Sequence[Sample], about: About) -> Files:
    """The files of a bundle by their paths: the answers, scrape.json about the whole, answers.json about each.

    The answers of one replica lie at the top, those of several in `replicas/NAME/`, where NAME is percent-encoded;
    answers.json has the true names. Of several usable answers of an endpoint each has a number, `_t0` the first. One
    that is a refusal is in `http/`, with its status and headers.
    """
    folders = _folders(dict.fromkeys(sample.replica for sample in samples))
    names = _names(samples, folders)
    saved = list(zip(samples, names, strict=True))
    files = {name: sample.body if sample.ok else _raw(sample) for sample, name in saved if name}
    files |= about.beside
    files[SCRAPE] = _scrape(samples, about)
    files[ANSWERS] = write_answers(saved)
    return files


def _folders(replicas: Iterable[str]) -> Mapping[str, PurePosixPath]:
    """The folder of each replica; no two differ by the case of letters only."""
    replicas = list(replicas)
    if len(replicas) == 1:
        return {replicas[0]: PurePosixPath()}
    folders: dict[str, PurePosixPath] = {}
    taken: set[str] = set()
    for number, replica in enumerate(replicas):
        # Without `~`, which then marks the names that only a number tells apart.
        name = quote(replica, safe="", errors="backslashreplace").replace("~", "%7E")
        if not name.strip(".") or len(name) > LONGEST_FOLDER or name.casefold() in taken:
            name = f"{name.strip('.')[:LONGEST_FOLDER]}~{number}"
        taken.add(name.casefold())
        folders[replica] = PurePosixPath("replicas", name)
    return folders


def _names(samples: Sequence[Sample], folders: Mapping[str, PurePosixPath]) -> list[PurePosixPath | None]:
    """The file of each answer; None for what has no body."""
    many = Counter(_kind(sample) for sample in samples if _kept(sample))
    so_far = Counter[_Kind]()
    names: list[PurePosixPath | None] = []
    for sample in samples:
        if not _kept(sample):
            names.append(None)
            continue
        kind = _kind(sample)
        number = f"_t{so_far[kind]}" if many[kind] > 1 else ""
        so_far[kind] += 1
        inner = f"{sample.endpoint}{number}{_suffix(sample)}" if sample.ok else f"http/{sample.endpoint}{number}.txt"
        names.append(folders[sample.replica] / inner)
    return names


def _kept(sample: Sample) -> bool:
    return sample.ok or bool(sample.body and not sample.error)


def _kind(sample: Sample) -> _Kind:
    return sample.replica, sample.endpoint, sample.ok


def _suffix(sample: Sample) -> str:
    if sample.endpoint in EXPOSITIONS:
        return ".pb" if "protobuf" in sample.content_type else ".txt"
    if sample.endpoint in DUMPS:
        return ".txt"
    return ".json" if sample.body.lstrip().startswith(b"{") else ".yaml"


def _raw(sample: Sample) -> bytes:
    """An answer as raw HTTP."""
    kept = [f"{name}: {one_line(value)}" for name, value in sample.headers if name in KEPT_HEADERS]
    head = [f"HTTP/1.1 {sample.status}", *kept]
    return "".join(f"{line}\r\n" for line in (*head, "")).encode("utf-8", "backslashreplace") + sample.body


def _scrape(samples: Iterable[Sample], about: About) -> bytes:
    """Times (Unix seconds), source and version, as a report of the same samples would name them."""
    return msgspec.json.format(msgspec.json.encode(dict(_noted(samples, about))), indent=1) + b"\n"


def _noted(samples: Iterable[Sample], about: About) -> Iterator[tuple[str, str | float]]:
    yield from _times(samples, about.times)
    yield "source", one_line(about.source)
    if about.redacted:
        yield "redacted", about.redacted
    yield "apftop", __version__


def _times(samples: Iterable[Sample], times: Times) -> Iterator[tuple[str, float]]:
    """As they were noted, else as the frame of the samples has them."""
    t0, t1 = (times.t0, times.t1) if times.shown else (None, None)
    known = {"t0": t0, "t1": t1, "interval_s": times.interval_s, "dump_time": times.dump_time}
    noted = {name: value for name, value in known.items() if value is not None}
    if not noted:
        seen = frame(fold(samples))
        noted = {"t1": seen.t1} if seen.t1 is not None else {}
        if seen.t0 is not None and seen.t1 is not None and seen.t0 < seen.t1:
            noted = {"t0": seen.t0, **noted}
    yield from noted.items()
