"""What was found as Markdown, for a ticket: the words of the text report, with commands in blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from apftop.findings.runbook import anchor
from apftop.present import plain
from apftop.records.classified import Classified
from apftop.records.findings import Finding, Findings
from apftop.report.asked import asked_lines
from apftop.sheets.finding_text import counted, ends_in_command, held, parts, risks, verdict, where

# What Markdown would act on; a line may also begin with something that it reads as a list or a heading.
_ACTIVE = re.compile(r"([\\`*_{}\[\]<>|#~!&$@])")
_LEADING = re.compile(r"^(\s*|\s*\d+)((?<!\d)[-+=]|(?<=\d)[.)](?=\s|$))")


def markdown(found: Findings, source: str, taken: str, levels: str, classified: Sequence[Classified] = ()) -> str:
    """The whole report; `levels` is the text report of the servers, which goes into a block."""
    lines = [f"# apftop: {escaped(verdict(found))}", "", f"{escaped(source)}, {escaped(taken)}", ""]
    lines += [*(f"- {escaped(why)}" for why in found.why), ""] if found.why else []
    lines += [f"**At risk:** {escaped(risks(found))}", "", f"**Findings:** {counted(found.found)}", ""]
    for finding in found.found:
        lines += _finding(finding)
    if alerts := held(found):
        lines += ["## Alerts whose condition holds now", "", *(f"- {escaped(line)}" for line in alerts), ""]
    lines += ["## Numbers", "", *_block(levels.rstrip("\n").splitlines(), "text")]
    if classified:
        lines += ["", "## Requests in question", "", *_block(list(asked_lines(classified)), "text")]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    # Four blanks in front would make a block of code.
    return _LEADING.sub(r"\1\\\2", _ACTIVE.sub(r"\\\1", plain(text).lstrip()))


def _finding(finding: Finding) -> Iterator[str]:
    yield f"## {finding.severity.capitalize()}: {escaped(finding.title)}"
    yield ""
    yield f"`{finding.code}`, {escaped(where(finding))}; more: `{anchor(finding.code)}`"
    yield ""
    for part in parts(finding):
        yield f"**{part.name.capitalize()}**"
        yield ""
        if part.commands:
            yield from _block(part.lines, "sh")
        else:
            yield from (f"- {_told(line)}" for line in part.lines)
        yield ""


def _told(line: str) -> str:
    """A line, with the command that it ends with as code."""
    said, command = ends_in_command(plain(line))
    return escaped(said) + _code(command) if command else escaped(line)


def _code(text: str) -> str:
    """Text in a span of code, between more backticks than any in it."""
    fence = "`" * (max((len(found) for found in re.findall("`+", text)), default=0) + 1)
    return f"{fence} {text} {fence}" if "`" in text else f"{fence}{text}{fence}"


def _block(lines: tuple[str, ...] | list[str], language: str) -> list[str]:
    """Lines in a block whose fence is longer than any in them."""
    longest = max((len(found[0]) for line in lines for found in re.finditer("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *lines, fence]
