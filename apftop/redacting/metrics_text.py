"""Metrics in text form with other names in their labels; every value and every line stays in its place."""

from __future__ import annotations

import re

from apftop.redacting.pseudonyms import Naming
from apftop.redacting.words import label_name, label_value

_SERIES = re.compile(r"[ \t]*([a-zA-Z_:][a-zA-Z0-9_:]*)[ \t]*")
_LABEL = re.compile(r'[ \t]*([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"[ \t]*(,|(?=\}))', re.DOTALL)
_TAIL = re.compile(r"[ \t]*[-+.0-9A-Za-z]+(?:[ \t]+[-+.0-9]+)?[ \t]*(?=\Z|#)")
_COMMENT = re.compile(r"# (?:TYPE [a-zA-Z_:][a-zA-Z0-9_:]* [a-z]+|EOF|(?=UNIT)UNIT [a-zA-Z_:][a-zA-Z0-9_:]* [a-z]*)")


def metrics_text(body: bytes, naming: Naming) -> tuple[bytes, int]:
    """The same series under other names, and how many lines were left out as they cannot be read.

    Help texts and exemplars, which may hold anything, are left out.
    """
    lines: list[str] = []
    left = 0
    for line in body.decode("utf-8", "replace").split("\n"):
        if line[:1] == "#" or not line.strip():
            found = _COMMENT.match(line)
            lines.append(found[0] if found else "#" if line.strip() else "")
            continue
        try:
            lines.append(_line(line, naming))
        except ValueError:
            lines.append("#")
            left += 1
    return "\n".join(lines).encode(), left


def _line(line: str, naming: Naming) -> str:
    series = _SERIES.match(line)
    if series is None:
        raise ValueError(line)
    family, at = series[1], series.end()
    pairs: list[str] = []
    if line[at : at + 1] == "{":
        at += 1
        while (found := _LABEL.match(line, at)) is not None:
            name, value = found[1], _unescaped(found[2])
            pairs.append(f'{label_name(name, naming)}="{_escaped(label_value(family, name, value, naming))}"')
            at = found.end()
        closed = re.compile(r"[ \t]*\}").match(line, at)
        if closed is None:
            raise ValueError(line)
        at = closed.end()
    tail = _TAIL.match(line, at)
    if tail is None:
        raise ValueError(line)
    labels = f"{{{','.join(pairs)}}}" if pairs else ""
    return f"{family}{labels} {tail[0].strip()}"


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], text, flags=re.DOTALL)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
