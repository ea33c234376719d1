"""The Prometheus text format 0.0.4 and OpenMetrics 1.0."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import lru_cache

from apftop.parse.gathering import NUMBER, Gathered, Series, series_of, shared
from apftop.records.parsed import Labels, Metrics, ParseError

_CACHED = 32768

_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*+")
_LABEL = re.compile(
    r'[ \t]*([a-zA-Z_][a-zA-Z0-9_]*+)[ \t]*=[ \t]*"([^"\\]*+(?:\\.[^"\\]*+)*+)"[ \t]*(?:,[ \t]*|\Z)', re.DOTALL
)
_SELECTOR = re.compile(
    r'[ \t]*([a-zA-Z_:][a-zA-Z0-9_:]*+)(?:[ \t]*(\{(?:[^"}]|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+)\}|[ \t])', re.DOTALL
)
_ESCAPE = re.compile(r'\\([\\n"])')
_HELP_ESCAPE = re.compile(r"\\([\\n])")


class _QuotedName(ValueError):
    """A name in quotes, as UTF-8 names have it."""


def parse_text(body: bytes) -> Metrics:
    """Read an exposition in the text format; one that ends with `# EOF` is OpenMetrics.

    Raises ParseError with the line number when a line cannot be read, and when the body is truncated: it ends within a
    line, or its last line belongs to a histogram that lacks its `+Inf` bucket, `_sum` or `_count`.
    """
    text = _decoded(body)
    lines = text.split("\n")
    last = lines.pop()
    openmetrics = text.rstrip().rpartition("\n")[2] == "# EOF"
    if last and not openmetrics:
        raise ParseError(f"truncated: line {len(lines) + 1} has no end: {last[:80]!r}")
    gathered = Gathered("line")
    end = _gather(lines, gathered, openmetrics)
    return gathered.metrics("openmetrics" if openmetrics else "text", 0 if openmetrics else end)


def _decoded(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        raise ParseError(f"line {line}: byte {body[error.start]:#x} is not UTF-8") from None


def _gather(lines: list[str], gathered: Gathered, openmetrics: bool) -> int:
    """Read all lines; returns the number of the last one with a sample, or 0."""
    numbers: dict[str, float] = {}
    end = 0
    for number, line in enumerate(lines, 1):
        if line[:1] == "#":
            _comment(line, gathered, openmetrics)
            continue
        key, brace, tail = line.rpartition("} ")
        if not brace and "{" not in line:
            key, _, tail = line.partition(" ")
        try:
            # Most lines are `name{labels} value` with labels that were seen before; the others are taken apart exactly.
            try:
                series = _series(key)
            except ValueError:
                if line.strip()[:1] in ("", "#"):
                    _comment(line, gathered, openmetrics)
                    continue
                series, tail = _split(line)
            value = numbers.get(tail)
            if value is None:
                value, stamp = _value(tail)
                if stamp is None:
                    numbers[tail] = value
                else:
                    gathered.stamp(series.labels, stamp if openmetrics else stamp / 1000)
        except _QuotedName:
            gathered.problems.append(f"line {number}: a name in quotes is not read, left out")
            continue
        except ValueError:
            raise ParseError(f"line {number} cannot be read: {line[:80]!r}") from None
        end = number
        gathered.add(series, value, number)
    return end


def _comment(line: str, gathered: Gathered, openmetrics: bool) -> None:
    words = line.split(None, 3)
    if len(words) < 3 or words[0] != "#" or words[1] not in ("TYPE", "HELP"):
        return
    text = words[3].rstrip("\r") if len(words) > 3 else ""
    if words[1] == "TYPE":
        gathered.kinds.setdefault(words[2], text.strip())
    else:
        gathered.helps.setdefault(words[2], _unescape(text, _ESCAPE if openmetrics else _HELP_ESCAPE))


def _split(line: str) -> tuple[Series, str]:
    """The series of a line in any notation, and what follows it."""
    found = _SELECTOR.match(line)
    if not found:
        raise _QuotedName if re.match(r'[ \t]*\{[ \t]*"', line) else ValueError(line)
    return _series(found[1] + (found[2] or "")), line[found.end() :]


def _value(tail: str) -> tuple[float, float | None]:
    """Value and time stamp after the labels, both as they stand there; an exemplar is left out."""
    words = tail.partition(" # {")[0].split()
    if not 1 <= len(words) <= 2 or not all(map(NUMBER.fullmatch, words)):
        raise ValueError(tail)
    stamp = float(words[1]) if len(words) == 2 else None
    if stamp is not None and not math.isfinite(stamp):
        raise ValueError(tail)
    # A float holds no whole number beyond 2**53 exactly.
    if 15 < len(words[0]) <= 20 and words[0].isdigit():
        return int(words[0]), stamp
    return float(words[0]), stamp


@lru_cache(maxsize=_CACHED)
def _series(opened: str) -> Series:
    """The series of `name` or of `name{labels`, without the closing brace. Raises ValueError."""
    name, brace, inside = opened.partition("{")
    name = name.strip(" \t")
    if not _NAME.fullmatch(name):
        raise ValueError(opened)
    return series_of(name, _labels(inside) if brace else ())


@lru_cache(maxsize=_CACHED)
def _labels(inside: str) -> Labels:
    pairs = dict(_pairs(inside))
    return shared(tuple(sorted(pairs.items())))


def _pairs(inside: str) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    pos = len(inside) - len(inside.lstrip(" \t"))
    while pos < len(inside):
        found = _LABEL.match(inside, pos)
        if not found:
            raise _QuotedName if inside[pos] == '"' else ValueError(inside)
        if found[1] in seen:
            raise ValueError(inside)
        seen.add(found[1])
        yield found[1], _unescape(found[2], _ESCAPE)
        pos = found.end()


def _unescape(text: str, escapes: re.Pattern[str]) -> str:
    return escapes.sub(lambda found: "\n" if found[1] == "n" else found[1], text) if "\\" in text else text
