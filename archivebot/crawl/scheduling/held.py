"""The leases that a crawl holds: URLs that are under way, or whose pages wait to be stored."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from statistics import median

from archivebot.frontier import HOLD

# Maximum of leases for each concurrent request: the pages that wait to be stored are in memory.
UNSETTLED = 2

# A better host is waited for this many times the median response time.
HOLDS = 3.0

REMEMBERED = 50  # number of response times that are kept


class HeldLeases:
    """The leased URLs and when their leases began, for ``requests`` at once; ``clock`` returns seconds.

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
        """Whether no further URL may be leased until one is settled."""
        return len(self._began) >= self._most

    @property
    def hold(self) -> float:
        """The maximum seconds to wait for a better host."""
        return max(HOLD, HOLDS * median(self._waits)) if self._waits else HOLD

    def add(self, url: str) -> None:
        """Note a new lease."""
        self._began[url] = self._clock()

    def arrived(self, url: str) -> bool:
        """Note an answer; return whether the URL is leased."""
        if url not in self._began:
            return False
        self._waits.append(self._clock() - self._began[url])
        return True

    def remove(self, url: str) -> None:
        """Note that a URL is settled."""
        self._began.pop(url, None)
