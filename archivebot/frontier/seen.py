"""A cache of URLs that the frontier is known to hold, so that not every link needs a request."""

from __future__ import annotations

from collections import OrderedDict

from archivebot.frontier.base import key_of

# Broder, Najork, Wiener (2003), "Efficient URL caching for World Wide Web crawling": about 80 % of the
# links of a crawl of 33 days were hits of a cache of this size; much larger ones gained little.
CAPACITY = 50_000


class SeenCache:
    """Remembers the URLs seen last; the least recently seen are evicted first.

    It stores the same 16-byte keys as the frontier: with 8 bytes two URLs of a large crawl might have the
    same key, and a page would be lost.

    >>> cache = SeenCache(2)
    >>> [cache.add(url) for url in ("a", "b", "a", "c", "b")]
    [True, True, False, True, True]
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.capacity = capacity
        self._keys: OrderedDict[bytes, int] = OrderedDict()  # the smallest depth of each

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, url: str) -> bool:
        """Return whether a URL is in the cache; a URL not in the cache may still have been seen."""
        return key_of(url) in self._keys

    def add(self, url: str, depth: int = 0) -> bool:
        """Remember a URL; True if the frontier must be asked, False if it certainly holds the URL.

        A URL at a smaller ``depth`` than before is asked for again: it may be queued at the larger one, or
        have been too deep.
        """
        key = key_of(url)
        known = self._keys.get(key)
        if known is not None:
            self._keys.move_to_end(key)
            if known <= depth:
                return False
        self._keys[key] = depth
        if len(self._keys) > self.capacity:
            self._keys.popitem(last=False)
        return True

    def discard(self, url: str) -> None:
        """Forget a URL."""
        self._keys.pop(key_of(url), None)

    def clear(self) -> None:
        """Forget all URLs; needed when the frontier forgets some."""
        self._keys.clear()
