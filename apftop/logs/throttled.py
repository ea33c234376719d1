"""What client-go says of its own limiter, in all wordings since 1.20."""

from __future__ import annotations

import re
from collections import Counter, deque
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from apftop.logs.words import Span, clock, delay, duration, pairs
from apftop.records.logs import OTHERS, ClientLog

MOST_REQUESTS = 2000
"""So many different requests are told apart; names in paths make many."""

_REQUEST = r"request: ([A-Z]+):([^\s\"\\]*)"
_FIRST_TRY = (
    re.compile(r"Throttling request took (\S+), " + _REQUEST),  # up to 1.20
    re.compile(r"Waited for (\S+) due to client-side throttling, not priority and fairness, " + _REQUEST),  # 1.21-1.32
)
_RETRY = re.compile(r"Waited for (\S+), (retries: \d+, retry-after: .*?) - " + _REQUEST)  # 1.21-1.32
_SINCE_1_33 = "Waited before sending request"
_LIMITER = "client-side throttling, not priority and fairness"
GIVEN_UP = re.compile(r"rate: Wait\(n=\d+\) would exceed context deadline")
REFUSED = re.compile(r'due to server-side throttling, FlowSchema UID: \\*"([^"\\]*)')
_SAYS = re.compile(rb"Throttling request took|client-side throttling|Waited (?:before sending|for )")
_SURE = ("Throttling request took", "client-side throttling", _SINCE_1_33, "] Waited for ")
# client-go says a long wait twice where the log is verbose: at once, and by the logger that limits itself.
_TWICE_S = 0.05


@dataclass(frozen=True, slots=True)
class Wait:
    """One wait in seconds; `reason` is empty before the first try."""

    seconds: float
    request: str
    reason: str = ""


class Throttled:
    """The lines of client logs, counted as they come."""

    def __init__(self) -> None:
        self._lines, self._retries, self._given_up = 0, 0, 0
        self._max_s, self._sum_s = 0.0, 0.0
        self._requests: Counter[str] = Counter()
        self._longest: dict[str, float] = {}
        self._refused: Counter[str] = Counter()
        self._span = Span()
        self._recent: deque[tuple[float, Wait]] = deque(maxlen=32)

    def take(self, raw: bytes) -> bool:
        """Take in one line; False where it is about the limiter but torn."""
        if b"would exceed context deadline" in raw:
            return self._give_up(raw.decode("utf-8", "replace"))
        if not _SAYS.search(raw):
            return True
        line = raw.decode("utf-8", "replace")
        wait = wait_of(line)
        if wait is None:
            return not any(word in line for word in _SURE)
        time = clock(line)
        if time is not None:
            if any(wait == other and abs(time - at) <= _TWICE_S for at, other in self._recent):
                return True
            self._recent.append((time, wait))
        self._span.add(time)
        self._count(wait)
        return True

    def log(self) -> ClientLog:
        """All that was counted."""
        return ClientLog(
            self._lines,
            self._max_s,
            self._sum_s,
            dict(self._requests.most_common()),
            self._longest,
            self._retries,
            dict(self._refused),
            self._given_up,
            self._span.seconds(),
        )

    def _give_up(self, line: str) -> bool:
        if GIVEN_UP.search(line):
            self._given_up += 1
            self._span.add(clock(line))
        return True

    def _count(self, wait: Wait) -> None:
        if wait.reason:
            self._retries += 1
            refused = REFUSED.search(wait.reason)
            if refused:
                self._refused[refused[1]] += 1
            return
        self._lines += 1
        self._sum_s += wait.seconds
        self._max_s = max(self._max_s, wait.seconds)
        known = wait.request in self._requests or len(self._requests) < MOST_REQUESTS
        request = wait.request if known else OTHERS
        self._requests[request] += 1
        self._longest[request] = max(self._longest.get(request, 0.0), wait.seconds)


def wait_of(line: str) -> Wait | None:
    """One wait; None for a line that is torn, or about something else."""
    if _SINCE_1_33 in line:
        return _structured(line)
    for pattern in _FIRST_TRY:
        if found := pattern.search(line):
            return _made(duration(found[1]), found[2], found[3])
    if found := _RETRY.search(line):
        return _made(duration(found[1]), found[3], found[4], found[2])
    return None


def _structured(line: str) -> Wait | None:
    said = pairs(line)
    if "delay" not in said:
        # A logger around klog has the whole line as quoted text.
        said = pairs(line.replace('\\"', '"'))
    if not {"delay", "reason", "verb"} <= said.keys():
        return None
    reason = "" if said["reason"] == _LIMITER else said["reason"]
    # slog writes a URL as an object.
    return _made(delay(said["delay"]), said["verb"], said.get("Path") or said.get("URL", ""), reason)


def _made(seconds: float | None, verb: str, url: str, reason: str = "") -> Wait | None:
    if seconds is None:
        return None
    try:
        path = urlsplit(url).path
    except ValueError:
        path = ""
    return Wait(seconds, f"{verb} {unquote(path)}".strip(), reason)
