"""What lint found, for a person: a fault a line with its file and line, and what becomes of every level's seats."""

from __future__ import annotations

from collections.abc import Iterator

from apftop.present import plain
from apftop.records.linting import GRAVITIES, Fault, Linted


def lines(found: Linted) -> Iterator[str]:
    """All of it; the count of faults comes last."""
    for fault in found.faults:
        yield f"{_where(fault)}: {fault.gravity}: {_about(fault)}{fault.text} [{fault.code}]"
        if fault.advice:
            yield f"    {fault.advice}"
    if found.nominal_before != found.nominal_after:
        yield ""
        yield from _seats(found)
    yield ""
    counts = {gravity: sum(fault.gravity == gravity for fault in found.faults) for gravity in GRAVITIES}
    told = ", ".join(f"{number} {gravity}{'' if number == 1 else 's'}" for gravity, number in counts.items() if number)
    yield f"for Kubernetes {found.target}: {told or 'nothing is wrong'}"


def _where(fault: Fault) -> str:
    if not fault.file:
        return "cluster"
    return plain(fault.file) + (f":{fault.line}" if fault.line is not None else "")


def _about(fault: Fault) -> str:
    return f"{fault.kind} {plain(fault.name)}: " if fault.kind else ""


def _seats(found: Linted) -> Iterator[str]:
    names = list(dict.fromkeys((*found.nominal_before, *found.nominal_after)))
    width = max(len(plain(name)) for name in names)
    yield f"nominal seats of one server of {found.concurrency}, before and after, if the servers keep the change:"
    for name in names:
        before, after = found.nominal_before.get(name), found.nominal_after.get(name)
        delta = f"{after - before:+d}" if before is not None and after is not None and after != before else ""
        yield f"  {plain(name):<{width}}  {_number(before):>6}  {_number(after):>6}  {delta:>6}".rstrip()


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)
