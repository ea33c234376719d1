"""A kubectl command line taken apart."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from apftop.records.parsed import ParseError

_OF_NO_MATTER = (
    *("-o", "-c", "-s", "-v", "-p", "-L", "--output", "--container", "--context", "--kubeconfig", "--cluster"),
    *("--user", "--server", "--v", "--vmodule", "--token", "--username", "--password", "--cache-dir"),
    *("--certificate-authority", "--client-certificate", "--client-key", "--tls-server-name", "--as-uid"),
    *("--as-user-extra", "--profile", "--profile-output", "--log-flush-frequency", "--sort-by", "--tail"),
    *("--since", "--since-time", "--limit-bytes", "--max-log-requests", "--pod-running-timeout", "--patch"),
    *("--patch-file", "--type", "--replicas", "--current-replicas", "--resource-version", "--image"),
    *("--grace-period", "--timeout", "--template", "--label-columns", "--field-manager", "--overrides"),
    *("--revision", "--to-revision", "--from", "--address", "--port", "--skip-wait-for-delete-timeout"),
    *("--kuberc", "--duration", "--audience", "--bound-object-kind", "--bound-object-name", "--bound-object-uid"),
)
VALUED = {
    "-n": "namespace",
    "--namespace": "namespace",
    "-l": "selector",
    "--selector": "selector",
    "--field-selector": "fields",
    "--as": "user",
    "--as-group": "groups",
    "--raw": "raw",
    "--chunk-size": "chunk",
    "--request-timeout": "timeout",
    "--subresource": "subresource",
    "-f": "file",
    "--filename": "file",
    "-k": "file",
    "--kustomize": "file",
    "--pod-selector": "pods",
    **dict.fromkeys(_OF_NO_MATTER, ""),
}
"""Options that have a value, and what they say of requests; nothing where the name is empty."""

FLAGS = {
    "-A": "all",
    "--all-namespaces": "all",
    "-w": "watch",
    "--watch": "watch",
    "--watch-only": "watch",
    "--all": "each",
    "--list": "list",
}

UNSET = {"--wait": "no wait", "--show-events": "no events"}
"""Flags that say something where they are false."""

PLAIN = {"logs": ("-f", "-p")}
"""Options that have no value in a command."""


@dataclass(frozen=True, slots=True)
class Line:
    """A command line taken apart: words without options, and the values of options that decide about requests."""

    words: tuple[str, ...]
    values: Mapping[str, tuple[str, ...]]

    def value(self, name: str) -> str:
        return next(iter(self.values.get(name, ())), "")

    def flag(self, name: str) -> bool:
        return name in self.values


def taken_apart(text: str) -> Line:
    """The words and options of a line; raises ParseError where it cannot be read."""
    try:
        parts = shlex.split(text)
    except ValueError as error:
        raise ParseError(f"cannot read the line: {error}") from None
    if parts and parts[0].rpartition("/")[2] in ("kubectl", "kubectl.exe", "k"):
        parts = parts[1:]
    words: list[str] = []
    values: dict[str, list[str]] = {}
    left = iter(parts)
    for part in left:
        if part == "--":
            break
        if not part.startswith("-") or part == "-":
            words.append(part)
            continue
        plain = PLAIN.get(words[0], ()) if words else ()
        for name, value in _options(part, plain):
            if name in VALUED and name not in plain:
                given = value if value is not None else next(left, None)
                if given is None:
                    raise ParseError(f"{name} lacks its value")
                values.setdefault(VALUED[name], []).append(given)
            elif name == "--dry-run":
                # Its value never stands apart.
                values.setdefault("trial", []).append(value or "client")
            # Any other option is taken as one without a value: it changes no request that is told of here.
            elif its := (UNSET if value == "false" else FLAGS).get(name):
                values.setdefault(its, [])
    return Line(tuple(words), {name: tuple(its) for name, its in values.items()})


def _options(part: str, plain: tuple[str, ...]) -> Iterator[tuple[str, str | None]]:
    """The options of one word, which has several where they are single letters; None for a value that comes next."""
    if part.startswith("--"):
        name, equals, value = part.partition("=")
        yield name, value if equals else None
        return
    letters = part[1:]
    while letters:
        name, letters = f"-{letters[0]}", letters[1:]
        if letters.startswith("=") or (name in VALUED and name not in plain and letters):
            yield name, letters.removeprefix("=")
            return
        yield name, None
