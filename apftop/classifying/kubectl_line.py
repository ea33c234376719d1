"""The requests that a kubectl command line sends, as far as they are the same for everybody."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import unquote, urlencode

from apftop.apf.attributes import attributes
from apftop.apf.durations import go_duration_ns
from apftop.apf.identity import impersonated_groups
from apftop.classifying.kubectl_commands import sent
from apftop.classifying.kubectl_words import taken_apart
from apftop.records.classified import Asked
from apftop.records.parsed import ParseError


def kubectl_requests(text: str, user: str, groups: tuple[str, ...], namespace: str | None = None) -> tuple[Asked, ...]:
    """The requests of a line, in the order in which they are sent, without those that find out what a server has.

    `namespace` is that of the context, None where nobody knows. `--as` in the line comes before `user`. Raises
    ParseError for a line that it cannot read, or whose requests depend on more than it says.
    """
    line = taken_apart(text)
    if not line.words:
        raise ParseError(f"no kubectl command in {text!r}")
    if line.flag("groups") and not line.value("user"):
        raise ParseError("--as-group goes with --as")
    if line.value("user"):
        user, groups = line.value("user"), impersonated_groups(line.value("user"), line.values.get("groups", ()))
    given, timeout = line.value("namespace") or namespace, _timeout(line.value("timeout"))
    asked: list[Asked] = []
    for one in sent(line, "" if line.flag("all") else given or "default"):
        query = urlencode({**one.query, **({"timeout": timeout} if timeout else {})})
        bare, _, own = one.path.partition("?")
        whole = "&".join(part for part in (own, query) if part)
        found = attributes(one.method, unquote(bare), whole, user, groups)
        notes = one.notes
        if given is None and found.namespace == "default" and not line.flag("all"):
            notes = (*notes, "no -n is given, so it is the namespace default unless the context names another")
        asked.append(Asked(f"{one.method} {bare}" + (f"?{whole}" if whole else ""), found, whole, notes))
    return tuple(_named_apart(asked))


def _timeout(text: str) -> str:
    """What --request-timeout makes of the requests: a bare number is of seconds, and 0 stands for none."""
    text = f"{text}s" if text.isdecimal() else text
    nanoseconds = go_duration_ns(text) if text else 0
    if nanoseconds is None:
        raise ParseError(f"--request-timeout is a duration such as 10s, not {text!r}")
    return text if nanoseconds else ""


def _named_apart(asked: Iterable[Asked]) -> Iterator[Asked]:
    """Each request once: a line that repeats itself asks nothing new."""
    seen = set()
    for one in asked:
        if one.name not in seen:
            seen.add(one.name)
            yield one
