"""What lint found, for a person: a fault a line with its file and line, and what becomes of every level's seats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from apftop.lint.folders import STDIN
from apftop.present import cells, cut, plain, whole
from apftop.records.linting import GRAVITIES, Fault, Linted

MOST_ALIKE = 10
"""So many notes of one code are told: more of them, as generated policies have, hide the rest."""

WIDEST_NAME = 48
"""Cells of a level's name, so that the table of seats fits 80."""


def lines(found: Linted, elsewhere: str = "cluster") -> Iterator[str]:
    """All of it but notes that are too many alike; the count of faults comes last.

    `elsewhere` says where objects are that were not given in a file.
    """
    so_far = Counter[str]()
    for fault in found.faults:
        so_far[fault.code] += fault.gravity == "note"
        if so_far[fault.code] > MOST_ALIKE and fault.gravity == "note":
            continue
        yield f"{_where(fault, elsewhere)}: {fault.gravity}: {_about(fault)}{fault.text} [{fault.code}]"
        if fault.advice:
            yield f"    {fault.advice}"
    for code, number in so_far.items():
        if number > MOST_ALIKE:
            yield f"and {number - MOST_ALIKE} more notes [{code}]; --output json has them"
    if found.nominal_before != found.nominal_after:
        yield ""
        yield from _seats(found)
    if found.faults or found.nominal_before != found.nominal_after:
        yield ""
    counts = {gravity: sum(fault.gravity == gravity for fault in found.faults) for gravity in GRAVITIES}
    told = ", ".join(f"{number} {gravity}{'' if number == 1 else 's'}" for gravity, number in counts.items() if number)
    release, seats = f"Kubernetes {found.target}", f"servers of {found.concurrency} seats"
    by = f"for {release} ({plain(found.target_by)}) and {seats} ({plain(found.concurrency_by)})"
    yield f"{told or 'nothing is wrong'}, {by}"


def _where(fault: Fault, elsewhere: str) -> str:
    """What editors jump to: `FILE:LINE`."""
    if not fault.file:
        return elsewhere if fault.kind else "policy"
    name = "stdin" if fault.file == str(STDIN) else plain(fault.file)
    return name if fault.line is None else f"{name}:{fault.line}"


def _about(fault: Fault) -> str:
    return f"{fault.kind} {plain(fault.name)}: " if fault.kind else ""


def _seats(found: Linted) -> Iterator[str]:
    names = list(dict.fromkeys((*found.nominal_before, *found.nominal_after)))
    shown = {name: cut(plain(name), WIDEST_NAME) for name in names}
    width = max(cells(name) for name in shown.values())
    yield "nominal seats of one server, if the servers keep the change:"
    yield f"  {'':<{width}}  before   after  change"
    for name in names:
        before, after = found.nominal_before.get(name), found.nominal_after.get(name)
        delta = f"{after - before:+d}" if before is not None and after is not None and after != before else ""
        pad = " " * (width - cells(shown[name]))
        yield f"  {shown[name]}{pad}  {whole(before):>6}  {whole(after):>6}  {delta:>6}".rstrip()
