"""When a request that had no effect is made again."""

from typing import Any

PAUSES = (1, 2, 4, 8)
"""Looks between two requests; the last one stays."""


class Repetition:
    """Counts looks, which follow each other at equal times, and says at which of them to ask."""

    def __init__(self):
        """Begin without a request."""
        self.forget()

    def forget(self) -> None:
        """Ask at the next look."""
        self._asked: Any = None
        self._times = self._wait = 0

    def due(self, request) -> bool:
        """Return whether ``request`` is to be made at this look; another one than before is made at once."""
        if self._asked is None or request != self._asked:
            self._asked, self._times, self._wait = request, 0, 0
        if self._wait > 0:
            self._wait -= 1
        if self._wait:
            return False
        self._wait = PAUSES[min(self._times, len(PAUSES) - 1)]
        self._times += 1
        return True
