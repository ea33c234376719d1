"""What a level tells those that it refuses: how many seconds to stay away (1.28 to 1.37)."""

from __future__ import annotations

MOST_SECONDS = 32


class RetryAfter:
    """Doubles while refusals are many, and falls by one while they are few; it moves only with a refusal."""

    def __init__(self) -> None:
        self.seconds = 1
        self._raised = 0
        self._second = 0
        self._count = 0
        self._history: list[tuple[int, int]] = []

    def refuse(self, second: int) -> int:
        """Count one refusal in this Unix second: the seconds to tell."""
        if second == self._second:
            self._count += 1
            return self.seconds
        oldest = self._second - min(2 * self.seconds, MOST_SECONDS)
        self._history = [one for one in (*self._history, (self._second, self._count)) if one[0] >= oldest]
        self._second, self._count = second, 1
        lately = sum(count for at, count in self._history if second - self.seconds <= at < second)
        if second - self._raised >= self.seconds and lately >= 3 * self.seconds:
            self.seconds = min(2 * self.seconds, MOST_SECONDS)
            self._raised = second
        elif lately < self.seconds and self.seconds > 1:
            self.seconds -= 1
        return self.seconds
