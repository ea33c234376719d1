"""Lines in which an API server says that it may not list the APF objects, so that it runs the mandatory levels only."""

from __future__ import annotations

import re
from collections import Counter

from apftop.records.logs import Denied

GROUP = b"flowcontrol.apiserver.k8s.io"
MOST = 1000
"""So many users are told apart."""

DENIED = re.compile(
    r'User \\*"([^"\\]+)\\*" cannot (?:list|watch) resource \\*"(flowschemas|prioritylevelconfigurations)\\*" '
    r'in API group \\*"flowcontrol\.apiserver\.k8s\.io\\*"'
)


class Denials:
    """The denials of all logs, counted as they come."""

    def __init__(self) -> None:
        self._lines: Counter[tuple[str, str, str]] = Counter()

    def take(self, line: str, server: str) -> bool:
        """Take in one line that names the API group; False where it is torn. `server` is whose log it is, if known."""
        found = DENIED.search(line)
        if found is None:
            return "cannot list resource" not in line
        key = (found[1], found[2], server)
        if key in self._lines or len(self._lines) < MOST:
            self._lines[key] += 1
        return True

    def denied(self) -> tuple[Denied, ...]:
        """Who was denied what, by server."""
        ordered = sorted(self._lines.items(), key=lambda item: (item[0][2], item[0]))
        return tuple(Denied(user, resource, lines, server) for (user, resource, server), lines in ordered)
