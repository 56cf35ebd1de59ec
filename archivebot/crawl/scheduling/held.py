"""The leases that a crawl holds: URLs that are under way, or whose pages wait to be stored."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from statistics import median

from archivebot.frontier import HOLD

# Leases for each request that may be under way: the pages that wait to be stored lie in memory.
UNSETTLED = 2

# A better host is waited for so many times as long as the median answer takes.
HOLDS = 3.0

REMEMBERED = 50  # answers whose times are kept


class HeldLeases:
    """URLs by when their leases began, for so many ``requests`` at once; ``clock`` gives seconds.

    >>> now = iter((0.0, 4.0))
    >>> held = HeldLeases(1, lambda: next(now))
    >>> held.add("a")
    >>> held.arrived("a"), held.arrived("b"), held.hold, held.is_full
    (True, False, 12.0, False)
    """

    def __init__(self, requests: int, clock: Callable[[], float]) -> None:
        self._began: dict[str, float] = {}
        self._most = UNSETTLED * requests
        self._clock = clock
        self._waits: deque[float] = deque(maxlen=REMEMBERED)

    def __contains__(self, url: str) -> bool:
        return url in self._began

    @property
    def is_full(self) -> bool:
        """Whether no other URL may be leased until one is settled."""
        return len(self._began) >= self._most

    @property
    def hold(self) -> float:
        """Seconds that a better host is waited for."""
        return max(HOLD, HOLDS * median(self._waits)) if self._waits else HOLD

    def add(self, url: str) -> None:
        """Take note of a lease."""
        self._began[url] = self._clock()

    def arrived(self, url: str) -> bool:
        """Take note of an answer; return whether the URL is leased."""
        if url not in self._began:
            return False
        self._waits.append(self._clock() - self._began[url])
        return True

    def remove(self, url: str) -> None:
        """Take note that a URL is settled."""
        self._began.pop(url, None)
