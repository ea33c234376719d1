"""`apftop collect`: two looks at all replicas, saved as a bundle, and what it holds, lacks and is good for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from apftop.collect.writer import check_target, write_bundle
from apftop.derive.frame import frame
from apftop.errors import UNREAD, Trouble
from apftop.live import fold
from apftop.output import complain, write
from apftop.present import plain, size
from apftop.records.frame import Frame
from apftop.records.raw import Endpoint, Sample
from apftop.report.looking import Servers, first_look, notes, servers

SAVED = (Endpoint.METRICS, Endpoint.LEVELS, Endpoint.QUEUES, Endpoint.REQUESTS, Endpoint.SCHEMAS, Endpoint.CONFIGS)


def collect(options: Mapping[str, Any]) -> int:
    """Save a bundle under `output` and say what is in it; the exit code is 3 when something could not be read.

    What could be read is saved all the same. Raises Trouble where nothing is saved: nobody answered, there is
    something under that name already, or it cannot be written.
    """
    target: Path = options["output"]
    check_target(target)
    at = servers(options)
    samples, left_out = first_look(at, options["interval"])
    seen = frame(fold(samples))
    if not any(sample.status for sample in samples):
        complain(_problems(seen))
        raise Trouble("nothing is saved, for no server answered", at.source, "see `apftop doctor`")
    write_bundle(samples, target, source=at.source)
    complain((*notes(at, seen), *left_out, *_problems(seen)))
    write("\n".join(_told(target, at, samples, seen)))
    return UNREAD if any(replica.failed for replica in seen.replicas.values()) else 0


def _problems(seen: Frame) -> list[str]:
    return [f"{name}: {problem}" for name, replica in seen.replicas.items() for problem in replica.problems]


def _told(target: Path, at: Servers, samples: Sequence[Sample], seen: Frame) -> Iterator[str]:
    """What was saved of whom, what must be known before it is passed on, and the next step."""
    name = plain(str(target))
    number = len(seen.replicas)
    yield f"saved {name} ({size(_bytes(target))}): {plain(at.source)}, {number} server{'s' if number != 1 else ''}"
    for replica in seen.replicas:
        there = {sample.endpoint for sample in samples if sample.replica == replica and sample.ok}
        lacks = ", ".join(endpoint.value for endpoint in SAVED if endpoint not in there)
        yield f"  {plain(replica)}: {'without ' + lacks if lacks else 'whole'}"
    if seen.callbacks is None:
        yield "  without webhooks and APIServices, which no server told: see `apftop doctor`"
    yield "It names users, namespaces and objects: look through it before you pass it on. It holds no credentials."
    yield f"Next: apftop report {name}"


def _bytes(target: Path) -> int:
    return sum(file.stat().st_size for file in (target, *target.rglob("*")) if file.is_file())
