"""The leases that a crawl holds: URLs that are under way, or whose pages wait to be stored."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from statistics import median

from archivebot.frontier import HOLD

# Maximum of leases for each concurrent request: the pages that wait to be stored are in memory.
UNSETTLED = 2

# A crawl that learns has at most this many pages under way that are not judged, or this share of the pages
# judged so far: with more it chooses the next pages before it has learnt from the last ones. Share of pages
# on topic in crawls by twelve words of a web of 60 real sites, a mean of four topics, simulated with 32
# requests: 0.936 after R/2 pages and 0.778 after R, as many as the topic has; 0.773 and 0.657 without the
# limit, 0.903 and 0.753 with at least 8. Area of WebKB by five words: 0.824, and 0.798 without.
FEWEST = 4
SHARE = 0.01

# A better host is waited for this many times the median response time.
HOLDS = 3.0

REMEMBERED = 50  # number of response times that are kept


class HeldLeases:
    """The leased URLs and when their leases began, for ``requests`` at once; ``clock`` returns seconds.

    ``learns`` limits the leases whose pages are not judged, see :data:`SHARE`.

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
        self.learns = False
        self._open: set[str] = set()  # leases whose pages are not judged
        self._judged = 0

    def __contains__(self, url: str) -> bool:
        return url in self._began

    @property
    def is_full(self) -> bool:
        """Whether no other URL may be leased until one is judged or settled."""
        return len(self._began) >= self._most or (self.learns and self._is_ahead())

    @property
    def hold(self) -> float:
        """The maximum seconds to wait for a better host."""
        return max(HOLD, HOLDS * median(self._waits)) if self._waits else HOLD

    def add(self, url: str, judged: bool = False) -> None:
        """Note a new lease; ``judged`` is whether no judgement of its page is awaited."""
        self._began[url] = self._clock()
        if not judged:
            self._open.add(url)

    def arrived(self, url: str) -> bool:
        """Note an answer; return whether the URL is leased."""
        if url not in self._began:
            return False
        self._waits.append(self._clock() - self._began[url])
        return True

    def judged(self, url: str) -> bool:
        """Note that the page of a URL is judged, or missing; return whether that makes room."""
        was_full = self.is_full
        if url in self._open:
            self._open.remove(url)
            self._judged += 1
        return was_full and not self.is_full

    def _is_ahead(self) -> bool:
        """Return whether enough pages are awaited; a host silent for more than ``hold`` may never answer."""
        since = self._clock() - self.hold
        awaited = sum(self._began[url] >= since for url in self._open)
        return awaited >= max(FEWEST, SHARE * self._judged)

    def remove(self, url: str) -> None:
        """Note that a URL is settled."""
        self.judged(url)
        self._began.pop(url, None)
