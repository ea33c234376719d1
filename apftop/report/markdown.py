"""What was found as Markdown, for a ticket: the words of the text report, with commands in blocks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from apftop.findings.runbook import anchor
from apftop.present import plain, utc
from apftop.records.classified import Classified
from apftop.records.findings import Finding, Findings
from apftop.report.asked import asked_lines
from apftop.report.over_time import counted_over, lasted_text, mark_text
from apftop.report.series import Span
from apftop.sheets.finding_text import counted, ends_in_command, held, parts, risks, verdict, where

MOST = 30_000
"""So many characters fit in a ticket of Jira (32,767), and so in one of GitHub (65,536) or GitLab."""

MOST_LINE = 1000
MOST_NUMBERS = 10_000
MOST_PART = 4_000
ROOM_KEPT = 100
"""Characters of one line, of the numbers of the servers, of each list, and for saying what is left out."""

# What Markdown would act on; a line may also begin with something that it reads as a list or a heading.
_ACTIVE = re.compile(r"([\\`*_{}\[\]<>|#~!&$@])")
_LEADING = re.compile(r"^(\s*|\s*\d+|h\d)((?<!\d)[-+=/]|(?<=\d)[.)](?=\s|$))")
# What a tracker makes a mention, a reference, a link or a sign of though it is escaped: no more than code prevents it.
_TRIGGER = re.compile(
    r"@\w|[#!&^]\d|[~%$][\w\"]|\b[gG][hH]-\d|\b[A-Z][A-Z0-9_]+-\d|\w:/|\bwww\.|:(?!\d+:)[\w+-]+:|:100:|:1234:|\[\[|\[\w+:|"
    r"\b[0-9a-f]{7,64}\b"
)
_WORD = re.compile(r"(\S+?)([,.;)]*)(?=\s|$)")


def markdown(
    found: Findings,
    source: str,
    taken: str,
    levels: str,
    classified: Sequence[Classified] = (),
    span: Span | None = None,
) -> str:
    """The whole report, as long as a ticket may be: it says what is left out.

    `levels` is the text report of the servers, which goes into a block; `span` the time of a tape that led to it.
    """
    head = [f"# apftop: {escaped(verdict(found))}", "", f"{escaped(source)}, {escaped(taken)}", ""]
    head += [*_fitting((f"- {escaped(why)}" for why in found.why), MOST_PART), ""] if found.why else []
    head += [f"**At risk:** {escaped(risks(found))}", "", f"**Findings:** {counted(found.found)}", ""]
    tail: list[str] = []
    if alerts := held(found):
        lines = _fitting((f"- {escaped(line)}" for line in alerts), MOST_PART)
        tail += ["## Alerts whose condition holds now", "", *lines, ""]
    if span is not None:
        tail += _over_time(span)
    numbers = _fitting(levels.rstrip("\n").splitlines(), MOST_NUMBERS)
    tail += ["## Numbers", "", *_block(numbers, "text")]
    if classified:
        lines = _fitting(asked_lines(classified), MOST_PART)
        tail += ["", "## Requests in question", "", *_block(lines, "text")]
    room = MOST - sum(len(line) + 1 for line in (*head, *tail))
    return "\n".join((*head, *_findings(found, room), *tail)) + "\n"


def escaped(text: str) -> str:
    """Text that Markdown shows as it is, and that no tracker makes a mention, a reference or a link of."""
    shown = plain(text.lstrip(), MOST_LINE).lstrip()
    # Four blanks in front would make a block of code.
    return _LEADING.sub(r"\1\\\2", _WORD.sub(_word, shown))


def _word(found: re.Match[str]) -> str:
    """A word; as code where its tracker would act on it."""
    word, end = found[1], found[2]
    return (_code(word) if _TRIGGER.search(word) else _ACTIVE.sub(r"\\\1", word)) + end


def _fitting(lines: Iterable[str], most: int) -> list[str]:
    """As many lines as fit, and how many do not."""
    told = list(lines)
    fits = 0
    for line in told:
        most -= len(line) + 1
        if most < 0:
            break
        fits += 1
    left_out = len(told) - fits
    return told[:fits] + ([f"- {left_out} more lines are left out"] if left_out else [])


def _findings(found: Findings, room: int) -> Iterator[str]:
    """All findings that there is room for; of others the title, or their number."""
    left_out = 0
    for finding in found.found:
        whole = list(_finding(finding))
        short = [f"## {finding.severity.capitalize()}: {escaped(finding.title)}", "", "Left out here.", ""]
        for lines in (whole, short):
            if (size := sum(len(line) + 1 for line in lines)) <= room - ROOM_KEPT:
                room -= size
                yield from lines
                break
        else:
            left_out += 1
    if left_out:
        yield f"{left_out} more findings are left out here; `apftop report` has them as text."
        yield ""


def _over_time(span: Span) -> Iterator[str]:
    """When findings began and ended, and what happened."""
    yield f"## From {utc(span.first)} to {utc(span.last)}"
    yield ""
    yield f"**Findings:** {counted_over(span)}"
    yield ""
    found = (
        f"- {began} .. {ended}: {one.severity}: {escaped(one.title)}"
        for one in span.lasted
        for began, ended in (lasted_text(one, span),)
    )
    yield from _fitting(found, MOST_PART) or ["No finding began or ended."]
    yield ""
    happened = [f"- {utc(one.at)}: {escaped(mark_text(one))}" for one in span.marks]
    if happened:
        yield from _fitting(happened, MOST_PART)
        yield ""


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


def _block(lines: Sequence[str], language: str) -> list[str]:
    """Lines in a block whose fence is longer than any in them."""
    longest = max((len(found[0]) for line in lines for found in re.finditer("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *lines, fence]
