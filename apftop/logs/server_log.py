"""Logs of API servers: audit events, the access log, and what an extension server may not list, as they come."""

from __future__ import annotations

from apftop.logs import access, audit
from apftop.logs.callers import Callers
from apftop.logs.denials import GROUP, Denials
from apftop.logs.words import clock


class ServerLogs:
    """All that logs of servers tell, counted line by line."""

    def __init__(self) -> None:
        self.audited, self.accessed, self.denials = Callers(), Callers(), Denials()
        self._once = audit.Once()

    def take(self, raw: bytes, server: str = "") -> bool:
        """Take in a line of any server's log; False where it is torn. What is about other things is left out."""
        if b'"auditID"' in raw:
            return self._audit(raw)
        if access.is_access(raw):
            found = access.entry(raw.decode("utf-8", "replace"))
            if found is not None:
                self.accessed.add(found)
            return found is not None
        return GROUP not in raw or self.denials.take(raw.decode("utf-8", "replace"), server)

    def take_strictly(self, raw: bytes) -> bool:
        """Take in a line of what is called an audit log: what is neither an event nor any log line is torn."""
        known = b'"auditID"' in raw or clock(raw[:100].decode("utf-8", "replace")) is not None
        return known and self.take(raw)

    def end(self) -> None:
        """Count what has not ended within the logs."""
        for event in self._once.rest():
            self._count(event)

    def _audit(self, raw: bytes) -> bool:
        try:
            # A container's runtime puts its own words before the event.
            found = audit.events(raw[max(0, raw.find(b"{")) :])
        except ValueError:
            return False
        for one in found:
            for event in self._once.take(one):
                self._count(event)
        return True

    def _count(self, event: audit.Event) -> None:
        entry = audit.entry(event)
        if entry is not None:
            self.audited.add(entry)
